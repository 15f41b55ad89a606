// Package laws checks properties that hold for every input of a trace reader, valid or not. The reader's own tests, its
// fuzz targets and the campaign of package mutate share it. It does not depend on a reader.
package laws

import (
	"errors"
	"fmt"
	"io"
	"runtime/metrics"
	"slices"

	"github.com/ntconv/ntconv"
)

// A Reading is one of the modes in which a trace is read.
type Reading struct {
	ByTime, Strict bool
}

// An Opener opens an input in a mode and counts conditions in report.
type Opener func(data []byte, how Reading, report *ntconv.Report) (ntconv.Source, error)

// A Checker reads inputs in all modes. It is not safe for concurrent use.
type Checker struct {
	open   Opener
	view   *View
	file   []uint64 // hashes of the events of the last lenient reading in file order
	allocs Allocs

	End     error // error of the last input, lenient in file order
	Valid   bool  // the last input was read to its end, or to the point of truncation
	Valids  int
	Worst   uint64  // maximum number of bytes allocated in addition to 8 times the input
	Ratio   float64 // maximum number of allocated bytes per byte of input, for inputs larger than 32 KiB
	Decoded bool    // payloads are decoded in time order
}

// New returns a Checker for a reader.
func New(open Opener) *Checker {
	return &Checker{open: open, view: NewView(), allocs: NewAllocs(), Decoded: true}
}

// An Allocs counts bytes that the process allocates.
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

// Bytes returns the number of bytes that all goroutines have allocated since Reset.
func (a *Allocs) Bytes() uint64 {
	metrics.Read(a.sample)
	return a.sample[0].Value.Uint64() - a.before
}

// Check reads an input in file order and in time order, lenient and strict. It returns an error if a reader panics,
// does not terminate, allocates more than 64 MiB plus eight times the input, fails with an error without a position or
// a sentinel, changes a definition after delivering it, or if
//
//   - the events of strict are not the first events of lenient;
//   - lenient yields other events in time order than in file order.
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
				return fmt.Errorf("strict yields %d events, want the first of the %d that lenient yields", len(got), len(c.file))
			}
			if err == nil && (!c.Valid || len(got) != len(c.file)) {
				return fmt.Errorf("strict reads %d events to the end, lenient %d", len(got), len(c.file))
			}
		case 2:
			if sums[1] = c.view.sum; c.Valid && sums[0] != sums[1] && r.Count(ntconv.CodeWindowCap) == 0 {
				return fmt.Errorf("want the %d events of file order, got %d others in time order", len(c.file), len(c.view.events))
			}
		}
	}
	if c.Valid {
		c.Valids++
	}
	return nil
}

// Events returns the number of events that a lenient reader in file order has yielded for the last input.
func (c *Checker) Events() int { return len(c.file) }

func (c *Checker) note(took uint64, size int) {
	if took > 8*uint64(size) {
		c.Worst = max(c.Worst, took-8*uint64(size))
	}
	if size > 32<<10 {
		c.Ratio = max(c.Ratio, float64(took)/float64(size))
	}
}

// errBroken means that a reader violated its contract.
var errBroken = errors.New("broken law")

// read reads an input to its end and examines all events.
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

// Sentinel returns the sentinel of the root package that err wraps, or nil.
func Sentinel(err error) error {
	for _, s := range []error{ntconv.ErrLimit, ntconv.ErrTruncated, ntconv.ErrUnsupported, ntconv.ErrFormat, ntconv.ErrCorrupt} {
		if errors.Is(err, s) {
			return s
		}
	}
	return nil
}

// rightly reports whether an error contains a position in the input and wraps a sentinel.
func rightly(err error, data []byte) bool {
	if errors.Is(err, errBroken) {
		return false
	}
	var f *ntconv.FormatError
	return Sentinel(err) != nil && errors.As(err, &f) && f.Offset >= 0 && f.Offset <= int64(len(data)) && f.Format != ""
}
