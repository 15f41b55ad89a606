package otlp

import (
	"cmp"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/sample"
)

// Sources is a bit set that selects the events that are converted to spans.
type Sources uint16

const (
	// Labels means events with the labels TraceId and SpanId of nettrace 6.
	Labels Sources = 1 << iota
	// Activities means .NET Activities that Microsoft-Diagnostics-DiagnosticSource recorded.
	Activities
	// Pairs means Start and Stop events of event sources.
	Pairs
	// Imported means spans that were imported from OTLP.
	Imported
	// GC means garbage collections.
	GC
	// JIT means compilations of methods.
	JIT
	// Contention means waits for locks, Waits means waits for wait handles.
	Contention
	Waits
	// Exceptions means exceptions from throw to catch.
	Exceptions
	// Requests means work items of the thread pool, and requests of HTTP servers and clients that the runtime reports.
	Requests
	// Chrome means slices of Chrome's trace event format.
	Chrome
	// Suspensions means suspensions of the runtime for other reasons than a collection.
	Suspensions

	// DefaultSources is what the zero value of Options.Sources selects.
	DefaultSources = Labels | Activities | Pairs | Imported | Chrome
)

// Unfinished selects what happens to spans whose end the trace does not contain. Summary counts them in any case.
type Unfinished uint8

const (
	// DropUnfinished omits unfinished spans.
	DropUnfinished Unfinished = iota
	// OpenUnfinished writes unfinished spans without an end time.
	OpenUnfinished
	// CloseUnfinished writes unfinished spans with the end of the trace as their end time.
	CloseUnfinished
)

// AttributeTypes selects the type of attributes that a trace contains as strings. Imported spans always keep their
// attribute types.
type AttributeTypes uint8

const (
	// Convention writes another type than string if a semantic convention of OpenTelemetry defines one for the key and the
	// string is a value of this type, such as an integer for http.response.status_code.
	Convention AttributeTypes = iota
	// Text writes strings.
	Text
)

// ByteOrder is the order in which a trace stores the 8 bytes of a SpanId label. The nettrace 6 specification does not
// define how they form a span ID of W3C Trace Context.
type ByteOrder uint8

const (
	// BigEndian means that the label stores the bytes in the order of the W3C text form.
	BigEndian ByteOrder = iota
	// LittleEndian means that the label is a little-endian number: the W3C text form shows its bytes from last to
	// first.
	LittleEndian
)

