package profile

import (
	"math"
	"math/rand/v2"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/sample"
)

// A set is the samples of one kind, one row per distinct key.
type set struct {
	b       *Builder
	kind    sample.Kind
	spec    *meters.Spec
	pool    *pool
	columns []meters.Column
	main    int      // index in columns of the one to show first
	keys    []string // of labels from payloads
	kept    []bool   // by key: the labels that are not dropped
	leaf    int      // index in keys of the label whose value becomes the innermost frame, or noSubject

	// Kind Imported only: the merged columns of the types in adopted, and the first defined type, with or without
	// samples. part is scratch: values of a type that lacks some of the columns.
	imported  *imported.Columns
	adopted   []*ntconv.Type
	adoptions map[*ntconv.Type]*adoption
	latest    *ntconv.Type // the key of adoption in adoptions
	adoption  *adoption
	part      []int64
	declared  *ntconv.Type

	active bool              // samples are aggregated
	seen   uint64            // events that began samples while the set was not active
	meter  *meters.Collector // nil for kinds with Spec.Measure

	index  intern.Index // finds rows by key; numbers are those of rows plus 1
	secret uint64       // randomizes hashes of keys, so that input cannot cause collisions
	rows   []row
	values []int64 // len(columns) values per row

	threads *rounds.Threads[latestRow]
	owners  []owner
	ids     map[owner]uint32
	end     ntconv.Ticks // end of the latest interval of a sample

	o                          meters.Observation
	events                     uint64
	bySource                   []uint64    // samples by source
	variances                  [][]float64 // of the totals, by source and column
	noStack, late, undecodable meters.Tally
	wanted                     map[processStack]struct{} // stacks announced to the namer
}

// A key identifies a row while events are read.
type key struct {
	stack, labels, owner, epoch, tag uint32
	// source is an index of Spec.Sources, or of set.adopted if Builder.Separate was called.
	source uint32
}

// hash covers all members.
func (k *key) hash(secret uint64) uint64 {
	h := fold(uint64(k.stack)<<32|uint64(k.owner)^secret, spread)
	h = fold(h^(uint64(k.labels)<<32|uint64(k.tag)), spread)
	return fold(h^(uint64(k.epoch)<<32|uint64(k.source)), spread)
}

// spread is 2^64 divided by the golden ratio.
const spread = 0x9e3779b97f4a7c15

type row struct {
	key
	// Times of the earliest and the latest event. The stack is resolved at first; if OrderMatters returns false, it has
	// the same owners at last.
	first, last ntconv.Ticks
}

// An owner is the process and thread of a sample. thread is nil if thread IDs are dropped.
type owner struct {
	process *ntconv.Process
	thread  *ntconv.Thread
}

// A latestRow is the row of a thread's latest sample in the profile, which may have only some of the samples.
type latestRow struct {
	owner uint32 // index into set.owners; noOwner until the profile has a sample of the thread
	row   uint32 // or noRow: idle threads repeat the same stack
}

const (
	noRow   = ^uint32(0)
	noOwner = ^uint32(0)
)

func newSet(b *Builder, k sample.Kind, o *meters.Settings) *set {
	spec := &meters.Specs()[k]
	p := b.pool.of(k)
	s := &set{
		b: b, end: math.MinInt64, active: true,
		kind: k, spec: spec, pool: p, columns: o.Columns(spec), main: o.Main(spec), keys: o.Keys(spec), leaf: o.Leaf(spec),
		secret:  rand.Uint64(),
		threads: rounds.NewThreads[latestRow](b.info, b.all),
		ids:     map[owner]uint32{},
		wanted:  map[processStack]struct{}{}, adoptions: map[*ntconv.Type]*adoption{},
	}
	s.threads.Blank, s.threads.Ended = latestRow{owner: noOwner, row: noRow}, s.credit
	s.o = meters.NewObservation(len(s.columns), len(s.keys))
	if spec.Meter == nil {
		s.o.Variances = nil // a profiler's samples are counts
	}
	s.kept = meters.KeptTags(s.keys, &p.Tables, s.leaf)
	n := max(1, len(spec.Sources))
	s.bySource, s.variances = make([]uint64, n), make([][]float64, n)
	for i := range s.variances {
		s.variances[i] = make([]float64, len(s.columns))
	}
	if spec.Meter != nil {
		s.meter = meters.NewCollector(spec, &p.Tables, b.info, o)
		s.meter.Epoch, s.meter.Accept = s.epoch, s.accept
	}
	return s
}

