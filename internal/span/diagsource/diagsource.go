package diagsource

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// Provider is the name of the event source.
const Provider = clr.DiagnosticSource

// Options may be nil.
type Options struct {
	// Convention types attributes by semantic conventions where these define a type other than string. Without it every attribute is
	// the text that was recorded.
	Convention bool
	// MaxOpen limits the Activities that wait for their Stop event, 0 means 100,000. The oldest one is evicted.
	MaxOpen int
	// Started is called for an Activity that begins, with the event that started it and what this event says: IDs, parent, name,
	// start time, thread. Its IDs are those that ended gets for the same Activity. Both arguments are borrowed until it returns. It may
	// be nil.
	Started func(e *ntconv.Event, s *span.Span)
	// Report counts payloads that cannot be decoded. It may be nil.
	Report *ntconv.Report
}

// Counts says what a Decoder has seen.
type Counts struct {
	Evicted   int64 // Activities that were passed on unfinished because more than MaxOpen were open
	Unmatched int64 // Stop events that hold no ID and no time, and whose Start event the trace does not have: they make no span
	Duplicate int64 // Stop events of an Activity that another Stop event had ended: one recorded by its source and by a listener
	Invalid   int64 // events whose payload is not that of an Activity
}

// A Decoder makes spans of the events of one trace. It is not safe for concurrent use.
type Decoder struct {
	counts Counts
}

// New returns a Decoder. It passes each span to ended when the Activity has stopped, with the event that stopped it. If the Activity
// was evicted or Finish was called, the event is nil, and Unfinished is set. Both are borrowed until ended returns.
func New(info *ntconv.Info, ended func(e *ntconv.Event, s *span.Span), o *Options) *Decoder {
	return &Decoder{}
}

// Add borrows an event of Provider and its schema until it returns. It reports whether the event started or stopped an Activity, and
// so is no ordinary event of an event source.
func (d *Decoder) Add(e *ntconv.Event, s *schema.Schema) bool { return false }

// Finish passes on the Activities that have not stopped, in the order in which they started.
func (d *Decoder) Finish() {}

// Counts returns what the Decoder has seen so far.
func (d *Decoder) Counts() Counts { return d.counts }