// Options configure a Sink. The zero value selects the defaults.
type Options struct {
	// Signals selects what is written of the trace. Files in the forms Protobuf and Delimited hold one signal: traces,
	// unless Signals selects one other signal.
	Signals Signals

	// Sources selects the events that are converted to spans; 0 means DefaultSources. Without Labels, Activities and
	// Pairs, intervals of the runtime still refer to spans of labels and Activities that were active. Those spans are
	// not written, because the program may have exported them itself.
	Sources    Sources
	Unfinished Unfinished
	Attributes AttributeTypes
	// SpanIDOrder is the byte order of SpanId labels.
	SpanIDOrder ByteOrder
	// MaxEvents is the maximum number of events per span that is built from labels; 0 means 128. Further events are
	// counted in the span's dropped_events_count.
	MaxEvents int
	// MaxOpen is the maximum number of open spans; 0 means 100,000. If it is exceeded, the span that has been idle
	// longest ends as unfinished, and Summary.Evicted counts it.
	MaxOpen int
	// OmitExporter omits the HTTP requests by which the traced program sent its own spans to a collector.
	OmitExporter bool
	// OmitNotRecorded omits Activities that the program's SDK would not have exported: Activities that were not
	// sampled, for which no data was requested, or that have no source.
	OmitNotRecorded bool

	// SemanticMetrics gives the event counters of the runtime the names and units of OpenTelemetry's semantic conventions,
	// such as dotnet.exceptions, instead of their own.
	SemanticMetrics bool
	// Profiles are the options of the signal Profiles, which only an explicit Signals selects. Each lists the kinds, none means
	// all that the trace has. Kind, Create and Report are ignored, and samples have no labels of their process, which its
	// resource describes. The samples are sent when the sink is closed, because symbols come last.
	Profiles sample.Options
	// Original, if not nil, returns the profile of a kind in another format, such as pprof, for the field original_payload of
	// the first profile of that kind: the name of the format, and the bytes. Close calls it. A payload that needs more than half of
	// BatchBytes is omitted and reported, except in files. Imported profiles keep the payload that they have.
	Original func(sample.Kind) (format, payload string)
	// MetricsFromEvents counts garbage collections, compilations, waits for locks and exceptions in the metrics of the semantic
	// conventions, if no counter of the trace measures these. The points are sent when the sink is closed.
	MetricsFromEvents bool
	// LogProviders, if not nil, selects the providers whose events become log records, in addition to the messages of
	// Microsoft.Extensions.Logging.
	LogProviders func(provider string) bool

	// BatchItems is the maximum number of spans, log records or data points per batch; 0 means 512. Profiles have no such
	// limit, because each that does not fit becomes two.
	BatchItems int
	// BatchBytes is the maximum size of a batch in bytes of its protobuf encoding; 0 means 3.5 MiB, because most
	// receivers accept 4 MiB. A larger item is sent in a batch of its own.
	BatchBytes int
	// FlushEvery is the maximum time that an item waits for its batch to fill, even if no event arrives; 0 means no
	// limit.
	FlushEvery time.Duration
	// Concurrency is the maximum number of concurrent uploads; 0 means 1. With more than 1, batches may arrive out of
	// order. Files are always written in order.
	Concurrency int

	// ServiceName is the service.name of all processes. "" derives it from the command line of each process: the entry
	// assembly or the executable, without its directory, .dll and .exe. It is unknown_service:dotnet if the command
	// line is unknown when the first batch of the process is sent, see NameWait, and unknown_service in traces of Chrome's
	// format.
	ServiceName string
	// NameWait is the maximum time that the first items of a process of .NET wait until the trace names its program, 0
	// means 3 seconds, a negative time none. At most 16 MiB of items wait, and Flush ends the waiting. If FlushEvery is 0,
	// there is no limit of time: files depend on the events only. Nothing waits if the name is known, see Sink.Watch.
	NameWait time.Duration
	// Resource holds attributes for the resources of all processes. They replace attributes with the same key. Neither
	// Resource nor ServiceName affects imported spans.
	Resource ntconv.Attrs
	// ImportedResource holds attributes for the resources of all imported spans. They replace attributes with the same
	// key.
	ImportedResource ntconv.Attrs
	// ThreadAttributes adds attributes with the operating system's ID and the name, if known, of the thread on which a
	// span started.
	ThreadAttributes bool
	// ProfileIDs adds the attribute pyroscope.profile.id with the span's ID in hexadecimal. Grafana needs it to show
	// the profile of a span, whose samples have the label span_id. Intervals of the runtime do not get it, because no
	// sample has their ID.
	ProfileIDs bool

	// Active, if not nil, returns the IDs of the span that was active on the thread of an event that begins an interval
	// of the runtime, such as a wait for a lock, or of a log message that does not state its span. It must not keep the
	// event. If it is nil, the sink uses the span that earlier events show to be active, and misses spans of which only
	// the end is recorded. ActiveSpans.Find also knows those.
	Active func(*ntconv.Event) (traceID [16]byte, spanID [8]byte, ok bool)

	// Spend, if not nil, is called with the size in bytes of each batch before the batch is sent to an Uploader. An
	// error ends the delivery. Calls may be concurrent.
	Spend func(bytes int) error
	// Progress, if not nil, is called after each batch with the number of items received or written so far. Goroutines
	// of the sink call it, one at a time.
	Progress func(items int64)
	// Report receives the conditions that the conversion counts, and the items that the receiver rejected; nil discards
	// them.
	Report *ntconv.Report
}

const (
	defaultBatchItems = 512
	defaultBatchBytes = 7 << 19 // 3.5 MiB
	defaultNameWait   = 3 * time.Second
)

// setDefaults replaces zero values by the documented defaults.
func (o *Options) setDefaults() {
	if o.BatchItems <= 0 {
		o.BatchItems = defaultBatchItems
	}
	if o.BatchBytes <= 0 {
		o.BatchBytes = defaultBatchBytes
	}
	o.Concurrency = max(o.Concurrency, 1)
	o.NameWait = cmp.Or(o.NameWait, defaultNameWait)
	if o.Sources == 0 {
		o.Sources = DefaultSources
	}
}

// tracker returns the options for the span tracker.
func (o *Options) tracker() *tracker.Options {
	t := &tracker.Options{
		MaxEvents: o.MaxEvents, MaxOpen: o.MaxOpen, SpanIDReversed: o.SpanIDOrder == LittleEndian, Convention: o.Attributes == Convention,
		OmitExporter: o.OmitExporter, Report: o.Report, Sources: operation.Sources(o.Sources), // the sets have equal values
	}
	if t.Sources&(operation.Labels|operation.Activities|operation.Pairs) == 0 {
		t.Context = operation.Labels | operation.Activities
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