// deactivate discards the samples so far. From now on, the set only counts events that begin samples.
func (s *set) deactivate() {
	if !s.active {
		return
	}
	s.active, s.seen, s.events = false, s.seen+s.events, 0
	s.rows, s.values, s.index = nil, nil, intern.Index{}
	s.threads.Clear()
}

// add counts an event of a matching type.
func (s *set) add(e *ntconv.Event) {
	s.o.Clear()
	adopted, ok := s.measure(e)
	if !ok {
		s.undecodable.Add(e.Offset)
	}
	t, late := s.threads.Of(e.Thread), false
	if s.spec.Interval != meters.NoInterval {
		_, ok := s.threads.Sample(e)
		late = !ok
	}
	if t.Data.owner == noOwner {
		t.Data.owner = s.owner(e.Thread)
	}
	k := key{stack: s.pool.stacks.ID(e.Stack), labels: s.pool.labels.id(e.Labels), owner: t.Data.owner}
	if s.b.separate {
		k.source = adopted
	}
	if k.stack != 0 {
		k.epoch = s.b.namer.Epoch(e.Thread.Process, e.Stack, e.Time)
	} else {
		s.noStack.Add(e.Offset)
	}
	k.tag = s.pool.Tags.Id(meters.OmitTags(s.o.Tags, s.kept))
	r := t.Data.row
	if r == noRow || s.rows[r].key != k {
		r = s.rowOf(k, meters.ProcessOf(e.Thread), e.Stack)
	}
	s.count(r, e.Time, s.o.Values)
	switch {
	case s.spec.Interval == meters.NoInterval:
		t.Data.row = r
	case late:
		s.late.Add(e.Offset)
	default:
		t.Data.row = r
		t.Wait(e.Time)
	}
}

// accept counts a sample of the meter.
func (s *set) accept(f *meters.Finished) {
	k := key{
		stack: s.pool.stacks.ID(f.Stack), labels: s.pool.labels.id(f.Labels), owner: s.ownerOf(f.Process(), f.Thread),
		epoch: f.Epoch, tag: f.Tags, source: uint32(f.Source),
	}
	if k.stack == 0 && !s.spec.Bare {
		s.noStack.Add(f.Offset)
	}
	s.count(s.rowOf(k, f.Process(), f.Stack), f.Time, f.Values)
	s.bySource[f.Source] += countOf(s.columns, f.Values)
	for i, v := range f.Variances {
		s.variances[f.Source][i] += v
	}
	s.end = max(s.end, f.End)
}

// epoch identifies the owners of the addresses of a place.
func (s *set) epoch(p *meters.Place) uint32 {
	if p.Stack == nil {
		return 0
	}
	return s.b.namer.Epoch(p.Process(), p.Stack, p.Time)
}

// rowOf returns the row of a key, and announces a new stack to the namer.
func (s *set) rowOf(k key, p *ntconv.Process, stack *ntconv.Stack) uint32 {
	known := len(s.rows)
	r := s.row(k)
	if len(s.rows) > known && k.stack != 0 {
		s.want(p, stack, k.stack)
	}
	return r
}

