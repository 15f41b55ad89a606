package parquet

import (
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/payload"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/tables"
)

// A Sink writes the tables of a trace. It is not safe for concurrent use. Call Close or Abort even after an error,
// because they end the goroutines that write the files.
type Sink struct {
	o     Options
	info  *ntconv.Info
	namer ntconv.Namer
	files *files

	clock    clock
	owners   *ownerTable
	types    *typeTable
	labels   *labelTable
	stacks   *stackTable
	payloads payload.Encoder
	events   *table[tables.Event]
	losses   *table[tables.Loss]
	marks    *table[tables.Mark]
	parts    []derived
	item     item

	position         int64 // event_id of the latest event, loss or mark
	recorded         *recording.Range
	nanos, lossNanos int64 // ts_ns of the previous event and of the previous loss
	lost             int64

	// typedTables maps types to the names of their typed tables. The part that writes typed tables sets it in its
	// close, before Close writes the table event_types.
	typedTables map[*ntconv.Type]string

	done  Summary
	ended bool // Close or Abort has been called
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
	s := &Sink{
		info:      info,
		namer:     namer,
		clock:     newClock(info.Clock),
		types:     newTypeTable(),
		recorded:  recording.NewRange(info),
		nanos:     math.MinInt64,
		lossNanos: math.MinInt64,
	}
	if o != nil {
		s.o = *o
	}
	if namer == nil {
		s.namer = new(ntconv.NoNames)
	}
	s.files = &files{
		create: create, ordered: s.o.Ordered, selected: s.o.Tables,
		metadata: map[string]string{tables.VersionKey: strconv.Itoa(tables.Version)},
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.files.abort())
	}
	return s, nil
}

// open creates the tables that are written as events are read.
func (s *Sink) open() (err error) {
	open := func(f func() error) {
		if err == nil {
			err = f()
		}
	}
	open(func() (err error) { s.events, err = newTable[tables.Event](s.files); return err })
	open(func() (err error) { s.losses, err = newTable[tables.Loss](s.files); return err })
	open(func() (err error) { s.marks, err = newTable[tables.Mark](s.files); return err })
	open(func() (err error) { s.labels, err = newLabelTable(s.files); return err })
	open(func() error {
		modules, err := newModuleTable(s.files)
		if err != nil {
			return err
		}
		s.owners = newOwnerTable(modules)
		frames, err := newFrameTable(s.files, modules)
		if err != nil {
			return err
		}
		s.stacks, err = newStackTable(s.files, frames, s.namer, &spill{dir: s.o.TempDir, max: s.o.MaxTemp})
		return err
	})
	open(s.openParts)
	return err
}

// openParts creates the derived tables. Each part gets its tables from newTable and skips the work for tables that are
// not selected.
func (s *Sink) openParts() error {
	for _, open := range []func(*Sink) (derived, error){
		newTyped,
		newSamples,
		newSpans,
		newLogs,
		newCounters,
	} {
		part, err := open(s)
		if err != nil {
			return err
		}
		s.parts = append(s.parts, part)
	}
	return nil
}

// process returns the process_id of a process, or 0 for nil. A new process gets the next number.
func (s *Sink) process(p *ntconv.Process) int32 {
	if row := s.owners.process(p); row != nil {
		return row.id
	}
	return 0
}

// thread returns the thread_id of a thread, or 0 for nil. A new thread gets the next number.
func (s *Sink) thread(t *ntconv.Thread) int32 {
	if row := s.owners.thread(t); row != nil {
		return row.id
	}
	return 0
}

// Watch observes an event that a selection may omit: the next sample of a thread, for example, determines the weight of
// its previous sample. The sink does not keep e. It implements ntconv.Watcher.
func (s *Sink) Watch(e *ntconv.Event) {
	s.owners.learn(e)
	for _, p := range s.parts {
		p.watch(e)
	}
}

// errOwner is returned for an event whose row would have dangling references.
var errOwner = errors.New("event without a thread")

// Write writes an event, which must have a type and a thread. The sink does not keep e or its payload. If a file cannot
// be written, this or a later call returns the error.
func (s *Sink) Write(e *ntconv.Event) error {
	if s.events.broken != nil {
		return s.events.broken
	}
	s.position++
	s.item.id = s.position
	s.item.micros, s.item.nanos = s.clock.at(e.Time)
	switch e.Kind {
	case ntconv.KindEvent:
		if err := e.Check(); err != nil {
			return err
		}
		if e.Thread == nil {
			return errOwner
		}
		return s.event(e)
	case ntconv.KindLost:
		s.loss(e)
	default:
		for _, p := range s.parts { // callers need not call Watch for marks
			p.watch(e)
		}
		s.mark(e)
	}
	return nil
}

// Close writes the tables of processes, threads, types and stacks, and completes all files. It does nothing after Close
// or Abort.
func (s *Sink) Close() error {
	if s.ended {
		return nil
	}
	s.ended = true
	var errs []error
	for _, p := range s.parts {
		errs = append(errs, p.close())
	}
	errs = append(errs, s.events.close(), s.losses.close(), s.marks.close(), s.labels.rows.close())
	if errors.Join(errs...) == nil {
		errs = append(errs, s.stacks.finish(), s.writeDefinitions())
	}
	errs = append(errs, s.stacks.close())
	s.done.Tables = s.files.names
	return errors.Join(errs...)
}

// Abort ends the goroutines that write the files and closes the files, in place of Close; the set of tables is
// incomplete. It does nothing after Close.
func (s *Sink) Abort() error {
	if s.ended {
		return nil
	}
	s.ended = true
	errs := []error{s.files.abort(), s.stacks.spill.close()}
	for _, p := range s.parts {
		errs = append(errs, p.abort())
	}
	return errors.Join(errs...)
}

// writeDefinitions writes the tables whose rows are known only after the last event.
func (s *Sink) writeDefinitions() error {
	for _, p := range s.owners.processes {
		for _, m := range s.namer.Mappings(p.process) {
			s.owners.modules.id(p.id, m)
		}
	}
	return errors.Join(
		writeTable(s.files, func(rows *table[tables.TraceInfo]) { s.writeInfo(rows) }),
		writeTable(s.files, func(rows *table[tables.Attribute]) { s.writeAllAttributes(rows) }),
		writeTable(s.files, func(rows *table[tables.Process]) { s.owners.writeProcesses(rows, s.namer, &s.clock) }),
		writeTable(s.files, func(rows *table[tables.Thread]) { s.owners.writeThreads(rows, s.namer, &s.clock) }),
		writeTable(s.files, func(rows *table[tables.EventType]) { s.types.write(rows, s.typedTables, &s.payloads) }),
	)
}

// writeTable writes a complete table.
func writeTable[T any](files *files, write func(*table[T])) error {
	rows, err := newTable[T](files)
	if err != nil {
		return err
	}
	if !rows.discard {
		write(rows)
	}
	return rows.close()
}

// Summary returns what was written. It is complete after Close.
func (s *Sink) Summary() Summary { return s.done }
