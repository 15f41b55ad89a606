package parquet

import (
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables/rows"
)

// A Sink writes the tables of a trace. It is not safe for concurrent use. Call Close or Abort even after an error,
// because they end the goroutines that write the files.
type Sink struct {
	rows  *rows.Sink
	files *files
	typed *typed
}

var _ ntconv.Watcher = (*Sink)(nil)

// A Summary counts what a Sink has written.
type Summary struct {
	// Events, Samples, Spans and Logs are the numbers of rows of these tables. Raw is the number of events whose payload is
	// stored as bytes in addition, because JSON does not restore it; with Options.Raw it is 0.
	Events, Samples, Spans, Logs, Raw int64
	// Linked is the number of rows of samples with a span ID.
	Linked int64
	// Tables lists the names of the written tables in the order of creation. TypedTables is the number of typed tables
	// among them.
	Tables      []string
	TypedTables int
	// Unmatched lists the elements of Options.Typed that match no event with fields.
	Unmatched []string
}

// New returns a sink that writes each table to a file that create returns. table is the name of the table without
// extension. Calls of create are not concurrent; the sink writes and closes the files on goroutines of its own. The
// sink keeps info, which must not be nil. A nil namer resolves only stacks that carry their frames. A nil o selects the
// defaults. New returns an error of create, or one that states which element of Options is invalid.
func New(
	create func(table string) (io.WriteCloser, error),
	info *ntconv.Info,
	namer ntconv.Namer,
	o *Options,
) (*Sink, error) {
	if o == nil {
		o = new(Options)
	}
	s := &Sink{files: &files{create: create}}
	var err error
	if s.typed, err = newTyped(s.files, o); err != nil {
		return nil, err
	}
	options := o.rows()
	options.Typed = s.typed
	if s.rows, err = rows.New(s.files, info, namer, &options); err != nil {
		return nil, err
	}
	return s, nil
}

// Watch observes an event that a selection may omit: the next sample of a thread, for example, determines the weight of
// its previous sample. The sink does not keep e. It implements ntconv.Watcher.
func (s *Sink) Watch(e *ntconv.Event) { s.rows.Watch(e) }

// Write writes an event, which must have a type and a thread. The sink does not keep e or its payload. If a file cannot
// be written, this or a later call returns the error.
func (s *Sink) Write(e *ntconv.Event) error { return s.rows.Write(e) }

// Close writes the tables of processes, threads, types and stacks, and completes all files. It does nothing after Close
// or Abort.
func (s *Sink) Close() error { return s.rows.Close() }

// Abort ends the goroutines that write the files and closes the files, in place of Close; the set of tables is
// incomplete. It does nothing after Close.
func (s *Sink) Abort() error { return s.rows.Abort() }

// Summary returns what was written. It is complete after Close.
func (s *Sink) Summary() Summary {
	d := summary(s.rows.Summary())
	d.Tables, d.TypedTables, d.Unmatched = s.files.names, s.typed.written, s.typed.unmatched
	return d
}

func summary(d rows.Summary) Summary {
	return Summary{Events: d.Events, Samples: d.Samples, Spans: d.Spans, Logs: d.Logs, Raw: d.Raw, Linked: d.Linked}
}
