package profile

import (
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/origin"
)

// A set is the samples of one kind, one row per distinct key.
type set struct {
	kind Kind
	spec *spec
	pool *pool
	tags bool // the kind's own label is not dropped

	// Kind Imported only: the merged columns of the types in adopted, and the first defined type, with or without
	// samples.
	imported *origin.Columns
	adopted  []*ntconv.Type
	declared *ntconv.Type

	index  map[key]uint32 // maps keys to rows
	rows   []row
	values []int64 // len(spec.columns) values per row

	threads    map[*ntconv.Thread]*thread
	samplers   samplers[*thread]
	absent     func(*thread, ntconv.Ticks) // the method leave
	recording  *Recording                  // of all events, also of those that a selection omits
	nominal    uint64                      // sampling interval in ticks
	owners     []owner
	ids        map[owner]uint32
	end        ntconv.Ticks // end of the latest interval of a sample
	disordered bool         // a sample, selected or not, was earlier than a previous one of its thread or recorder
	unseen     Unseen

	m                          measurement
	events                     uint64
	noStack, late, undecodable tally
	wanted                     map[processStack]struct{} // stacks announced to the namer
}

// A key identifies a row while events are read.
type key struct{ stack, labels, owner, epoch, tag uint32 }

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

// A thread is the state of a thread's samples. The latest sample waits for its successor. The times are those of all
// samples of the trace, of which the profile may have only some.
type thread struct {
	sampleTimes
	process *ntconv.Process
	sampler *sampler[*thread] // recorder of the latest sample
	owner   uint32            // index into set.owners; noOwner until the profile has a sample of the thread
	recent  uint32            // row of the latest sample, or noRow: idle threads repeat the same stack
	pending uint32            // row that gets the time since the latest sample, or noRow
}

const (
	noRow   = ^uint32(0)
	noOwner = ^uint32(0)
)

// A tally counts occurrences and keeps the offset of the first one.
type tally struct {
	n      uint64
	offset int64
}

func (t *tally) add(e *ntconv.Event) {
	if t.n == 0 {
		t.offset = e.Offset
	}
	t.n++
}

func newSet(k Kind, p *pool, recording *Recording, nominal uint64) *set {
	s := &set{
		end: math.MinInt64, recording: recording, nominal: nominal,
		kind: k, spec: &specs[k], pool: p,
		index:   map[key]uint32{},
		threads: map[*ntconv.Thread]*thread{}, samplers: newSamplers[*thread](nominal),
		ids:    map[owner]uint32{},
		wanted: map[processStack]struct{}{},
	}
	s.absent = s.leave
	s.tags = s.spec.tag != "" && !p.drop[s.spec.tag]
	s.m.values = make([]int64, len(s.spec.columns))
	return s
}

// add counts an event of a matching type.
func (s *set) add(e *ntconv.Event, namer ntconv.Namer) {
	clear(s.m.values)
	s.m.tag = s.m.tag[:0]
	if !s.spec.measure(e, &s.m) {
		s.undecodable.add(e)
	}
	s.events++
	t := s.thread(e.Thread)
	if t.owner == noOwner {
		t.owner = s.owner(e.Thread)
	}
	k := key{stack: s.pool.stacks.ID(e.Stack), labels: s.pool.labels.id(e.Labels), owner: t.owner}
	if k.stack == 0 {
		s.noStack.add(e)
	} else {
		k.epoch = namer.Epoch(e.Thread.Process, e.Stack, e.Time)
	}
	if s.tags {
		k.tag = s.pool.tags.id(s.m.tag)
	}
	r := t.recent
	if r == noRow || s.rows[r].key != k {
		known := len(s.rows)
		if r = s.row(k); len(s.rows) > known && k.stack != 0 {
			s.want(e, k.stack, namer)
		}
		t.recent = r
	}
	row := &s.rows[r]
	row.first, row.last = min(row.first, e.Time), max(row.last, e.Time)
	n := len(s.m.values)
	sums := s.values[int(r)*n:][:n]
	for i, v := range s.m.values {
		addTo(&sums[i], v)
	}
	if s.spec.interval != noInterval {
		if !s.close(t, e) {
			s.late.add(e)
		} else {
			t.pending = r
		}
	}
}

