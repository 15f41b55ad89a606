// Package tracker makes spans of the events of a trace.
package tracker

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/diagsource"
	"github.com/ntconv/ntconv/schema"
)

// Sources says which events become spans, a bit set.
type Sources uint16

const (
	Labels     Sources = 1 << iota // events with labels TraceId and SpanId
	Activities                     // Activities that a DiagnosticSource recorded
	Pairs                          // Start and Stop of event sources
	Imported                       // spans imported from OTLP
	GC
	JIT
	Contention
	Exceptions
	Requests // work that the thread pool and HTTP servers and clients of the runtime report

	Default = Labels | Activities | Pairs | Imported
)

// Unfinished says what becomes of spans whose end the trace does not show.
type Unfinished uint8

const (
	DropUnfinished  Unfinished = iota // they are counted
	OpenUnfinished                    // End is 0
	CloseUnfinished                   // End is the end of the trace
)

// Options may be nil.
type Options struct {
	Sources    Sources // 0 means Default
	Unfinished Unfinished
	// MaxEvents limits the events that a span made of labels gets, 0 means 128. What exceeds it is counted in DroppedEvents.
	MaxEvents int
	// MaxOpen limits the spans that are open at a time, 0 means 100,000. The one that was idle for longest is evicted.
	MaxOpen int
	// SpanIDReversed means that the label SpanId is a little-endian number: the W3C text form shows its bytes from last to first.
	SpanIDReversed bool
	// Convention types attributes by semantic conventions where these define a type other than string.
	Convention bool
	// OmitExporter omits the HTTP spans of an exporter that sends spans.
	OmitExporter bool
	// Active returns the span that was active on the thread of an event, for intervals of the runtime. Nil means: the one that the
	// events up to then show.
	Active func(*ntconv.Event) (span.Context, bool)
	Report *ntconv.Report
}

// Counts is what a Tracker has seen.
type Counts struct {
	Spans      int64 // passed to emit
	Unfinished int64 // of which the trace does not show the end
	Evicted    int64 // that ended early because too many were open
	MadeIDs    int64
	Exporter   int64 // omitted by OmitExporter
	Invalid    int64 // not passed to emit because they have no usable ID, or their payload does not hold a span
}

// A Tracker makes spans of events. Its memory follows the number of open spans. It is not safe for concurrent use.
type Tracker struct {
	table  schema.Table
	emit   func(*span.Span)
	counts Counts
	diag   *diagsource.Decoder
}

// New returns a Tracker. It passes each span to emit when its end is known, which is before Add or Finish returns; the span is borrowed.
func New(info *ntconv.Info, emit func(*span.Span), o *Options) *Tracker {
	return &Tracker{emit: emit}
}

// Add borrows an event until it returns.
func (t *Tracker) Add(e *ntconv.Event) {}

// Finish ends all spans that are still open.
func (t *Tracker) Finish() {}

// Counts returns what the tracker has seen so far.
func (t *Tracker) Counts() Counts { return t.counts }
