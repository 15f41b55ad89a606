package otlp

import (
	"slices"

	"github.com/ntconv/ntconv"
)

// A sorter yields the events of a source in time order. No event after a sequence point is earlier than one before it, so it holds and
// sorts the events between two of them; those with equal times stay in their order.
type sorter struct {
	*source
	events  []heldEvent
	payload []byte  // of all held events
	order   []int32 // of events that are still to be delivered
	last    *ntconv.Event
	event   ntconv.Event
	err     error
}

// A heldEvent has the range of its payload in place of the payload.
type heldEvent struct {
	ntconv.Event
	from, to int
}

func (s *sorter) Next() (*ntconv.Event, error) {
	for len(s.order) == 0 {
		switch {
		case s.last != nil:
			m := s.last
			s.last = nil
			return m, nil
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

// fill holds the events up to the next sequence point, which becomes last.
func (s *sorter) fill() {
	s.events, s.payload = s.events[:0], s.payload[:0]
	order := s.order[:0]
	for {
		e, err := s.source.Next()
		if err != nil {
			s.err = err
			break
		}
		if e.Kind == ntconv.KindMark {
			s.last = e
			break
		}
		h := heldEvent{Event: *e, from: len(s.payload)}
		h.Payload = nil
		s.payload = append(s.payload, e.Payload...)
		h.to = len(s.payload)
		order = append(order, int32(len(s.events)))
		s.events = append(s.events, h)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		switch x, y := s.events[a].Time, s.events[b].Time; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	s.order = order
}
