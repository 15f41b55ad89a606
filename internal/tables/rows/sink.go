package rows

import (
	"errors"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/payload"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/internal/tables"
)

// A Sink produces the rows of the tables of a trace. It is not safe for concurrent use. Call Close or Abort even after
// an error, because they end the goroutines that pass rows to the Receiver.
type Sink struct {
	o     Options
	info  *ntconv.Info
	namer ntconv.Namer
	out   *output

	clock    clock
	owners   *ownerTable
	types    *typeTable
	labels   *labelTable
	stacks   *stackTable
	payloads payload.Encoder
	events   *table[tables.Event]
	losses   *table[tables.Loss]
	marks    *table[tables.Mark]
	parts    []Part
	item     Item

	position         int64 // event_id of the latest event, loss or mark
	recorded         *recording.Range
	nanos, lossNanos int64 // ts_ns of the previous event and of the previous loss
	lost             int64

	done  Summary
	ended bool // Close or Abort has been called
}

var _ ntconv.Watcher = (*Sink)(nil)

// A Summary counts rows.
type Summary struct {
	// Events, Samples, Spans and Logs are the numbers of rows of these tables. Raw is the number of events whose payload is
	// stored as bytes in addition, because JSON does not restore it; with Options.Raw it is 0.
	Events, Samples, Spans, Logs, Raw int64
	// Linked is the number of rows of samples with a span ID.
	Linked int64
	// Links counts the events that are samples, by the evidence that links them to spans: labels without Options.Active, and
	// none of the three without Options.Evidence.
	Links active.Counts
	// Long is the time of samples of the sample profiler, and the part of it that belongs to long ones.
	Long rounds.Long
}

// New returns a sink that passes the rows of all tables to the receiver, on one goroutine per table. The sink keeps
// info, which must not be nil. A nil namer resolves only stacks that carry their frames. A nil o selects the defaults.
// New returns an error of Receiver.Open.
func New(receiver Receiver, info *ntconv.Info, namer ntconv.Namer, o *Options) (*Sink, error) {
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
	s.out = &output{receiver: receiver, ordered: s.o.Ordered, selected: s.o.Tables}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.out.abort())
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
	open(func() (err error) { s.events, err = newTable[tables.Event](s.out); return err })
	open(func() (err error) { s.losses, err = newTable[tables.Loss](s.out); return err })
	open(func() (err error) { s.marks, err = newTable[tables.Mark](s.out); return err })
	open(func() (err error) { s.labels, err = newLabelTable(s.out); return err })
	open(func() error {
		modules, err := newModuleTable(s.out)
		if err != nil {
			return err
		}
		s.owners = newOwnerTable(modules)
		frames, err := newFrameTable(s.out, modules)
		if err != nil {
			return err
		}
		s.stacks, err = newStackTable(s.out, frames, s.namer, &spill{dir: s.o.TempDir, max: s.o.MaxTemp})
		return err
	})
	open(s.openParts)
	return err
}

// openParts creates the derived tables. Each part gets its tables from newTable and skips the work for tables that are
// not selected.
func (s *Sink) openParts() error {
	if s.o.Typed != nil {
		s.parts = append(s.parts, s.o.Typed)
	}
	for _, open := range []func(*Sink) (Part, error){
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

// Start returns the start of the recording in nanoseconds since 1970-01-01 UTC, as trace_info has it.
func (s *Sink) Start() int64 {
	_, nanos := s.clock.at(s.clock.Tick)
	return nanos
}

// Place returns the process_id of an event, 0 if unknown, and its time in nanoseconds since 1970-01-01 UTC, as columns
// have them.
func (s *Sink) Place(e *ntconv.Event) (process int32, nanos int64) {
	_, nanos = s.clock.at(e.Time)
	if e.Thread != nil {
		process = s.process(e.Thread.Process)
	}
	return process, nanos
}

// Watch observes an event that a selection may omit: the next sample of a thread, for example, determines the weight of
// its previous sample. The sink does not keep e. It implements ntconv.Watcher.
func (s *Sink) Watch(e *ntconv.Event) {
	s.owners.learn(e)
	for _, p := range s.parts {
		p.Watch(e)
	}
}

// errOwner is returned for an event whose row would have dangling references.
var errOwner = errors.New("event without a thread")

// Write writes an event, which must have a type and a thread. The sink does not keep e or its payload. If the
// Receiver returns an error, this or a later call returns it.
func (s *Sink) Write(e *ntconv.Event) error {
	if s.events.broken != nil {
		return s.events.broken
	}
	s.position++
	s.item.ID = s.position
	s.item.Micros, s.item.Nanos = s.clock.at(e.Time)
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
			p.Watch(e)
		}
		s.mark(e)
	}
	return nil
}

// Close writes the tables of processes, threads, types and stacks, and completes all tables. It does nothing after
// Close or Abort.
func (s *Sink) Close() error {
	if s.ended {
		return nil
	}
	s.ended = true
	var errs []error
	for _, p := range s.parts {
		errs = append(errs, p.Close())
	}
	errs = append(errs, s.events.close(), s.losses.close(), s.marks.close(), s.labels.rows.close())
	if errors.Join(errs...) == nil {
		errs = append(errs, s.stacks.finish(), s.writeDefinitions())
	}
	errs = append(errs, s.stacks.close())
	return errors.Join(errs...)
}

// Abort ends the goroutines and closes all Writers, in place of Close; the set of tables is incomplete. It does nothing after Close.
func (s *Sink) Abort() error {
	if s.ended {
		return nil
	}
	s.ended = true
	errs := []error{s.out.abort(), s.stacks.spill.close()}
	for _, p := range s.parts {
		errs = append(errs, p.Abort())
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
	var typed map[*ntconv.Type]string
	if s.o.Typed != nil {
		typed = s.o.Typed.Tables()
	}
	return errors.Join(
		writeTable(s.out, func(rows *table[tables.TraceInfo]) { s.writeInfo(rows) }),
		writeTable(s.out, func(rows *table[tables.Attribute]) { s.writeAllAttributes(rows) }),
		writeTable(s.out, func(rows *table[tables.Process]) { s.owners.writeProcesses(rows, s.namer, &s.clock) }),
		writeTable(s.out, func(rows *table[tables.Thread]) { s.owners.writeThreads(rows, s.namer, &s.clock) }),
		writeTable(s.out, func(rows *table[tables.EventType]) { s.types.write(rows, typed, &s.payloads) }),
	)
}

// writeTable writes a complete table.
func writeTable[T any](out *output, write func(*table[T])) error {
	rows, err := newTable[T](out)
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
