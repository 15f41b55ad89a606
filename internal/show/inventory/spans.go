package inventory

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

const (
	// maxOpen limits the spans that are open before the first one ends.
	maxOpen = 10_000
	// maxHeld limits the memory of the events that wait to be sorted, in bytes.
	maxHeld = 8 << 20
	// eventSize is about the memory of an event without its payload, in bytes.
	eventSize = 200
)

// A spanFinder determines whether a trace has a span that has ended. The events that begin and end spans are matched in
// time order, but a Sink may receive events in file order. The finder therefore holds copies of these events up to the
// next sequence point, which no earlier event follows, and sorts them. If they exceed maxHeld, it sorts those that it
// holds.
type spanFinder struct {
	tracker *tracker.Tracker // nil once the answer is known
	held    []*ntconv.Event
	bytes   int // memory of held
	found   bool
}

func newSpanFinder(info *ntconv.Info) *spanFinder {
	f := new(spanFinder)
	f.tracker = tracker.New(info, func(*span.Span) { f.found = true }, &tracker.Options{MaxEvents: 1, MaxOpen: maxOpen})
	return f
}

// add borrows an event that may begin or end a span.
func (f *spanFinder) add(e *ntconv.Event) {
	c := e.Clone()
	c.Stack = nil // it would retain its block
	if n := len(f.held); n > 0 && e.Flags&ntconv.FlagLate != 0 {
		c.Time = f.held[n-1].Time // a late event keeps its position in a trace written in time order
	}
	f.held = append(f.held, c)
	if f.bytes += eventSize + len(c.Payload); f.bytes > maxHeld {
		f.flush()
	}
}

// flush sorts the held events by time and shows them to the tracker until a span has ended. The order matters, because
// a Stop event ends a span only if a Start event precedes it.
func (f *spanFinder) flush() {
	slices.SortStableFunc(f.held, func(a, b *ntconv.Event) int { return cmp.Compare(a.Time, b.Time) })
	for _, e := range f.held {
		if f.tracker == nil {
			break
		}
		if f.tracker.Add(e); f.found {
			f.tracker = nil
		}
	}
	clear(f.held)
	f.held, f.bytes = f.held[:0], 0
}

// finish ends the search: found is final.
func (f *spanFinder) finish() {
	if f.flush(); f.tracker != nil {
		f.tracker.Finish()
		f.tracker = nil
	}
}
