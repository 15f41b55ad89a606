// Package timesort sorts the events of a source by time, in memory, window by window.
package timesort

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv"
)

// Options may be nil.
type Options struct {
	// Events and Bytes bound a window: the number of its events, and the bytes of their payloads. 0 means no limit. A
	// window that exceeds one is delivered in parts, which Report counts (CodeWindowCap).
	Events, Bytes int
	Report        *ntconv.Report
}

// A Source yields the events of another source in time order. No event after a sequence point is earlier than one
// before it, so it holds and sorts the events between two of them; those with equal times stay in their order. An event
// with FlagLate was late when the trace was written in time order, so it stays where it is. A Source has no methods of
// the other source but Info.
type Source struct {
	source  ntconv.Source
	opts    Options
	events  []heldEvent
	payload []byte  // of all held events
	order   []int32 // of events that are still to be delivered
	end     bool    // last is the event after them
	last    ntconv.Event
	latest  ntconv.Ticks // of all events so far
	event   ntconv.Event
	err     error
}

// A heldEvent has the range of its payload in place of the payload.
type heldEvent struct {
	ntconv.Event
	key      ntconv.Ticks // by which it is sorted
	from, to int
}

// New returns a Source of the events of src.
func New(src ntconv.Source, o *Options) *Source {
	s := &Source{source: src}
	if o != nil {
		s.opts = *o
	}
	return s
}

// Info returns that of the other source.
func (s *Source) Info() *ntconv.Info { return s.source.Info() }

// Next returns the next event, which is borrowed until the next call of Next. An error of the other source follows the
// events before it.
func (s *Source) Next() (*ntconv.Event, error) {
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

// fill holds the events up to the next mark, which becomes last.
func (s *Source) fill() {
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

func (s *Source) isFull() bool {
	return s.opts.Events > 0 && len(s.events) >= s.opts.Events || s.opts.Bytes > 0 && len(s.payload) >= s.opts.Bytes
}
