package parquet

import (
	"errors"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables/rows"
)

// A SingleSink writes one file with a row per event, including all names. Losses, marks and definitions have no rows.
// It is not safe for concurrent use. Call Close or Abort even after an error, because they end the goroutine that
// writes the file.
type SingleSink struct {
	rows  *rows.Single
	files *files
}

// NewSingle returns a sink that writes one file to w. It does not close w. info must not be nil. The namer must know
// all symbols before the first event; nil resolves only stacks that carry their frames. A nil o selects the defaults.
// NewSingle returns an error if Options.Raw is set.
func NewSingle(w io.Writer, info *ntconv.Info, namer ntconv.Namer, o *Options) (*SingleSink, error) {
	if o == nil {
		o = new(Options)
	}
	if o.Raw {
		return nil, errors.New("one file of events has no column for payloads as bytes; omit Raw")
	}
	s := &SingleSink{files: &files{create: func(string) (io.WriteCloser, error) { return keepOpen{w}, nil }}}
	var err error
	if s.rows, err = rows.NewSingle(s.files, info, namer, o.Ordered); err != nil {
		return nil, err
	}
	return s, nil
}

// Write writes an event, which must have a type and a thread. It does not keep e. If the file cannot be written, this
// or a later call returns the error.
func (s *SingleSink) Write(e *ntconv.Event) error { return s.rows.Write(e) }

// Close completes the file. It does nothing after Close or Abort.
func (s *SingleSink) Close() error { return s.rows.Close() }

// Abort ends the goroutine that writes the file, in place of Close. It leaves the file without a footer, so that no
// reader mistakes it for complete. It does nothing after Close.
func (s *SingleSink) Abort() error { return s.rows.Abort() }

// Summary returns what was written. It is complete after Close.
func (s *SingleSink) Summary() Summary {
	d := summary(s.rows.Summary())
	d.Tables = s.files.names
	return d
}
