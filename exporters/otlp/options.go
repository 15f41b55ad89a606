package otlp

import (
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// Sources selects the events from which spans are made, as a bit set.
type Sources uint16

const (
	// Labels are events with the labels TraceId and SpanId of nettrace 6.
	Labels Sources = 1 << iota
	// Activities are .NET Activities that Microsoft-Diagnostics-DiagnosticSource recorded.
	Activities
	// Pairs are Start and Stop events of event sources.
	Pairs
	// Imported are spans that were imported from OTLP.
	Imported
	// GC are garbage collections.
	GC
	// JIT are compilations of methods.
	JIT
	// Contention are waits for locks.
	Contention
	// Exceptions are exceptions from throw to catch.
	Exceptions
	// Requests are work items of the thread pool, and requests of HTTP servers and clients that the runtime reports.
	Requests
	// Chrome are slices of Chrome's trace event format.
	Chrome

	// DefaultSources are selected by the zero value of Options.
	DefaultSources = Labels | Activities | Pairs | Imported | Chrome
)

// Unfinished selects what happens to spans whose end the trace does not contain. They are counted in any case.
type Unfinished uint8

const (
	// DropUnfinished omits them.
	DropUnfinished Unfinished = iota
	// OpenUnfinished writes them without an end time.
	OpenUnfinished
	// CloseUnfinished ends them with the trace.
	CloseUnfinished
)

// AttributeTypes selects the types of attributes that a trace contains as strings. Imported spans always keep their
// types.
type AttributeTypes uint8

const (
	// Text writes strings.
	Text AttributeTypes = iota
	// Convention writes another type where a semantic convention of OpenTelemetry defines one for the key and the
	// string is a value of that type, such as an integer for http.response.status_code.
	Convention
)

// ByteOrder is the order in which a trace holds the 8 bytes of a SpanId label. The specification of nettrace 6 does not
// define how they become a span ID of W3C trace context.
type ByteOrder uint8

const (
	// BigEndian means that the label has the bytes in the order of the W3C text form.
	BigEndian ByteOrder = iota
	// LittleEndian means that the label is a little-endian number: the W3C text form shows its bytes from last to
	// first.
	LittleEndian
)

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	// Sources are the events from which spans are made; 0 means DefaultSources. If they include neither Labels nor
	// Activities nor Pairs, intervals of the runtime still belong to spans of labels and Activities that were active,
	// which are not written then: the program may have exported them itself.
	Sources    Sources
	Unfinished Unfinished
	Attributes AttributeTypes
	// SpanIDOrder is the byte order of the label SpanId.
	SpanIDOrder ByteOrder
	// MaxEvents is the maximum number of span events that a span made from labels gets; 0 means 128. The others are
	// counted in its dropped_events_count.
	MaxEvents int
	// MaxOpen is the maximum number of open spans; 0 means 100,000. If it is exceeded, the span that was idle for
	// longest ends as unfinished, and Summary counts it as evicted.
	MaxOpen int
	// OmitExporter omits the HTTP requests with which the traced program sent its own spans to a collector.
	OmitExporter bool
	// OmitNotRecorded omits Activities that the program's SDK would not have sent: those that were not sampled, for
	// which no data was requested, or that have no source.
	OmitNotRecorded bool

	// BatchSpans is the maximum number of spans in a batch; 0 means 512.
	BatchSpans int
	// BatchBytes is the maximum size of a batch, in bytes of its protobuf encoding; 0 means 3.5 MiB, because most
	// receivers accept 4 MiB. A single span may be larger.
	BatchBytes int
	// FlushEvery limits the time that a span waits for its batch to fill, also while no event arrives; 0 means no
	// limit.
	FlushEvery time.Duration
	// Concurrency is the maximum number of uploads at the same time; 0 means 1. Batches arrive in order only if it is
	// 1. Files are always written in order.
	Concurrency int

	// ServiceName is the service.name of all processes. Empty derives it from the command line of each process: the
	// entry assembly or the executable, without directory, .dll and .exe. It is unknown_service:dotnet if the command
	// line is not known when the first batch of the process leaves, see Sink.Watch, and unknown_service in traces of
	// Chrome's format.
	ServiceName string
	// Resource are attributes of all processes. They replace attributes with the same key. Neither they nor ServiceName
	// change the resources of imported spans.
	Resource ntconv.Attrs
	// ImportedResource are attributes of the resources of all imported spans. They replace attributes with the same
	// key. If there are none, imported spans keep their resources.
	ImportedResource ntconv.Attrs
	// ThreadAttributes adds the operating system's ID and, if known, the name of the thread on which a span started to
	// its attributes.
	ThreadAttributes bool
	// ProfileIDs adds the attribute pyroscope.profile.id to spans, with their ID in hexadecimal. Grafana needs it to
	// show the profile of a span, of which the samples have the label span_id. Intervals of the runtime do not get it,
	// because no sample has their ID.
	ProfileIDs bool

	// Active, if not nil, returns the IDs of the span that was active on the thread of an event with which an interval
	// of the runtime begins, such as a wait for a lock. It borrows the event. Nil means the span that earlier events
	// show to be active, which misses spans of which only the end is recorded. ActiveSpans.Find also knows these.
	Active func(*ntconv.Event) (traceID [16]byte, spanID [8]byte, ok bool)

	// Spend, if not nil, is called with the size in bytes of each batch before it is sent to an Uploader. An error ends
	// the delivery. Calls may be concurrent.
	Spend func(bytes int) error
	// Progress, if not nil, is called after each batch with the number of spans that have been received or written so
	// far. Calls come from goroutines of the sink, one at a time.
	Progress func(spans int64)
	// Report receives what could not be written as it is, and what the receiver rejected; it may be nil.
	Report *ntconv.Report
}

