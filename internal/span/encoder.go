package span

import "github.com/ntconv/ntconv"

// An Encoder makes events of spans. It is not safe for concurrent use.
type Encoder struct{}

// NewEncoder returns an Encoder.
func NewEncoder() *Encoder { return &Encoder{} }

// Encode begins with a span. It borrows the span until Next returns nil, and reads Context, ParentID, TraceState, Flags, Name, Kind, times,
// attributes, events, links, dropped counts, status, Scope and Resource. Each event is a copy of like with Type, Labels and Payload
// of the span.
func (c *Encoder) Encode(s *Span, like *ntconv.Event) {}

// Next returns the next event of the span, nil after the last one. The events must be written in this order, by the same capture thread,
// with no other span's events of that thread between them. The caller sets Event.Seq. The event and its payload are borrowed until
// the next call of Next or Encode; Type and Labels may be kept.
func (c *Encoder) Next() *ntconv.Event { return nil }
