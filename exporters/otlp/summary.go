package otlp

// A Summary is what a Sink has written. Spans = Sent + Rejected + Unsent + Unconfirmed after Close.
type Summary struct {
	Spans       int64 // spans that were made from the events, without those that Options omit
	Sent        int64 // of which the receiver has, or which were written to the file
	Rejected    int64 // of which the receiver rejected
	Unsent      int64 // of which were not received because sending failed
	Unconfirmed int64 // of which may or may not have been received because sending failed

	Batches int64 // requests that were received, or batches in the file; parts of a halved batch count each
	// Bytes is the size of these batches: in a file the bytes written, else the protobuf encoding before compression.
	Bytes  int64
	Halved int64 // batches, and parts of them, that were too large for the receiver and were sent as two
	// Warnings are batches that the receiver took completely, but with a message. Message is the first message of the
	// receiver: a warning, or why it rejected spans.
	Warnings int64
	Message  string

	Retries int64 // requests that the Uploader sent again; 0 if it is not a StatsReporter
	Doubled int64 // spans that the receiver may have twice because of that

	Intervals int64 // spans that are intervals of the runtime
	Linked    int64 // of which are children of, or have a link to, the span that was active on their thread
	// Unnamed are spans whose service.name is unknown_service:dotnet because the trace names the program only after
	// them, see Sink.Watch.
	Unnamed int64

	MadeIDs    int64 // spans whose IDs are hashes because the trace contains none; they have the attribute ntconv.synthetic
	Unfinished int64 // spans whose end the trace does not contain
	Evicted    int64 // spans that ended early because of Options.MaxOpen
	Clamped    int64 // spans that ended before they began; they have the attribute ntconv.end_time_unix_nano

	Exporter    int64 // spans omitted by Options.OmitExporter
	NotRecorded int64 // spans omitted by Options.OmitNotRecorded
	Invalid     int64 // spans omitted because they have no valid ID, or because their event is corrupt
	Unmatched   int64 // Stop events of event sources without a Start event, which make no span
}
