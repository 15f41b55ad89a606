package otlp

import "cmp"

// Counts counts the items of one signal, or of all. After Close, Items = Sent + Rejected + Unsent + Unconfirmed.
type Counts struct {
	Items       int64 // built from the events, without those that Options omit
	Sent        int64 // that the receiver has, or that were written to the file
	Rejected    int64 // that the receiver rejected
	Unsent      int64 // that were not received because sending failed
	Unconfirmed int64 // that may or may not have been received, because sending failed or an answer was unclear

	Batches int64 // requests that were received, or batches in the file; parts of a halved batch count separately
	// Bytes is the size of these batches: the bytes written to a file, or the protobuf encoding before compression.
	Bytes  int64
	Halved int64 // batches, and parts of batches, that were too large for the receiver and were sent in halves
	// Warnings is the number of batches that the receiver accepted completely, but with a message. Message is the
	// receiver's first message: a warning, the reason why it rejected items, or why an answer was unclear.
	Warnings int64
	Message  string
}

// add adds the counts of another signal. The message of c takes precedence.
func (c *Counts) add(o *Counts) {
	c.Items += o.Items
	c.Sent += o.Sent
	c.Rejected += o.Rejected
	c.Unsent += o.Unsent
	c.Unconfirmed += o.Unconfirmed
	c.Batches += o.Batches
	c.Bytes += o.Bytes
	c.Halved += o.Halved
	c.Warnings += o.Warnings
	c.Message = cmp.Or(c.Message, o.Message)
}

// A Summary counts what a Sink has written.
type Summary struct {
	Counts                     // of all signals
	Signals [NumSignals]Counts // of each signal

	Retries int64 // requests that the Uploader sent again; 0 if it is not a StatsReporter
	Doubled int64 // items that the receiver may have twice because of retries

	Intervals int64 // spans that are intervals of the runtime
	Linked    int64 // those Intervals that are children of, or have a link to, the span that was active on their thread
	// Unnamed is the number of spans whose service.name is unknown_service:dotnet because the trace names the program
	// only after them; see Sink.Watch.
	Unnamed int64

	// Problems states what metrics lack, with numbers: events of their publisher, such as "TimeSeriesLimitReached (1)", values
	// that were collected for another session than the first one, and time series beyond the limit.
	Problems string

	MadeIDs    int64 // spans whose IDs are hashes because the trace has no IDs; they have the attribute ntconv.synthetic
	Unfinished int64 // spans whose end the trace does not contain
	Evicted    int64 // spans that ended early because of Options.MaxOpen
	Clamped    int64 // spans that ended before they began; they have the attribute ntconv.end_time_unix_nano

	// Undated is the number of items whose times count from 1970-01-01, because neither the trace nor the item has a date.
	Undated int64

	Exporter    int64 // spans omitted by Options.OmitExporter
	NotRecorded int64 // spans omitted by Options.OmitNotRecorded
	Invalid     int64 // spans omitted because they have no valid ID or their event is corrupt
	Unmatched   int64 // Stop events of event sources without a Start event, which result in no span
}
