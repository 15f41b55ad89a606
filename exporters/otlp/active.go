package otlp

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/active"
)

// ActiveSpans finds the span that was active when an event was recorded, for Options.Active. Most recordings show an
// Activity only when it stops, so a Sink alone does not know that it was active when an interval of the runtime began.
// ActiveSpans learns it from an earlier reading of the trace:
//
//	spans := otlp.NewActiveSpans(src.Info(), opts)
//	for e, err := range ntconv.Events(src) {
//		...
//		spans.Add(e)
//	}
//	spans.Finish()
//	opts.Active = spans.Find
//
// It needs about 90 bytes per span, and 200 bytes until Finish returns. It is not safe for concurrent use.
type ActiveSpans struct{ index *active.Index }

// NewActiveSpans returns an ActiveSpans for the spans that a Sink with these options writes. Do not change the options
// afterwards, except for Active. info must not be nil. Nil opts select the defaults.
func NewActiveSpans(info *ntconv.Info, opts *Options) *ActiveSpans {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.setDefaults()
	return &ActiveSpans{active.New(info, &active.Options{
		Tracker: o.tracker(),
		Omit:    func(s *span.Span) bool { return s.NotRecorded && o.OmitNotRecorded },
	})}
}

// Add observes an event. It does not keep e. Call it in time order for all events of the trace, including those that
// are not written.
func (a *ActiveSpans) Add(e *ntconv.Event) { a.index.Add(e) }

// Finish prepares Find. Call it after the last Add.
func (a *ActiveSpans) Finish() { a.index.Finish() }

// Find returns the IDs of the span that was active when e was recorded, as the Sink writes them, and false if no span
// was active. e may come from another reading of the trace. Find does not keep e and does not allocate. Call it after
// Finish.
func (a *ActiveSpans) Find(e *ntconv.Event) (traceID [16]byte, spanID [8]byte, ok bool) {
	c, ok := a.index.Context(e)
	return c.TraceID, c.ID, ok
}
