package parquet

import (
	"errors"
	"io"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/schema"
)

// A Sink writes the tables of a trace. It is not safe for concurrent use.
type Sink struct {
	o     Options
	info  *ntconv.Info
	namer ntconv.Namer
	files *files

	schemas  schema.Table
	clock    clock
	parts    []derived
	item     item
	position int64 // event_id of the last event, loss or mark

	// typedTables names the typed table of a type. The part that writes typed tables sets it in its close, before the table
	// event_types is written.
	typedTables map[*ntconv.Type]string

	done Summary
}

var _ ntconv.Watcher = (*Sink)(nil)

// Summary is what a Sink has written.
type Summary struct {
	// Events, Samples and Spans are rows of these tables. Raw is the number of events whose payload is kept as bytes, because JSON does
	// not restore it.
	Events, Samples, Spans, Raw int64
	// Tables are the names of the tables in the order of their creation. TypedTables is how many of them are typed tables.
	Tables      []string
	TypedTables int
}

// New returns a sink that writes each table to a file that create returns: table is the name of the table, without extension. The sink
// closes the files. A nil namer knows only the names that stacks carry themselves.
func New(create func(table string) (io.WriteCloser, error), info *ntconv.Info, namer ntconv.Namer, o *Options) (*Sink, error) {
	s := &Sink{info: info, namer: namer, clock: newClock(info.Clock)}
	if o != nil {
		s.o = *o
	}
	if namer == nil {
		s.namer = ntconv.NoNames()
	}
	s.files = &files{
		create: create, ordered: s.o.Ordered, selected: s.o.Tables,
		metadata: map[string]string{tables.VersionKey: strconv.Itoa(tables.Version)},
	}
	var err error
	s.parts, err = s.derivedParts()
	return s, err
}

// derivedParts returns the tables that are made of events. Each part asks newTable for its tables, and omits work for tables that
// files.has reports not to be written.
func (s *Sink) derivedParts() (list []derived, err error) {
	for _, make := range []func(*Sink) (derived, error){
		// Constructors of parts, one a line.
		newSamples,
		newSpans,
		newCounters,
	} {
		part, err := make(s)
		if err != nil {
			return nil, err
		}
		list = append(list, part)
	}
	return list, nil
}

// process returns the process_id of a process, 0 for nil. A new process gets the next number.
func (s *Sink) process(p *ntconv.Process) int32 { return 0 }

// thread returns the thread_id of a thread, 0 for nil. A new thread gets the next number.
func (s *Sink) thread(t *ntconv.Thread) int32 { return 0 }

// Watch implements ntconv.Watcher.
func (s *Sink) Watch(e *ntconv.Event) {
	for _, p := range s.parts {
		p.watch(e)
	}
}

// Write writes an event. Errors of files may be returned by a later call.
func (s *Sink) Write(e *ntconv.Event) error {
	s.position++
	it := &s.item
	it.id = s.position
	it.micros, it.nanos = s.clock.at(e.Time)
	it.schema = s.schemas.Of(e)
	for _, p := range s.parts {
		if err := p.write(e, it); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the tables of what events refer to, and completes all files.
func (s *Sink) Close() error {
	var errs []error
	for _, p := range s.parts {
		errs = append(errs, p.close())
	}
	s.done.Tables = s.files.names
	return errors.Join(errs...)
}

// Summary returns what was written. It is valid after Close.
func (s *Sink) Summary() Summary { return s.done }

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
