package imported

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
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

// syncTick is the tick at which the trace begins, in nanoseconds. It is not 0, because some readers treat 0 as unknown.
const syncTick = 1_000_000_000

// maxAttrs is the maximum size of a type's attributes in bytes: a metadata row of a nettrace file has at most 65,535
// bytes.
const maxAttrs = 48 << 10

// A Source yields a profile in time order. It implements ntconv.Source and io.Closer, and is not safe for concurrent
// use. Profile.Event may call its methods Thread and Stack.
// The spool sorts samples and records by time. A record may yield several events: while open is set, next asks
// Profile.Event for another one before it reads the spool. event, values and payload are reused for every sample.
type Source struct {
	p       Profile
	info    ntconv.Info
	threads []owner
	stacks  stacks
	spool   *spool.Spool
	reader  *spool.Reader
	origin  int64 // time of syncTick

	typ     *ntconv.Type // nil if the profile has no sample types
	weight  Weight
	values  []int64
	payload []byte
	capture *ntconv.Thread

	defined bool
	open    bool // Profile.Event may have another event for the record
	at      ntconv.Ticks
	seq     uint32
	event   ntconv.Event
	err     error
}

// Source returns a source of the events of the profile. The Builder must not be used afterwards. Errors are those of
// the temporary file.
func (b *Builder) Source(p Profile) (*Source, error) {
	s := &Source{
		p: p, threads: b.threads, spool: b.spool, capture: &ntconv.Thread{Process: &ntconv.Process{PID: 0}},
		stacks: stacks{tree: &b.tree, frames: p.Frame, limit: b.o.Limits.Stack, report: b.o.Report},
	}
	// Without a wall clock, or with times before it, the earliest time becomes the start of the trace.
	if b.first < 0 || p.Wall.IsZero() {
		s.origin = min(b.first, MaxTime)
	}
	s.info = ntconv.Info{
		Format: p.Format, PointerSize: 8, Aggregate: p.Aggregate,
		Clock: ntconv.Clock{Freq: 1e9, Tick: syncTick},
		Attrs: ntconv.Attrs{{Key: "HardwareThreadCount", Value: "1"}}, // all samples are of CPU 0
	}
	if !p.Wall.IsZero() {
		s.info.Clock.Wall = p.Wall.Add(time.Duration(s.origin))
	}
	if n := p.Origin.Period; n > 0 && p.Origin.PeriodType.Unit == "nanoseconds" {
		s.info.Attrs = append(s.info.Attrs, ntconv.Attr{Key: "ExpectedCPUSamplingRate", Value: fmt.Sprint(n)})
	}
	s.describe(b)
	var err error
	s.reader, err = b.spool.Read()
	return s, err
}

// describe creates the event type of the samples.
func (s *Source) describe(b *Builder) {
	o := s.p.Origin
	if o.Types = b.columns; len(o.Types) == 0 {
		return
	}
	s.weight = b.weights[o.Main()]
	s.weight.Choose()
	o.Default = o.Types[o.Main()].Type
	size := 0
	for i, c := range o.Comments {
		if size += len(c); size > maxAttrs {
			b.o.Report.Note(ntconv.CodeNotCarried, 1, -1, "comments of more than 48 KiB")
			o.Comments = o.Comments[:i]
			break
		}
	}
	s.values = make([]int64, len(o.Types))
	s.typ = &ntconv.Type{
		Provider: clr.UniversalEvents, ID: 1, Name: "cpu", Fields: o.Fields(),
		Attrs: append(o.Attrs(), s.weight.Attrs(o.Types[s.weight.Column].Type)...),
	}
}

// Info implements ntconv.Source.
func (s *Source) Info() *ntconv.Info { return &s.info }

// Next implements ntconv.Source.
func (s *Source) Next() (*ntconv.Event, error) {
	if !s.defined { // so that a profile without samples keeps its description
		s.defined = true
		if s.typ != nil {
			s.event = ntconv.Event{Kind: ntconv.KindDefine, CPU: ntconv.CPUUnknown, Offset: -1, Type: s.typ}
			return &s.event, nil
		}
	}
	for s.err == nil {
		var e *ntconv.Event
		if e, s.err = s.next(); e != nil && s.err == nil {
			return e, nil
		}
	}
	return nil, s.err
}

// next returns the next event, and nil if the current record has no further one.
func (s *Source) next() (*ntconv.Event, error) {
	var data []byte
	if !s.open {
		key, record, err := s.reader.Next()
		if err != nil {
			return nil, err
		}
		s.at = syncTick + ntconv.Ticks(key.Time-s.origin)
		if record[0] == kindSample {
			return s.sample(record[1:])
		}
		data, s.open = record[1:], true
	}
	e, err := s.p.Event(s.at, data)
	if e == nil {
		s.open = false
		return nil, err
	}
	s.seq++
	e.Seq, e.Capture, e.Flags = s.seq, s.capture, e.Flags|ntconv.FlagSorted
	return e, err
}

// sample creates the event for a sample.
func (s *Source) sample(record []byte) (*ntconv.Event, error) {
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
	s.seq++
	s.payload = s.weight.AppendTo(s.payload[:0], s.values)
	s.event = ntconv.Event{
		Kind: ntconv.KindEvent, Flags: ntconv.FlagSorted, Seq: s.seq, Time: s.at, Offset: -1,
		Type: s.typ, Thread: o.thread, Labels: o.labels, Capture: s.capture, Stack: s.stacks.of(Node(node)), Payload: s.payload,
	}
	return &s.event, nil
}

// Thread returns the thread with the number n. The Source owns it.
func (s *Source) Thread(n uint32) *ntconv.Thread { return s.threads[n].thread }

// Stack returns the stack of a node, and nil if it has no frames. The Source owns it.
func (s *Source) Stack(n Node) *ntconv.Stack { return s.stacks.of(n) }

// Close removes temporary files. It may be called more than once.
func (s *Source) Close() error {
	if s.err == nil {
		s.err = io.ErrClosedPipe
	}
	return s.spool.Close()
}
