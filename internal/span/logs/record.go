// Package logs derives log records, as in OTLP, from the events of a trace.
//
// # Messages of Microsoft.Extensions.Logging
//
// The event source Microsoft-Extensions-Logging writes a message in up to three forms, depending on the keywords of the
// recording: FormattedMessage has the text, Message the arguments and the exception, MessageJson all of them. Forms of
// one message follow each other on one thread with the same level, logger factory, category and event ID; they become
// one record with the time of the first.
//
//   - The body is the text, or else the template with the arguments in place of their names.
//   - The category is the scope. Arguments are attributes, and so is the template, as {OriginalFormat}.
//   - The exception has the attributes exception.type, exception.message and exception.stacktrace.
//   - The event ID is the attribute logrecord.event.id, unless it is 0; its name is the event name.
//   - State of scopes that are open on the thread, or in the activity of the message, are attributes: outermost first,
//     unless an argument or an inner scope has the same key.
//   - The span is the one whose ID the message states, or that of the labels of the event, or the active one.
//
// # Other events
//
// Events of chosen providers are records whose scope is the provider and whose event name is that of the event. Their
// fields are attributes. The body is a field called message, or else the name of the event.
//
// # Imported records
//
// Records that importers/otlp has stored in the trace (Stored) are passed on as they are.
package logs

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// Severity is the importance of a record. The values are those of logs.proto, SeverityNumber.
type Severity int32

const (
	SeverityTrace Severity = 1
	SeverityDebug Severity = 5
	SeverityInfo  Severity = 9
	SeverityWarn  Severity = 13
	SeverityError Severity = 17
	SeverityFatal Severity = 21
)

// A Record is one message. A Record that is passed to a callback, with its slices, is borrowed until the callback
// returns. Strings, Scope, Resource, Process and Thread are immutable and may be retained.
type Record struct {
	span.Context // zero if there is no span
	// Time and Observed are nanoseconds since 1970-01-01 UTC, modulo 2^64; 0 is unknown.
	Time, Observed uint64
	Severity       Severity
	SeverityText   string
	EventName      string
	Body           span.Value
	Attributes     []span.Attribute
	// DroppedAttributes is the number of attributes that the record lacks.
	DroppedAttributes uint32
	Flags             uint32 // of the W3C trace context

	Scope *span.Scope // never nil
	// Resource describes the program that recorded an imported record. It is nil if only Process is known.
	Resource *span.Resource
	Process  *ntconv.Process
	Thread   *ntconv.Thread
	Tag      uint32 // see Options.Tag
}

// severities are the levels of Microsoft.Extensions.Logging.
var severities = [...]struct {
	number Severity
	text   string
}{
	{SeverityTrace, "Trace"}, {SeverityDebug, "Debug"}, {SeverityInfo, "Information"}, {SeverityWarn, "Warning"}, {SeverityError, "Error"},
	{SeverityFatal, "Critical"},
}

// setLevel sets the severity of a level of Microsoft.Extensions.Logging.
func (r *Record) setLevel(level uint64) {
	if level < uint64(len(severities)) {
		r.Severity, r.SeverityText = severities[level].number, severities[level].text
	}
}

// eventSeverities are the levels of events.
var eventSeverities = [...]struct {
	number Severity
	text   string
}{
	{SeverityInfo, "LogAlways"}, {SeverityFatal, "Critical"}, {SeverityError, "Error"}, {SeverityWarn, "Warning"}, {SeverityInfo, "Informational"},
	{SeverityDebug, "Verbose"},
}

// setEventLevel sets the severity of a level of events.
func (r *Record) setEventLevel(level uint8) {
	if int(level) < len(eventSeverities) {
		r.Severity, r.SeverityText = eventSeverities[level].number, eventSeverities[level].text
	}
}