const (
	defaultBatchSpans = 512
	defaultBatchBytes = 7 << 19 // 3.5 MiB
)

func (o *Options) setDefaults() {
	if o.BatchSpans <= 0 {
		o.BatchSpans = defaultBatchSpans
	}
	if o.BatchBytes <= 0 {
		o.BatchBytes = defaultBatchBytes
	}
	o.Concurrency = max(o.Concurrency, 1)
	if o.Sources == 0 {
		o.Sources = DefaultSources
	}
}

// tracker returns the options of the tracker.
func (o *Options) tracker() *tracker.Options {
	t := &tracker.Options{
		MaxEvents: o.MaxEvents, MaxOpen: o.MaxOpen, SpanIDReversed: o.SpanIDOrder == LittleEndian, Convention: o.Attributes == Convention,
		OmitExporter: o.OmitExporter, Report: o.Report,
	}
	for _, s := range [...]struct {
		public Sources
		own    tracker.Sources
	}{
		{Labels, tracker.Labels}, {Activities, tracker.Activities}, {Pairs, tracker.Pairs}, {Imported, tracker.Imported}, {GC, tracker.GC},
		{JIT, tracker.JIT}, {Contention, tracker.Contention | tracker.Waits}, {Exceptions, tracker.Exceptions}, {Requests, tracker.Requests},
		{Chrome, tracker.Chrome},
	} {
		if o.Sources&s.public != 0 {
			t.Sources |= s.own
		}
	}
	if t.Sources&(tracker.Labels|tracker.Activities|tracker.Pairs) == 0 {
		t.Context = tracker.Labels | tracker.Activities
	}
	if o.Active != nil {
		t.Active = func(e *ntconv.Event) (c span.Context, ok bool) {
			c.TraceID, c.ID, ok = o.Active(e)
			return c, ok
		}
	}
	switch o.Unfinished {
	case OpenUnfinished:
		t.Unfinished = tracker.OpenUnfinished
	case CloseUnfinished:
		t.Unfinished = tracker.CloseUnfinished
	}
	return t
}
