package tracecmp

import (
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
)

// Events compares two events and everything that they refer to. It returns nil if they are equal, and a *Difference
// otherwise. It compares the values of pointers, not the pointers.
func Events(a, b *ntconv.Event) error {
	c := newComparer(&Options{})
	if d := c.events(a, b); d != nil {
		return c.place(d, a, b)
	}
	return nil
}

// Streams reads two sources up to their ends or to the first difference. It returns the number of equal KindEvent
// events or, with Options.Profiles, of equal distinct samples. The error is nil, a *Difference, or the error of a
// source, wrapped. opts may be nil, which means the zero Options.
func Streams(a, b ntconv.Source, opts *Options) (equal int64, err error) {
	if opts == nil {
		opts = &Options{}
	}
	c := newComparer(opts)
	c.machine = [2]uint8{pointerSize(a.Info()), pointerSize(b.Info())}
	d := c.infos(a.Info(), b.Info()).in("trace")
	if opts.Profiles {
		if equal, err = c.profiles(a, b); err == nil && d != nil { // two recordings always start at different times
			return equal, d
		}
		return equal, err
	}
	if d != nil {
		return 0, d
	}
	for {
		x, errA := c.next(a, 0)
		y, errB := c.next(b, 1)
		switch {
		case errA != nil && errA != io.EOF:
			return equal, fmt.Errorf("first trace, after event %d: %w", c.n[0], errA)
		case errB != nil && errB != io.EOF:
			return equal, fmt.Errorf("second trace, after event %d: %w", c.n[1], errB)
		case errA != errB:
			return equal, c.place(differf("only one of the traces ends here"), x, y)
		case errA == io.EOF:
			if d := c.definitions(); d != nil {
				return equal, d
			}
			return equal, nil
		}
		if d := c.events(x, y); d != nil {
			return equal, c.place(d, x, y)
		}
		if x.Kind == ntconv.KindEvent {
			equal++
		}
	}
}

// place sets the positions of both streams in d.
func (c *comparer) place(d *Difference, a, b *ntconv.Event) *Difference {
	for i, e := range []*ntconv.Event{a, b} {
		d.At[i] = Place{Event: c.n[i], Offset: -1, Item: describe(e)}
		if e != nil {
			d.At[i].Offset = e.Offset
		}
	}
	return d
}

// next returns the next event that the options do not ignore.
func (c *comparer) next(src ntconv.Source, side int) (*ntconv.Event, error) {
	for {
		e, err := src.Next()
		if err != nil && c.opts.Errors {
			err = io.EOF
		}
		switch {
		case err != nil:
			return nil, err
		case e.Kind == ntconv.KindEvent:
			c.n[side]++
			return e, nil
		case e.Kind == ntconv.KindDefine:
			c.define(e, side)
		case e.Kind == ntconv.KindLost && c.opts.Lost:
			c.lose(e, side)
		case e.Kind == ntconv.KindMark && (c.opts.Marks || c.opts.EmptyMarks && emptyMark(e.Mark)):
		default:
			if e.Kind == ntconv.KindLost {
				c.lose(e, side)
			}
			return e, nil
		}
	}
}

func emptyMark(m *ntconv.Mark) bool {
	return m != nil && m.Kind == ntconv.MarkSequencePoint && m.Flags == 0 && len(m.Threads) == 0
}

func pointerSize(info *ntconv.Info) uint8 {
	if info.PointerSize == 4 {
		return 4
	}
	return 8
}
