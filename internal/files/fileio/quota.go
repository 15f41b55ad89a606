package fileio

import (
	"math"
	"sync/atomic"

	"github.com/ntconv/ntconv"
)

// LimitWritten is the value of ntconv.LimitError.Limit for a Quota. Its unit is bytes.
const LimitWritten = "output"

// Defaults of a Quota. Text of events with symbolized stacks has at most 56 bytes per byte of a real trace, so
// QuotaRatio leaves room for deeper stacks and smaller events. Outputs below QuotaFloor are harmless.
const (
	// QuotaRatio is the maximum number of bytes written per decompressed byte of the input.
	QuotaRatio = 1000
	// QuotaFloor is the number of bytes that may be written regardless of the size of the input.
	QuotaFloor = 256 << 20
)

// A Quota bounds the bytes that a run writes or sends, before compression: an input of a few kilobytes can expand to
// gigabytes of text, for example if many small events refer to one deep stack. The zero value allows QuotaRatio bytes
// per decompressed byte of input read so far, and at least QuotaFloor. A nil Quota allows everything. It is safe for
// concurrent use, except SetMax.
type Quota struct {
	fixed    bool
	max      int64
	in, out  atomic.Int64
	exceeded atomic.Pointer[ntconv.LimitError]
}

// SetMax sets the quota to a number of bytes that does not depend on the input. 0 means no limit. Call it before all
// other methods.
func (q *Quota) SetMax(bytes int64) { q.fixed, q.max = true, bytes }

// Max returns the value of SetMax, and false if SetMax was not called.
func (q *Quota) Max() (bytes int64, fixed bool) { return q.max, q.fixed }

// Read adds n decompressed bytes of input. Do not add bytes that are read a second time.
func (q *Quota) Read(n int64) {
	if q != nil {
		q.in.Add(n)
	}
}

// Spend adds n bytes that are about to be written. If they exceed the quota, it returns an *ntconv.LimitError; every
// later call returns the same error.
func (q *Quota) Spend(n int) error {
	if q == nil || q.fixed && q.max == 0 {
		return nil
	}
	if err := q.exceeded.Load(); err != nil {
		return err
	}
	out := q.out.Add(int64(n))
	allowed := q.allowed()
	if out <= allowed {
		return nil
	}
	q.exceeded.CompareAndSwap(nil, &ntconv.LimitError{Limit: LimitWritten, Value: allowed, Asked: out, Unit: "bytes"})
	return q.exceeded.Load()
}

func (q *Quota) allowed() int64 {
	if q.fixed {
		return q.max
	}
	return max(QuotaFloor, min(q.in.Load(), math.MaxInt64/QuotaRatio)*QuotaRatio)
}
