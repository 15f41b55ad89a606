package split

import (
	"errors"
	"math"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile/rounds"
)

// Options configure a Splitter.
type Options struct {
	// Create returns the sink of a part, in the order of their numbers. The sink must number the events again
	// (writer.Options.Renumber). Splitter closes it: when the next part begins, or in Close if parts overlap in time.
	Create func(Part) (ntconv.Sink, error)
	// Part holds the members that all parts share: ID, Every, Input. ByTime states that the source is in time order.
	Part Part
}

// A Splitter is the sink of the second reading of a trace: it writes the parts. A source must deliver the same items as
// in the Scan. It is not safe for concurrent use.
//
//	state           set by                            cleared by
//	parts           open                              shut, for parts that follow each other
//	latest, rank    place                             - (rank: place, when latest grows)
//	losses          Write                             release, before the item that reveals them
//	symbols         event                             -
//	barrier         mark                              -
type Splitter struct {
	info    *ntconv.Info
	divider divider
	scan    *Scan
	create  func(Part) (ntconv.Sink, error)
	shared  Part
	byTime  bool
	ranked  bool
	dry     bool // measure parts during the Scan, which divides

	ids     *identities
	parts   []*part // nil for closed ones
	current *part   // of the previous item; nil before the first
	latest  ntconv.Ticks
	rank    uint64
	placed  int            // number of the part of the previous item
	thread  *ntconv.Thread // of added events in parts without a thread
	numbers numbers
	losses  []ntconv.Event // in order; Capture is that of the trace

	types   symbolTypes
	number  int64 // symbol events so far
	symbols symbolStore
	barrier ntconv.Ticks        // no later event is earlier, according to a mark
	marked  bool                // barrier is set
	weights *rounds.PartWeights // nil: not needed

	orderType, numbersType, replicaType *ntconv.Type

	event, added ntconv.Event // the item of the trace, and an event that is added
	payload      []byte       // of added
	list         []uint32
	labeler      recording.Labeler
	weightTypes  map[string]*ntconv.Type // types of added weights by name
	counts       Counts
}

// Counts are the numbers of events that a Splitter has written.
type Counts struct {
	Events   int64 `json:"-"`        // of the trace
	Replicas int64 `json:"replicas"` // copies of events of other parts
	Marks    int64 `json:"marks"`    // events that state order, numbers, and replicas that are marks
	Weights  int64 `json:"weights"`  // events that state the weights of samples
}

// A part is an open part.
type part struct {
	number int // from 0
	sink   ntconv.Sink
	latest ntconv.Ticks // position of the previous item, as Join derives it
	rank   uint64
	end    ntconv.Ticks            // latest time of an event
	used   map[*ntconv.Thread]bool // capture threads with an event, if parts overlap in time
	last   *ntconv.Thread          // latest element of used
	thread *ntconv.Thread          // of the events that a Splitter adds; nil before the first event
}

// New returns a Splitter for a trace that scan has read.
func New(info *ntconv.Info, scan *Scan, o *Options) (*Splitter, error) {
	s := &Splitter{
		info: info, scan: scan, create: o.Create, shared: o.Part, byTime: o.Part.ByTime, ranked: scan.every.Ranked(),
		ids: newIdentities(scan.ids.known),
	}
	if !scan.every.Process && scan.Parts() > 1 {
		s.weights = rounds.NewPartWeights(info)
	}
	s.shared.Count, s.shared.Ranked = scan.Parts(), s.ranked
	var err error
	s.divider, err = scan.again(info)
	s.reset()
	return s, err
}

func (s *Splitter) reset() {
	s.latest = math.MinInt64
	s.thread = &ntconv.Thread{TID: ntconv.TIDUnknown, Name: threadName}
	s.orderType, s.numbersType, s.replicaType = orderType(), numbersType(), replicaType()
}

// Counts returns the counts so far.
func (s *Splitter) Counts() Counts { return s.counts }

// Write implements ntconv.Sink.
func (s *Splitter) Write(e *ntconv.Event) error {
	s.ids.visit(e)
	if e.Kind == ntconv.KindEvent {
		return s.writeEvent(e)
	}
	if e.Kind == ntconv.KindLost {
		s.losses = append(s.losses, *e)
		return s.weigh(e)
	}
	if s.current == nil {
		if err := s.open(0, s.info.Clock.Tick); err != nil {
			return err
		}
	}
	if err := s.weigh(e); err != nil {
		return err
	}
	switch e.Kind {
	case ntconv.KindMark:
		return s.writeMark(e)
	case ntconv.KindDefine:
		return s.define(e)
	}
	if err := s.place(s.current, e); err != nil {
		return err
	}
	return s.current.sink.Write(e)
}

// define writes the declaration of a type or a thread to the current part. Its position does not matter.
func (s *Splitter) define(e *ntconv.Event) error {
	s.event = *e
	s.event.Type, s.event.Thread = s.ids.typ(e.Type), s.ids.thread(e.Thread)
	return s.current.sink.Write(&s.event)
}

// writeEvent writes an event to its part.
func (s *Splitter) writeEvent(e *ntconv.Event) error {
	p, err := s.partOf(e)
	if err != nil {
		return err
	}
	own := &s.event
	*own = *e
	own.Type, own.Thread, own.Capture = s.ids.typ(e.Type), s.ids.thread(e.Thread), s.ids.thread(e.Capture)
	p.thread = own.Capture
	if err := s.weigh(e); err != nil {
		return err
	}
	if err := s.place(p, own); err != nil {
		return err
	}
	if err := s.numberEvent(p, e); err != nil {
		return err
	}
	if err := p.write(own, s.ranked); err != nil {
		return err
	}
	s.counts.Events++
	if class := s.types.of(e.Type); class != notSymbols {
		return s.share(p, e)
	}
	return nil
}

