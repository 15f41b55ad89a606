package spool

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv"
)

// SortOptions configures a Source. A nil pointer or the zero value means no limits and no report.
type SortOptions struct {
	// Events and Bytes bound a window: the number of its events, and the total size of their payloads in bytes. 0 means
	// no limit. A window that exceeds a limit is delivered in parts, each in time order; Report counts them
	// (CodeWindowCap).
	Events, Bytes int
	Report        *ntconv.Report
}

// A Source yields the events of another source in time order. A window consists of the events between two sequence
// points; no event after a sequence point is earlier than one before it. The Source holds and sorts one window. Events
// with equal times keep their order. An event with FlagLate keeps its position, because it was already late when the
// trace was written in time order. A Source hides all optional methods of the other source. It is not safe for
// concurrent use.
//
// fill replaces events, payload and order, and sets either end and last or err; Next consumes order, then end, then
// err.
type SortedSource struct {
	source  ntconv.Source
	opts    SortOptions
	events  []heldEvent
	payload []byte       // payloads of all held events
	order   []int32      // indices of the events still to be delivered, sorted by key
	end     bool         // last follows the events in order
	last    ntconv.Event // the sequence point
	latest  ntconv.Ticks // latest time of all events so far
	event   ntconv.Event // lent to the caller
	err     error
}

// A heldEvent is an event with the range of its payload in Source.payload instead of the payload, because that buffer
// moves while it grows.
type heldEvent struct {
	ntconv.Event
	key      ntconv.Ticks // sort key: the time, or for a late event the latest time before it
	from, to int
}

// NewSorted returns a Source of the events of src, which it takes over: do not call src.Next again. It copies o.
func NewSorted(src ntconv.Source, o *SortOptions) *SortedSource {
	s := &SortedSource{source: src}
	if o != nil {
		s.opts = *o
	}
	return s
}

// Info returns the Info of the other source.
func (s *SortedSource) Info() *ntconv.Info { return s.source.Info() }

// Next returns the next event, borrowed until the next call of Next. It returns an error of the other source after all
// events that precede it, and then again on each call.
func (s *SortedSource) Next() (*ntconv.Event, error) {
	for len(s.order) == 0 {
		switch {
		case s.end:
			s.end = false
			s.event = s.last
			return &s.event, nil
		case s.err != nil:
			return nil, s.err
		}
		s.fill()
	}
	h := &s.events[s.order[0]]
	s.order = s.order[1:]
	s.event = h.Event
	s.event.Payload = s.payload[h.from:h.to:h.to]
	return &s.event, nil
}

// fill reads and sorts the events up to the next sequence point, a limit or an error.
func (s *SortedSource) fill() {
	s.events, s.payload = s.events[:0], s.payload[:0]
	order := s.order[:0]
	for {
		e, err := s.source.Next()
		if err != nil {
			s.err = err
			break
		}
		if e.Kind == ntconv.KindMark {
			s.end, s.last = true, *e
			break
		}
		h := heldEvent{Event: *e, key: e.Time, from: len(s.payload)}
		if e.Flags&ntconv.FlagLate != 0 {
			h.key = max(e.Time, s.latest)
		}
		s.latest = max(s.latest, e.Time)
		h.Payload = nil
		s.payload = append(s.payload, e.Payload...)
		h.to = len(s.payload)
		order = append(order, int32(len(s.events)))
		s.events = append(s.events, h)
		if s.isFull() {
			s.opts.Report.Add(ntconv.CodeWindowCap, 1, -1)
			break
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(s.events[a].key, s.events[b].key) })
	s.order = order
}

// isFull reports whether the held events have reached a limit.
func (s *SortedSource) isFull() bool {
	return s.opts.Events > 0 && len(s.events) >= s.opts.Events || s.opts.Bytes > 0 && len(s.payload) >= s.opts.Bytes
}
