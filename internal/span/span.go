package span

import (
	"encoding/hex"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
)

// A TraceID identifies a trace, the tree of spans of one request: 16 bytes in the order of the W3C text form. The zero
// TraceID means none.
type TraceID [16]byte

// An ID identifies a span within a trace: 8 bytes in the order of the W3C text form. The zero ID means none.
type ID [8]byte

// IsZero reports whether the ID means none.
func (t TraceID) IsZero() bool { return t == TraceID{} }

// IsZero reports whether the ID means none.
func (id ID) IsZero() bool { return id == ID{} }

// String returns 32 hexadecimal digits in lower case.
func (t TraceID) String() string { return hex.EncodeToString(t[:]) }

// String returns 16 hexadecimal digits in lower case.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// A Context identifies a span globally.
type Context struct {
	TraceID TraceID
	ID      ID
}

// Bits of Span.Flags and Link.Flags (trace.proto, SpanFlags). The lowest 8 bits are the flags of the W3C trace context.
const (
	FlagSampled     = 0x001 // W3C: the caller may have recorded the span
	FlagRemoteKnown = 0x100 // FlagRemote is valid
	FlagRemote      = 0x200 // the parent, or the linked span, belongs to another process
)

// Kind is the role of a span in a request. The values are those of trace.proto; unknown values are preserved.
type Kind int32

const (
	KindUnspecified Kind = iota
	KindInternal
	KindServer
	KindClient
	KindProducer
	KindConsumer
)

// StatusCode states whether an operation succeeded. The values are those of trace.proto; unknown values are preserved.
type StatusCode int32

const (
	StatusUnset StatusCode = iota
	StatusOK
	StatusError
)

// A Span is one operation. A Span that is passed to a callback, with all its slices, is borrowed until the callback
// returns. Strings, Scope, Resource, Process and threads are immutable and may be retained.
type Span struct {
	Context
	ParentID   ID
	TraceState string
	Flags      uint32
	Name       string
	Kind       Kind
	// Start and End are nanoseconds since 1970-01-01 UTC. Times before 1970 are negative numbers modulo 2^64, as SDKs
	// send them. End is 0 if the span has not ended.
	Start, End        uint64
	Attributes        []Attribute
	Events            []Event
	Links             []Link
	DroppedAttributes uint32
	DroppedEvents     uint32
	DroppedLinks      uint32
	Status            StatusCode
	// HasStatus distinguishes an empty status message from an absent one in OTLP. It is ignored if Status or
	// StatusMessage is set.
	HasStatus     bool
	StatusMessage string

	Scope *Scope // never nil
	// Resource describes the program that recorded an imported span. It is nil if only Process is known.
	Resource *Resource
	// Process is the process that recorded the span. Thread is the thread of its first event, EndThread that of its
	// last event; both are nil if unknown.
	Process           *ntconv.Process
	Thread, EndThread *ntconv.Thread
	// Activity is the activity ID of the events from which the span was derived, or zero.
	Activity ntconv.GUID
	// Active is the span that was active on the thread when an interval of the runtime began, or zero if there was none
	// or it is unknown. It may differ from the parent, which may be another interval.
	Active Context
	// Operation is the operation of an interval of the runtime, and nil for other spans.
	Operation *operation.Operation

	Evidence Evidence
	// MadeID means that the trace contains no ID of the span: its IDs are synthetic, derived by a Hash.
	MadeID bool
	// Unfinished means that the trace does not contain the end of the span.
	Unfinished bool
	// NotRecorded means that the program's SDK would not have exported the span: its sampler rejected the span, no data
	// was requested for it, or it has no source.
	NotRecorded bool
}

// Evidence states from which data of a trace a span was derived.
type Evidence uint8

const (
	FromOTLP     Evidence = iota // an imported span
	FromLabels                   // labels TraceId and SpanId of events
	FromActivity                 // an Activity that a DiagnosticSource recorded
	FromPair                     // an event source's Start and Stop
	FromRuntime                  // an interval of the runtime, such as a garbage collection
	FromChrome                   // a slice of Chrome's trace event format
)

// An Event is an occurrence at one time within a span.
type Event struct {
	Time              uint64 // as Span.Start
	Name              string
	Attributes        []Attribute
	DroppedAttributes uint32
}

// A Link refers to a span that is related but is not the parent.
type Link struct {
	Context
	TraceState        string
	Attributes        []Attribute
	DroppedAttributes uint32
	Flags             uint32
}

// A Scope is the library that recorded a span: an ActivitySource, an event source or an instrumentation library. It is
// immutable. Equal scopes may have different pointers.
type Scope struct {
	Name, Version     string
	Attributes        []Attribute
	DroppedAttributes uint32
	SchemaURL         string
	// Absent means that the message has no scope, which OTLP distinguishes from an empty one.
	Absent bool
}

// A Resource describes the program that recorded a span. It is immutable. Equal resources may have different pointers.
type Resource struct {
	Attributes        []Attribute
	DroppedAttributes uint32
	Entities          []Entity
	SchemaURL         string
	// Absent means that the message has no resource, which OTLP distinguishes from an empty one.
	Absent bool
}

// An Entity lists the attributes of a Resource that identify and describe an object such as a host or a service
// (resource.proto, EntityRef).
type Entity struct {
	SchemaURL, Type string
	IDKeys          []string
	DescriptionKeys []string
}