// partOf returns the part of an event and opens it if the event is its first.
func (s *Splitter) partOf(e *ntconv.Event) (*part, error) {
	var n int
	if s.dry {
		n = len(s.scan.cuts) - 1
	} else {
		n, _ = s.divider.part(e)
	}
	if s.current != nil && s.current.number == n {
		return s.current, nil
	}
	if n < len(s.parts) {
		s.current = s.parts[n]
		return s.current, nil
	}
	if s.current != nil && !s.ranked {
		if err := s.shut(s.current); err != nil {
			return nil, err
		}
	}
	at := max(s.latest, e.Time)
	if !s.byTime && s.marked {
		at = s.barrier
	}
	if s.current == nil {
		at = e.Time
	}
	err := s.open(n, at)
	return s.current, err
}

// open begins part n and writes the symbols of the trace so far with the given time.
func (s *Splitter) open(n int, at ntconv.Ticks) error {
	d := s.shared
	d.Number, d.Value = n+1, s.scan.value(n)
	if n > 0 && !s.ranked {
		d.Begin = at
	}
	sink, err := s.create(d)
	if err != nil {
		return err
	}
	p := &part{number: n, sink: sink, latest: math.MinInt64, end: math.MinInt64, used: map[*ntconv.Thread]bool{}}
	s.parts = append(s.parts, p)
	s.current = p
	if s.dry {
		return nil // the size of a part is that of its own events
	}
	where := recording.Before
	if s.ranked {
		where = recording.Other
	}
	return s.replicateAll(p, s.symbols.events, at, where)
}

// replicateAll writes copies of the symbol events that a part needs.
func (s *Splitter) replicateAll(p *part, list []symbolEvent, at ntconv.Ticks, where string) error {
	methods := map[uint64]bool{}
	for i := range list {
		if x := &list[i]; x.kind == codeSymbol && s.needs(p, x) {
			methods[x.method] = true
		}
	}
	for i := range list {
		x := &list[i]
		if !s.needs(p, x) || x.kind == codeMap && !methods[x.method] {
			continue
		}
		if err := s.replicate(p, x, at, where); err != nil {
			return err
		}
	}
	return nil
}

// needs reports whether a part needs a symbol event of another one.
func (s *Splitter) needs(p *part, x *symbolEvent) bool {
	if x.part == p.number || x.kind == codeSymbol && !s.scan.stacks.overlaps(p.number, x.first, x.last) {
		return false
	}
	return !s.scan.every.Process || x.refs != (ref{}) && slices.Contains(s.scan.users[x.refs], p.number)
}

// share keeps a symbol event of part p for later parts, and writes it to the other open parts.
func (s *Splitter) share(p *part, e *ntconv.Event) error {
	s.number++
	if recording.IsCopy(e) {
		return nil // of an earlier split
	}
	s.symbols.add(e, s.ids.typ(e.Type), s.ids.thread(e.Thread), s.number, p.number)
	if !s.ranked {
		return nil
	}
	x := &s.symbols.events[len(s.symbols.events)-1]
	for _, other := range s.parts {
		if s.needs(other, x) {
			if err := s.replicate(other, x, e.Time, recording.Other); err != nil {
				return err
			}
		}
	}
	return nil
}

// replicate writes a copy of a symbol event to a part.
func (s *Splitter) replicate(p *part, x *symbolEvent, at ntconv.Ticks, where string) error {
	s.counts.Replicas++
	s.added = ntconv.Event{
		Time: at, CPU: x.cpu, Offset: -1, Type: x.typ, Thread: x.thread, Capture: x.thread,
		Labels: s.labeler.Labels(x.labels, where), Payload: x.payload,
	}
	return p.write(&s.added, s.ranked)
}

// shut completes a part: it writes the symbols that the trace states later, and the weights of samples that last longer
// than the part.
func (s *Splitter) shut(p *part) error {
	if !s.dry {
		if err := s.addLate(p); err != nil {
			return err
		}
	}
	s.parts[p.number] = nil
	return p.sink.Close()
}

// addLate writes the symbols that the trace states after a part, with the time of the part's last event.
func (s *Splitter) addLate(p *part) error {
	late := s.scan.late.events
	first, _ := slices.BinarySearchFunc(late, s.number+1, func(x symbolEvent, n int64) int { return int(x.number - n) })
	at := p.end
	if at == math.MinInt64 {
		at = s.info.Clock.Tick
	}
	if err := s.replicateAll(p, late[first:], at, recording.After); err != nil {
		return err
	}
	return s.lateWeights(p, at)
}

// Close implements ntconv.Sink. A trace without events has one part.
func (s *Splitter) Close() error {
	var errs []error
	if s.current == nil {
		if err := s.open(0, s.info.Clock.Tick); err != nil {
			return err
		}
	}
	errs = append(errs, s.endWeights())
	for _, p := range s.parts {
		if p != nil {
			errs = append(errs, s.shut(p))
		}
	}
	return errors.Join(errs...)
}

// write writes an event to the part's sink.
func (p *part) write(e *ntconv.Event, ranked bool) error {
	p.end = max(p.end, e.Time)
	if ranked && e.Capture != p.last {
		p.last = e.Capture
		p.used[e.Capture] = true
	}
	return p.sink.Write(e)
}
