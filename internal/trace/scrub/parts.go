package scrub

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/span/stored"
)

// Large spans and large events of Chrome's format are divided into parts: events whose last field is a piece of data,
// before a last event on the same capture thread. A text may continue in the next part, so the parts are held until the
// last event, replaced together and delivered before it. If the last event does not follow, the data becomes zero.

// maxHeld is the maximum number of bytes of held parts. The data of further parts becomes zero.
const maxHeld = 64 << 20

// heldSize returns the number of bytes that holding a part needs: its payload, and the event itself, which counts
// because parts may be tiny.
func heldSize(e *ntconv.Event) int { return len(e.Payload) + 512 }

// A role is the role of a type's events among the events of a divided one.
type role uint8

const (
	roleWhole      role = iota // not divided
	rolePart                   // the last field, data, is a piece
	roleItem                   // ends the parts of an imported item, such as a span
	roleChromeLast             // ends the parts of an event of Chrome's format
)

// roleOf returns the role of a type's events.
func roleOf(t *ntconv.Type) role {
	switch {
	case stored.IsPart(t):
		return rolePart
	case t.Provider == stored.Provider:
		return roleItem
	case len(t.Attrs) == 0:
		return roleWhole
	}
	if _, ok := chromeevent.Of(t); ok && len(t.Fields) > 0 {
		switch t.Fields[len(t.Fields)-1].Name {
		case "data":
			return rolePart
		case "parts":
			return roleChromeLast
		}
	}
	return roleWhole
}

// held are the parts of one capture thread whose last event has not been read.
type held struct {
	events []*ntconv.Event
	data   [][]byte // of each event
	order  int64    // ascending in the order of the first parts
}

// hold keeps a part. It returns false if the part must be delivered as it is.
func (s *source) hold(e *ntconv.Event) bool {
	data, ok := pieceOf(e)
	if !ok || s.heldBytes+heldSize(e) > maxHeld {
		return false
	}
	c := e.Clone()
	if s.open == nil {
		s.open = make(map[*ntconv.Thread]*held)
	}
	h := s.open[e.Capture]
	if h == nil {
		s.holds++
		h = &held{order: s.holds}
		s.open[e.Capture] = h
	}
	s.heldBytes += heldSize(c)
	h.events, h.data = append(h.events, c), append(h.data, c.Payload[len(c.Payload)-len(data):])
	return true
}

// pieceOf returns the data of a part, which is at the end of its payload after a 16-bit length.
func pieceOf(e *ntconv.Event) (data []byte, ok bool) {
	v, _ := e.Field("data")
	n := len(v.Bytes())
	if v.Kind() == ntconv.ValueString {
		n = len(v.String())
	}
	at := len(e.Payload) - n
	if n == 0 || at < 2 || int(binary.LittleEndian.Uint16(e.Payload[at-2:])) != n {
		return nil, false
	}
	return e.Payload[at:], true
}

// release queues the parts of a capture thread. last is the event that ends them, or nil if their data becomes zero.
func (s *source) release(capture *ntconv.Thread, last *ntconv.Event) {
	h := s.open[capture]
	if h == nil {
		return
	}
	delete(s.open, capture)
	var joined []byte
	if last != nil {
		joined = s.join(last, slices.Concat(h.data...))
	}
	for i, e := range h.events {
		s.heldBytes -= heldSize(e)
		n := len(h.data[i])
		if !s.replace(e) {
			continue
		}
		c := s.event.Clone()
		if last != nil {
			joined = joined[copy(c.Payload[len(c.Payload)-n:], joined[:n]):]
		}
		s.queue = append(s.queue, c)
	}
}

// releaseAll queues all parts whose last event does not follow, those of the thread that was first held first.
func (s *source) releaseAll() {
	captures := slices.SortedFunc(maps.Keys(s.open), func(a, b *ntconv.Thread) int {
		return cmp.Compare(s.open[a].order, s.open[b].order)
	})
	for _, capture := range captures {
		s.release(capture, nil)
	}
}

// join returns the replacement of the joined data of parts.
func (s *source) join(last *ntconv.Event, data []byte) []byte {
	if roleOf(last.Type) == roleItem {
		s.walker.wide = true
		out := s.walker.payload(s.plan(last), data)
		s.walker.wide = false
		return bytes.Clone(out)
	}
	c := s.policy.class(classChromeEvent)
	if s.divided == nil {
		s.divided = s.planner.site(last.Type.Provider, "", "divided events")
	}
	out := s.words.rewrite(data, encUTF8, c)
	s.tally.count(s.divided, c, true)
	return bytes.Clone(out)
}

// begin processes an event before its secrets are replaced. It returns false if the event is held or queued.
func (s *source) begin(e *ntconv.Event) bool {
	r := roleWhole
	if e.Kind == ntconv.KindEvent && e.Type != nil {
		if e.Type == s.lastType {
			r = s.lastRole
		} else {
			r = roleOf(e.Type)
			s.lastType, s.lastRole = e.Type, r
		}
		if r == rolePart && s.hold(e) {
			return false
		}
	}
	if len(s.open) == 0 {
		return true
	}
	switch {
	case e.Kind == ntconv.KindMark:
		s.releaseAll()
	case e.Kind == ntconv.KindEvent && r >= roleItem:
		s.release(e.Capture, e)
	case e.Kind == ntconv.KindEvent:
		s.release(e.Capture, nil)
	}
	if len(s.queue) == 0 {
		return true
	}
	if s.replace(e) {
		s.queue = append(s.queue, s.event.Clone())
	}
	return false
}
