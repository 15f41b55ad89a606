package span

import "github.com/ntconv/ntconv"

// A Decoder makes spans of the events that an Encoder wrote. It is not safe for concurrent use.
type Decoder struct {
	report *ntconv.Report
}

// NewDecoder returns a Decoder that counts in report (CodePayload) what it cannot decode. report may be nil.
func NewDecoder(report *ntconv.Report) *Decoder {
	return &Decoder{report: report}
}

// Decode borrows an event for which IsEvent is true until it returns. It returns a span if the event completes one; a large span has
// several events. ok is false if further events of the span are outstanding, or if the event is invalid, which Invalid counts.
//
// The span is borrowed until the next call of Decode, with its slices. Strings, Scope and Resource may be kept. Process is that of the
// event; Thread and EndThread are those of the event if the span states a thread ID, else nil.
func (d *Decoder) Decode(e *ntconv.Event) (s *Span, ok bool) { return nil, false }

// Finish discards the parts of spans whose last event has not come, and counts them as invalid.
func (d *Decoder) Finish() {}

// Invalid returns how many spans could not be decoded: events whose payload does not hold a span, and spans of which events are missing.
func (d *Decoder) Invalid() int64 { return 0 }
