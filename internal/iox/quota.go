package iox

import (
	"math"
	"sync/atomic"

	"github.com/ntconv/ntconv"
)

// LimitWritten is the ntconv.LimitError.Limit of a Quota. Its values are bytes.
const LimitWritten = "output"

// Defaults of a Quota. Lines of events with named stacks have at most 56 bytes for each byte of a real trace, so
// QuotaRatio leaves room for deeper stacks and smaller events; below QuotaFloor no output harms.
const (
	// QuotaRatio is how many bytes may be written for each decompressed byte of the input.
	QuotaRatio = 1000
	// QuotaFloor is how many bytes may be written however small the input is.
	QuotaFloor = 256 << 20
)

// A Quota bounds the bytes that a run writes or sends, before they are compressed: an input of some kilobytes can
// describe lines of gigabytes, such as a deep stack that each of many small events refers to. The zero value allows
// QuotaRatio bytes for each decompressed byte of the input that was read so far, and QuotaFloor in any case. A nil
// Quota allows everything. It is safe for concurrent use, except SetMax.
type Quota struct {
	fixed    bool
	max      int64
	in, out  atomic.Int64
	exceeded atomic.Pointer[ntconv.LimitError]
}

// SetMax makes the quota a number of bytes that does not depend on the input. 0 means no limit. Call it before all
// other methods.
func (q *Quota) SetMax(bytes int64) { q.fixed, q.max = true, bytes }

// Max returns the number that SetMax has set, and false if it was not called.
func (q *Quota) Max() (bytes int64, fixed bool) { return q.max, q.fixed }

// Read adds n decompressed bytes of input. What is read a second time must not be added again.
func (q *Quota) Read(n int64) {
	if q != nil {
		q.in.Add(n)
	}
}

// Spend adds n bytes that are about to be written. If they exceed the quota, it returns an *ntconv.LimitError, and
// every later call returns the same one.
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
