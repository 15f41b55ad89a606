package imported

import (
	"encoding/binary"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/spool"
)

// A Profile is what Source must know about a profile after reading all of it.
type Profile struct {
	Format string // of Info
	// Origin describes the profile for a later conversion back. Source sets its sample types. Default may name a sample
	// type that the profile does not have.
	Origin Origin
	// Frame returns the frame with a number. Source clears FrameInlined in outermost frames.
	Frame func(uint32) ntconv.Frame
	// Wall is the wall-clock time at time 0. If it is the zero Time, the earliest time becomes the start of the trace.
	Wall time.Time
	// Aggregate means that times are synthetic, because the profile has none.
	Aggregate bool
	// Event converts a record to events. It returns an event with all members except Seq, Capture and Flags, borrowed
	// until the next call, and nil after the last event of a record. data is nil in all calls for a record except the
	// first.
	Event func(at ntconv.Ticks, data []byte) (*ntconv.Event, error)
}

// A Source yields a profile in time order. Its errors are not final, and its temporary file is that of the
// Builder: see spool.NewSource. Profile.Event may call its methods Thread and Stack.
//
// The spool sorts samples and records by time. A record may yield several events: while open is set, next asks
// Profile.Event for another one before it reads the spool. values is reused for every sample.
type Source struct {
	Samples
	p       Profile
	threads []owner
	stacks  stacks
	reader  *spool.Reader
	origin  int64   // time of SyncTick
	values  []int64 // empty if the profile has no sample types

	defined bool
	open    bool // Profile.Event may have another event for the record
	at      ntconv.Ticks
}

// Source returns a source of the events of the profile. The Builder must not be used afterwards. Errors are those of
// the temporary file.
func (b *Builder) Source(p Profile) (*Source, error) {
	s := &Source{
		p: p, threads: b.threads, values: make([]int64, len(b.columns)),
		stacks: stacks{tree: &b.tree, frames: p.Frame, limit: b.o.Limits.Stack, report: b.o.Report},
	}
	// Without a wall clock, or with times before it, the earliest time becomes the start of the trace.
	if b.first < 0 || p.Wall.IsZero() {
		s.origin = min(b.first, MaxTime)
	}
	if !p.Wall.IsZero() {
		p.Wall = p.Wall.Add(time.Duration(s.origin))
	}
	o, weight := &p.Origin, Weight{}
	if o.Types = b.columns; len(o.Types) > 0 {
		weight = b.weights[o.Main()]
		weight.Choose()
		o.Default = o.Types[o.Main()].Type
	}
	s.Samples = NewSamples(p.Format, o, weight, p.Wall, b.o.Report)
	s.info.Aggregate = p.Aggregate
	s.setCPUs(b.cpus)
	var err error
	s.reader, err = b.spool.Read()
	return s, err
}

// Open returns the source that read makes of the Builder, with its temporary file. If read fails, it removes the file.
func (b *Builder) Open(read func() (ntconv.Source, error)) (ntconv.SourceCloser, error) {
	src, err := read()
	if err != nil {
		_ = b.Close() // the first error counts
		return nil, err
	}
	return spool.NewSource(src, b.Close), nil
}

// Next implements ntconv.Source.
func (s *Source) Next() (*ntconv.Event, error) {
	if !s.defined {
		if s.defined = true; len(s.values) > 0 {
			return s.Definition(), nil
		}
	}
	for {
		if e, err := s.next(); e != nil || err != nil {
			return e, err
		}
	}
}

// next returns the next event, and nil if the current record has no further one.
func (s *Source) next() (*ntconv.Event, error) {
	var data []byte
	if !s.open {
		key, record, err := s.reader.Next()
		if err != nil {
			return nil, err
		}
		s.at = SyncTick + ntconv.Ticks(key.Time-s.origin)
		switch record[0] {
		case kindSample:
			return s.sample(record[1:], 0)
		case kindOnCPU:
			cpu, n := binary.Uvarint(record[1:])
			return s.sample(record[1+n:], int32(cpu))
		}
		data, s.open = record[1:], true
	}
	e, err := s.p.Event(s.at, data)
	if e == nil {
		s.open = false
		return nil, err
	}
	e.Seq, e.Capture, e.Flags = s.Seq(), s.Capture, e.Flags|ntconv.FlagSorted
	return e, err
}

// sample creates the event for a sample.
func (s *Source) sample(record []byte, cpu int32) (*ntconv.Event, error) {
	thread, n := binary.Uvarint(record)
	record = record[n:]
	node, n := binary.Uvarint(record)
	record = record[n:]
	clear(s.values)
	for len(record) > 0 {
		v, n := binary.Varint(record[1:])
		s.values[record[0]] = v
		record = record[1+n:]
	}
	o := &s.threads[thread]
	return s.Event(&Sample{Time: s.at, Offset: -1, CPU: cpu, Thread: o.thread, Labels: o.labels, Stack: s.stacks.of(Node(node)), Values: s.values}), nil
}

// Thread returns the thread with the number n. The Source owns it.
func (s *Source) Thread(n uint32) *ntconv.Thread { return s.threads[n].thread }

// Stack returns the stack of a node, and nil if it has no frames. The Source owns it.
func (s *Source) Stack(n Node) *ntconv.Stack { return s.stacks.of(n) }
