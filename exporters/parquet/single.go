package parquet

import (
	"io"

	"github.com/ntconv/ntconv"
)

// A SingleSink writes one file with a row per event that contains all names. It is not safe for concurrent use.
type SingleSink struct{ w io.Writer }

// NewSingle returns a sink that writes one file to w. namer must know all names before the first event. It does not close w.
func NewSingle(w io.Writer, info *ntconv.Info, namer ntconv.Namer, o *Options) (*SingleSink, error) {
	return &SingleSink{w}, nil
}

// Write writes an event.
func (s *SingleSink) Write(e *ntconv.Event) error { return nil }

// Close completes the file.
func (s *SingleSink) Close() error { return nil }

// Summary returns what was written. It is valid after Close.
func (s *SingleSink) Summary() Summary { return Summary{} }
