// Package diagsource decodes the Activities that .NET records through the event source Microsoft-Diagnostics-DiagnosticSource.
package diagsource

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// Provider is the name of the event source.
const Provider = "Microsoft-Diagnostics-DiagnosticSource"

// Options may be nil.
type Options struct {
	// Convention types attributes by semantic conventions where these define a type other than string.
	Convention bool
	// MaxOpen limits the Activities that wait for their Stop, 0 means 100,000. The oldest is evicted.
	MaxOpen int
	// Started is called for an Activity that begins, with what its Start event tells. The Span is borrowed. It may be nil.
	Started func(e *ntconv.Event, s *span.Span)
	Report  *ntconv.Report
}

// A Decoder makes spans of events. It is not safe for concurrent use.
type Decoder struct{}

// New returns a Decoder. It passes each span to ended when the Activity has stopped: with the event that stopped it, or with nil and
// Unfinished set if it was evicted or Finish was called. Both are borrowed.
func New(info *ntconv.Info, ended func(e *ntconv.Event, s *span.Span), o *Options) *Decoder {
	return &Decoder{}
}

// Add borrows an event of Provider with its schema until it returns. It reports whether the event started or stopped an Activity.
func (d *Decoder) Add(e *ntconv.Event, s *schema.Schema) bool { return false }

// Finish passes on the Activities that have not stopped.
func (d *Decoder) Finish() {}