// want announces a stack to the namer, once per process.
func (s *set) want(e *ntconv.Event, stack uint32, namer ntconv.Namer) {
	k := processStack{e.Thread.Process, stack}
	if _, known := s.wanted[k]; known {
		return
	}
	if w, ok := namer.(ntconv.AddressWanter); ok {
		s.wanted[k] = struct{}{}
		w.Want(e.Thread.Process, e.Stack)
	}
}

// A processStack is a stack of a process, because its addresses have other owners in another process.
type processStack struct {
	process *ntconv.Process
	stack   uint32
}

// row returns the row of a key and adds it if necessary.
func (s *set) row(k key) uint32 {
	r, ok := s.index[k]
	if !ok {
		r = uint32(len(s.rows))
		s.index[k] = r
		s.rows = append(s.rows, row{key: k, first: math.MaxInt64, last: math.MinInt64})
		for range s.spec.columns {
			s.values = append(s.values, 0)
		}
	}
	return r
}

func (s *set) thread(p *ntconv.Thread) *thread {
	t, ok := s.threads[p]
	if !ok {
		t = &thread{owner: noOwner, recent: noRow, pending: noRow}
		if p != nil {
			t.process = p.Process
		}
		s.threads[p] = t
	}
	return t
}

func (s *set) owner(t *ntconv.Thread) uint32 {
	var o owner
	if !s.pool.drop[LabelThreadID] {
		o.thread = t
	}
	if t != nil {
		o.process = t.Process
	}
	id, ok := s.ids[o]
	if !ok {
		id = uint32(len(s.owners))
		s.ids[o] = id
		s.owners = append(s.owners, o)
	}
	return id
}

// close ends the interval of a thread's latest sample at the time of e. It returns false if e is earlier than that
// sample: such a sample closes nothing and gets no time, because this time would be counted twice.
func (s *set) close(t *thread, e *ntconv.Event) bool {
	r := s.samplers.of(e.Thread, e.Capture)
	if !r.see(t, e.Time, s.absent) {
		s.disordered = true
	}
	s.unseen.end(&t.sampleTimes, e.Time)
	n, ok := t.advance(e.Time)
	if !ok {
		s.disordered = true
		return false
	}
	t.sampler = r
	if n > 0 {
		r.gaps.add(n)
	}
	s.weigh(t, n, e.Time)
	return true
}

// leave ends the interval of a thread's latest sample at the beginning of a round that did not see the thread.
func (s *set) leave(t *thread, since ntconv.Ticks) {
	n, ok := t.leave(since)
	if !ok {
		return
	}
	if n > 0 {
		t.sampler.gaps.add(n)
	}
	s.weigh(t, n, since)
}

// weigh adds ticks to the row of the pending sample, if there is one.
func (s *set) weigh(t *thread, ticks uint64, end ntconv.Ticks) {
	if t.pending == noRow {
		return
	}
	s.credit(t.pending, clamp(ticks))
	s.end = max(s.end, end)
	t.pending = noRow
}

// state applies a SampleWeight event: it replaces the interval of the thread's latest sample.
func (s *set) state(e *ntconv.Event) {
	if t, ok := s.threads[e.Thread]; ok {
		n := weightTicks(e)
		s.weigh(t, n, after(t.last, n))
		t.open = false
	}
}

// interrupt notes that events of a recorder are missing: here, or from here to the end if more is true.
func (s *set) interrupt(capture *ntconv.Thread, more bool) {
	if s.spec.interval == noInterval {
		return
	}
	if r := s.samplers.recorder(capture); r != nil {
		r.interrupt(more)
	} else if more {
		s.samplers.of(nil, capture).interrupt(more)
	}
}

// credit adds ticks to the interval column of a row.
func (s *set) credit(r uint32, ticks int64) {
	addTo(&s.values[int(r)*len(s.spec.columns)+s.spec.interval], ticks)
}

// remove ends the intervals of the given threads, which have exited, and discards their state.
func (s *set) remove(list []ntconv.ThreadSeq) {
	for i := range list {
		if t, ok := s.threads[list[i].Thread]; ok {
			s.last(t)
			delete(s.threads, list[i].Thread)
		}
	}
}

// last ends the interval of a thread's last sample.
func (s *set) last(t *thread) {
	if s.spec.interval == noInterval || t.pending == noRow {
		return
	}
	n := t.remaining(&t.sampler.gaps, s.nominal, s.recording.End(t.process))
	s.weigh(t, n, after(t.last, n))
}

// finish ends the intervals of all threads.
func (s *set) finish() {
	for _, t := range s.threads {
		s.last(t)
	}
	clear(s.threads)
}
