// Package laws states what holds for every input of a reader of traces, valid or not, so that its own tests, its fuzz
// targets and the campaign of package mutate check the same. It knows no reader.
package laws

import (
	"errors"
	"fmt"
	"io"
	"runtime/metrics"
	"slices"

	"github.com/ntconv/ntconv"
)

// A Reading is one of the ways in which a trace is read.
type Reading struct {
	ByTime, Strict bool
}

// An Opener begins to read an input in one way. What happens is counted in report.
type Opener func(data []byte, how Reading, report *ntconv.Report) (ntconv.Source, error)

// A Checker reads inputs in all ways. It is not safe for concurrent use.
type Checker struct {
	open   Opener
	view   *View
	file   []uint64 // events of the last lenient reading in file order
	allocs Allocs

	End     error // of the last input, lenient in file order
	Valid   bool  // the last input was read to its end, or to where it was truncated
	Valids  int
	Worst   uint64  // bytes allocated beyond 8 times the input, at most
	Ratio   float64 // bytes allocated for each byte of inputs above 32 KiB, at most
	Decoded bool    // payloads are decoded in time order
}

// New returns a Checker for a reader.
func New(open Opener) *Checker {
	return &Checker{open: open, view: NewView(), allocs: NewAllocs(), Decoded: true}
}

// Allocs counts what the process allocates.
type Allocs struct {
	sample []metrics.Sample
	before uint64
}

// NewAllocs returns a counter at 0.
func NewAllocs() Allocs {
	a := Allocs{sample: []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}}
	a.Reset()
	return a
}

// Reset sets the counter to 0.
func (a *Allocs) Reset() { a.before += a.Bytes() }

// Bytes returns how many bytes all goroutines have allocated since Reset.
func (a *Allocs) Bytes() uint64 {
	metrics.Read(a.sample)
	return a.sample[0].Value.Uint64() - a.before
}

// Check reads an input in file and in time order, lenient and strict. It returns an error if a reader panics, does not
// end, allocates more than 64 MiB and eight times the input, fails with an error that does not say where and why,
// changes something that it gave away for good, or if
//
//   - strict gives other events than lenient does, or more;
//   - lenient in time order gives other events than in file order.
func (c *Checker) Check(data []byte) error {
	c.Valid = false
	var sums [2]uint64
	for i, how := range []Reading{{}, {Strict: true}, {ByTime: true}, {ByTime: true, Strict: true}} {
		r := ntconv.Report{}
		c.allocs.Reset()
		err := c.read(data, how, &r)
		took := c.allocs.Bytes()
		switch {
		case took > 64<<20+8*uint64(len(data)):
			return fmt.Errorf("%+v: %d bytes allocated for an input of %d", how, took, len(data))
		case err != nil && !rightly(err, data):
			return fmt.Errorf("%+v: %w", how, err)
		}
		c.note(took, len(data))
		switch i {
		case 0:
			c.file = append(c.file[:0], c.view.events...)
			c.End = err
			c.Valid = err == nil || errors.Is(err, ntconv.ErrTruncated)
			sums[0] = c.view.sum
		case 1:
			got := c.view.events
			if len(got) > len(c.file) || !slices.Equal(got, c.file[:len(got)]) {
				return fmt.Errorf("strict gives %d events that are not the first of the %d that lenient gives",
					len(got), len(c.file))
			}
			if err == nil && (!c.Valid || len(got) != len(c.file)) {
				return fmt.Errorf("strict reads %d events to the end, lenient %d", len(got), len(c.file))
			}
		case 2:
			if sums[1] = c.view.sum; c.Valid && sums[0] != sums[1] && r.Count(ntconv.CodeWindowCap) == 0 {
				return fmt.Errorf("%d events in file order, others, %d, in time order", len(c.file), len(c.view.events))
			}
		}
	}
	if c.Valid {
		c.Valids++
	}
	return nil
}

// Events returns how many events the last input has for a lenient reader in file order.
func (c *Checker) Events() int { return len(c.file) }

func (c *Checker) note(took uint64, size int) {
	if took > 8*uint64(size) {
		c.Worst = max(c.Worst, took-8*uint64(size))
	}
	if size > 32<<10 {
		c.Ratio = max(c.Ratio, float64(took)/float64(size))
	}
}

// errBroken marks what no reader may do.
var errBroken = errors.New("broken law")

// read reads an input to its end and looks at everything.
func (c *Checker) read(data []byte, how Reading, report *ntconv.Report) error {
	v := c.view
	v.Reset(c.Decoded && how.ByTime && !how.Strict)
	r, err := c.open(data, how, report)
	if err != nil {
		return err
	}
	last := int64(-1)
	for range 4*len(data) + 100 {
		var e *ntconv.Event
		if e, err = r.Next(); err != nil {
			break
		}
		if e.Offset < 0 || e.Offset+int64(len(e.Payload)) > int64(len(data)) {
			return fmt.Errorf("%w: event at %d with a payload of %d bytes in an input of %d",
				errBroken, e.Offset, len(e.Payload), len(data))
		}
		if e.Kind == ntconv.KindEvent && !how.ByTime {
			if e.Offset <= last {
				return fmt.Errorf("%w: event at %d after the one at %d", errBroken, e.Offset, last)
			}
			last = e.Offset
		}
		v.See(e)
	}
	switch {
	case err == nil:
		return fmt.Errorf("%w: more than %d events from %d bytes", errBroken, 4*len(data), len(data))
	case v.Changed():
		return fmt.Errorf("%w: a type, thread, stack or label list changed after it was delivered", errBroken)
	case err == io.EOF:
		return nil
	}
	if _, again := r.Next(); again != err {
		return fmt.Errorf("%w: %v is followed by %v", errBroken, err, again)
	}
	return err
}

// Sentinel returns the sentinel of the root package that an error of an input wraps, or nil.
func Sentinel(err error) error {
	for _, s := range []error{ntconv.ErrLimit, ntconv.ErrTruncated, ntconv.ErrUnsupported, ntconv.ErrFormat, ntconv.ErrCorrupt} {
		if errors.Is(err, s) {
			return s
		}
	}
	return nil
}

// rightly reports whether an error says where in the input something is wrong, and wraps a sentinel.
func rightly(err error, data []byte) bool {
	if errors.Is(err, errBroken) {
		return false
	}
	var f *ntconv.FormatError
	return Sentinel(err) != nil && errors.As(err, &f) && f.Offset >= 0 && f.Offset <= int64(len(data)) && f.Format != ""
}