// count adds values to a row.
func (s *set) count(r uint32, at ntconv.Ticks, values []int64) {
	if s.events == 0 && (s.b.auto || s.b.rest) {
		s.b.claim(s)
	}
	s.events += countOf(s.columns, values)
	row := &s.rows[r]
	row.first, row.last = min(row.first, at), max(row.last, at)
	n := len(values)
	sums := s.values[int(r)*n:][:n]
	for i, v := range values {
		sums[i] = bin.AddClamped(sums[i], v)
	}
}

// countOf returns the number of what a kind counts in a sample: 0 for the pause of a collection that another sample
// counts, otherwise 1.
func countOf(columns []meters.Column, values []int64) uint64 {
	if len(columns) > 1 && columns[0].One && values[0] == 0 {
		return 0
	}
	return 1
}

// want announces a stack to the namer, once per process.
func (s *set) want(p *ntconv.Process, stack *ntconv.Stack, id uint32) {
	k := processStack{process: p, stack: id}
	if _, known := s.wanted[k]; known {
		return
	}
	s.wanted[k] = struct{}{}
	s.b.namer.Want(k.process, stack)
}

// A processStack is a stack of a process, because its addresses have other owners in another process.
type processStack struct {
	process *ntconv.Process
	stack   uint32
}

// row returns the row of a key and adds it if necessary.
func (s *set) row(k key) uint32 {
	p := s.index.Probe(k.hash(s.secret))
	for p.Next() {
		if s.rows[p.ID-1].key == k {
			return p.ID - 1
		}
	}
	r := uint32(len(s.rows))
	s.index.Insert(&p, r+1)
	s.rows = append(s.rows, row{key: k, first: math.MaxInt64, last: math.MinInt64})
	for range s.columns {
		s.values = append(s.values, 0)
	}
	return r
}

func (s *set) owner(t *ntconv.Thread) uint32 { return s.ownerOf(meters.ProcessOf(t), t) }

// ownerOf returns the number of a process and one of its threads, which may be nil.
func (s *set) ownerOf(p *ntconv.Process, t *ntconv.Thread) uint32 {
	o := owner{process: p}
	if !s.pool.Drop[meters.LabelThreadID] {
		o.thread = t
	}
	id, ok := s.ids[o]
	if !ok {
		id = uint32(len(s.owners))
		s.ids[o] = id
		s.owners = append(s.owners, o)
	}
	return id
}

// credit adds the interval of a thread's latest sample to its row.
func (s *set) credit(t *rounds.Thread[latestRow], ticks uint64, _ rounds.Ending) {
	sum := &s.values[int(t.Data.row)*len(s.columns)+s.spec.Interval]
	*sum = bin.AddClamped(*sum, bin.Clamped[int64](ticks))
	s.end = max(s.end, bin.AddClamped(t.At, bin.Clamped[ntconv.Ticks](ticks)))
}

// lost notes that events of a capture thread are missing here.
func (s *set) lost(capture *ntconv.Thread) {
	if s.meter != nil {
		s.meter.Lost(capture)
		return
	}
	if s.spec.Interval != meters.NoInterval {
		s.threads.Lost(capture)
	}
}

// remove ends the intervals of the given threads, which have exited, and discards their state.
func (s *set) remove(list []ntconv.ThreadSeq) {
	if s.meter != nil {
		s.meter.Removed(list)
	}
	s.threads.Remove(list)
}

// finish ends the intervals of all threads, omits the sources that are not used, and notes what is incomplete.
func (s *set) finish(report *ntconv.Report) {
	if s.meter != nil {
		s.meter.Finish(report)
	}
	s.threads.Finish()
	report.Note(ntconv.CodeNoStack, s.noStack.N, s.noStack.Offset, "")
	report.Note(ntconv.CodeOutOfOrder, s.late.N, s.late.Offset, s.spec.Kind.String()+" samples out of time order have no weight")
	s.threads.Note(report, s.b.info.Clock)
	report.Note(ntconv.CodePayload, s.undecodable.N, s.undecodable.Offset, s.spec.Kind.String()+" samples")
}
