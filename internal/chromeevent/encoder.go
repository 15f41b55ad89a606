package chromeevent

import "github.com/ntconv/ntconv"

// An Encoder makes events of a trace. It is not safe for concurrent use.
type Encoder struct {
	event ntconv.Event
}

// NewEncoder returns an Encoder. The IDs of its types are unique, so a source uses one Encoder.
func NewEncoder() *Encoder { return &Encoder{} }

// Encode begins with an event, which it borrows until Next returns nil. Each event of the trace is a copy of like with Type and Payload
// of e. The time of like is that of e, or any other if e has none.
func (c *Encoder) Encode(e *Event, like *ntconv.Event) {}

// Next returns the next event of the trace, nil after the last one: all but large ones are one. They must be written in this order, by the
// same capture thread, with no other event of this package of that thread between them. The caller sets Event.Seq. The event and its
// payload are borrowed until the next call of Next or Encode; Type may be kept.
func (c *Encoder) Next() *ntconv.Event { return nil }
