package parquet

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv"
)

// A sorter yields the events of a source in time order. No event after a sequence point is earlier than one before it, so it holds and
// sorts the events between two of them; those with equal times stay in their order. A window that exceeds its size is delivered in
// parts (CodeWindowCap).
type sorter struct {
	ntconv.Source
	report  *ntconv.Report
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

// Size of a window.
const (
	windowEvents = 2 << 20
	windowBytes  = 256 << 20
)

func (s *sorter) Next() (*ntconv.Event, error) {
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
func (s *sorter) fill() {
	s.events, s.payload = s.events[:0], s.payload[:0]
	order := s.order[:0]
	for {
		e, err := s.Source.Next()
		if err != nil {
			s.err = err
			break
		}
		if e.Kind == ntconv.KindMark {
			s.end, s.last = true, *e
			break
		}
		h := heldEvent{Event: *e, key: e.Time, from: len(s.payload)}
		if e.Flags&ntconv.FlagLate != 0 { // was late when the tables were written in time order: it stays where it is
			h.key = max(e.Time, s.latest)
		}
		s.latest = max(s.latest, e.Time)
		h.Payload = nil
		s.payload = append(s.payload, e.Payload...)
		h.to = len(s.payload)
		order = append(order, int32(len(s.events)))
		s.events = append(s.events, h)
		if len(s.events) == windowEvents || len(s.payload) >= windowBytes {
			s.report.Add(ntconv.CodeWindowCap, 1, -1)
			break
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(s.events[a].key, s.events[b].key) })
	s.order = order
}
