// Package merge reads several traces as one, in time order.
package merge

import (
	"container/heap"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
)

// ByTime returns the events of all sources in time order; events of equal time are in the order of the sources. Each
// source must be in time order. If the clocks differ, ByTime converts times to the first source's frequency, or to 1 GHz
// if the frequencies differ, and rounds up to the next tick. A source without a wall clock starts with the first source
// that has one.
//
// A process whose ID is taken by another source gets the next free ID; its own goes into the attribute ntconv.AttrPID. If a
// source restarts the sequence numbers of a capture thread, the merged numbers continue. ByTime drops table flushes,
// because a flush would apply to all sources. ByTime of one source returns that source.
//
// If a source fails, the others continue; Next returns the combined error after all sources have ended.
func ByTime(sources ...ntconv.Source) ntconv.Source {
	if len(sources) == 1 {
		return sources[0]
	}
	m := &merged{taken: map[hostPID]uint64{}}
	m.info = m.merge(sources)
	return m
}

// Options state what ByTime cannot know of its sources. Each slice has one element per source, or is nil.
type Options struct {
	// Hosts are the machines of sources whose processes do not name theirs (Process.Host). "" leaves them without one.
	// Unlike ByTime, With gives processes of different machines different IDs, for readers that know only IDs.
	Hosts []string
	// Spaces are numbers of process ID spaces: equal IDs of sources with equal numbers are one process. nil means that
	// all spaces differ.
	Spaces []int
	// Origins are names of the sources. They become the attribute ntconv.AttrOrigin of threads; "" adds none.
	Origins []string
}

// With is ByTime with what the caller knows of the sources. It also accepts a single source.
func With(o *Options, sources ...ntconv.Source) ntconv.Source {
	m := &merged{taken: map[hostPID]uint64{}, options: o, assigned: map[processInSpace]uint64{}}
	m.info = m.merge(sources)
	return m
}

// A merged is the source that ByTime and With return.
type merged struct {
	info   *ntconv.Info
	inputs []*mergeInput // inputs that have not ended, as a heap by the time of their next event
	begun  bool
	out    *mergeInput // input of the event that Next returned last; nil if it is in the heap
	failed error       // combined error of the inputs that have failed
	err    error       // final error of Next, once all inputs have ended
	// taken maps each ID that a process has to a higher ID that may be free. No ID between the two is free.
	taken map[hostPID]uint64
	event ntconv.Event

	options  *Options                  // nil: ByTime
	assigned map[processInSpace]uint64 // IDs of the processes so far; With only
}

// A processInSpace identifies a process: by its machine, its process ID space on it, and its recorded ID.
type processInSpace struct {
	host  string
	space int
	pid   uint64
}

type hostPID struct {
	host string
	pid  uint64
}

// A mergeInput is a source with its next event.
type mergeInput struct {
	src       ntconv.Source
	order     int
	clock     ntconv.Clock
	to        ntconv.Clock
	same      bool // times need no conversion
	next      *ntconv.Event
	time      ntconv.Ticks
	processes map[*ntconv.Process]*ntconv.Process
	described map[hostPID]renamed
	threads   map[*ntconv.Thread]*mergedThread
	restarts  int // number of restarts of its sequence numbers
	marks     map[*ntconv.Mark]*ntconv.Mark
}

// A mergedThread is the merged counterpart of a thread of an input. If the input restarts its numbers after a flush of
// its thread table, the merged numbers continue, because the flush is not part of the result.
type mergedThread struct {
	*ntconv.Thread
	shift    uint32 // merged number minus number of the input
	last     uint32 // last merged number of an event, including lost ones; 0 before the first
	restarts int    // restarts of the input at that time
}

// A renamed is the first description of a process, and its merged counterpart.
type renamed struct{ from, to *ntconv.Process }

// merge chooses the clock and builds the inputs.
func (m *merged) merge(sources []ntconv.Source) *ntconv.Info {
	if len(sources) == 0 {
		return &ntconv.Info{Format: "nothing", Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}
	}
	first := sources[0].Info()
	info := &ntconv.Info{
		Format:      first.Format,
		Clock:       first.Clock,
		PointerSize: first.PointerSize,
		Aggregate:   true,
	}
	known := make(map[string]bool) // keys of attributes of earlier sources
	for _, s := range sources {
		i := s.Info()
		if i.Clock.Freq != info.Clock.Freq {
			info.Clock.Freq = 1e9
		}
		if i.Format != info.Format {
			info.Format = "several formats"
		}
		info.PointerSize = max(info.PointerSize, i.PointerSize)
		info.Aggregate = info.Aggregate && i.Aggregate
		for _, a := range i.Attrs {
			if !known[a.Key] {
				info.Attrs = append(info.Attrs, a)
			}
		}
		for _, a := range i.Attrs {
			known[a.Key] = true
		}
		if w := i.Clock.Wall; !w.IsZero() && (info.Clock.Wall.IsZero() || w.Before(info.Clock.Wall)) {
			info.Clock.Wall = w
		}
	}
	for n, s := range sources {
		c := s.Info().Clock
		m.inputs = append(m.inputs, &mergeInput{
			src: s, order: n, clock: c, to: info.Clock, same: c == info.Clock,
			processes: map[*ntconv.Process]*ntconv.Process{}, described: map[hostPID]renamed{},
			threads: map[*ntconv.Thread]*mergedThread{}, marks: map[*ntconv.Mark]*ntconv.Mark{},
		})
	}
	return info
}

func (m *merged) Info() *ntconv.Info { return m.info }

func (m *merged) Next() (*ntconv.Event, error) {
	if m.err != nil {
		return nil, m.err
	}
	if !m.begun {
		m.begun = true
		inputs := m.inputs
		m.inputs = nil
		for _, in := range inputs {
			m.advance(in)
		}
	}
	if m.out != nil {
		in := m.out
		m.out = nil
		m.advance(in)
	}
	if len(m.inputs) == 0 {
		if m.err = m.failed; m.err == nil {
			m.err = io.EOF
		}
		return nil, m.err
	}
	in := heap.Pop((*mergeHeap)(m)).(*mergeInput)
	m.out = in
	m.event = *in.next
	m.translate(in, &m.event)
	return &m.event, nil
}

// advance reads the next event of an input and adds the input to the heap, unless it has ended or failed.
func (m *merged) advance(in *mergeInput) {
	e, err := in.src.Next()
	if err != nil {
		switch {
		case err == io.EOF:
		case m.failed == nil:
			m.failed = err
		default:
			m.failed = fmt.Errorf("%w; %w", m.failed, err)
		}
		return
	}
	in.next = e
	if e.Kind == ntconv.KindEvent || e.Kind == ntconv.KindMark || e.Kind == ntconv.KindLost {
		in.time = in.convert(e.Time)
	}
	heap.Push((*mergeHeap)(m), in)
}

// convert returns a time on the clock of the result.
func (in *mergeInput) convert(t ntconv.Ticks) ntconv.Ticks {
	if in.same {
		return t
	}
	since := in.clock.Since(in.clock.Tick, t)
	if !in.clock.Wall.IsZero() && !in.to.Wall.IsZero() {
		since += in.clock.Wall.Sub(in.to.Wall)
	}
	return in.to.TicksAt(since)
}

// translate converts an event of an input to an event of the result.
func (m *merged) translate(in *mergeInput, e *ntconv.Event) {
	e.Time = in.time
	e.Offset = -1
	e.Flags |= ntconv.FlagSorted
	if e.Thread != nil {
		e.Thread = m.thread(in, e.Thread).Thread
	}
	if e.Capture != nil {
		t := m.thread(in, e.Capture)
		e.Capture = t.Thread
		switch {
		case e.Kind == ntconv.KindLost && t.restarts != in.restarts:
			t.last += uint32(e.Lost)
		case e.Kind == ntconv.KindEvent && e.Seq != 0:
			e.Seq = t.number(e.Seq, in.restarts)
		}
	}
	if e.Mark == nil {
		return
	}
	// Marks lose their flags, because a flush applies to the tables of one input only.
	mark := in.marks[e.Mark]
	if mark == nil {
		mark = &ntconv.Mark{Kind: e.Mark.Kind, Threads: make([]ntconv.ThreadSeq, 0, len(e.Mark.Threads))}
		for _, t := range e.Mark.Threads {
			if t.Thread == nil {
				mark.Threads = append(mark.Threads, t)
				continue
			}
			out := m.thread(in, t.Thread)
			seq := t.Seq + out.shift
			if int32(seq-out.last) > 0 {
				out.last = seq // numbers of lost events count as used
			}
			mark.Threads = append(mark.Threads, ntconv.ThreadSeq{Thread: out.Thread, Seq: seq})
		}
		clear(in.marks)
		in.marks[e.Mark] = mark
	}
	if e.Mark.Flags&ntconv.MarkFlushThreads != 0 {
		in.restarts++
	}
	e.Mark = mark
}

// number returns the number of an event in the result.
func (t *mergedThread) number(seq uint32, restarts int) uint32 {
	if t.restarts != restarts && t.last != 0 {
		t.shift = t.last + 1 - seq
	}
	t.restarts, t.last = restarts, seq+t.shift
	return t.last
}

func (m *merged) thread(in *mergeInput, t *ntconv.Thread) *mergedThread {
	out := in.threads[t]
	if out == nil {
		c := *t
		c.Process = m.process(in, t.Process)
		origin := m.origin(in)
		if origin != "" {
			c.Attrs = append(slices.Clone(t.Attrs), ntconv.Attr{Key: ntconv.AttrOrigin, Value: origin})
		}
		if out = (&mergedThread{Thread: &c}); c.Process == t.Process && origin == "" {
			out.Thread = t
		}
		in.threads[t] = out
	}
	return out
}

// process returns the merged counterpart of a process, with an ID that no other input has.
func (m *merged) process(in *mergeInput, p *ntconv.Process) *ntconv.Process {
	if p == nil {
		return nil
	}
	out := in.processes[p]
	if out != nil {
		return out
	}
	if m.options != nil {
		return m.processOf(in, p)
	}
	key := hostPID{p.Host, p.PID}
	if as, known := in.described[key]; known { // another description of the same process
		if out = p; as.to != as.from {
			c := *p
			c.PID, c.Attrs = as.to.PID, as.to.Attrs
			out = &c
		}
		in.processes[p] = out
		return out
	}
	out = p
	if _, taken := m.taken[key]; taken && p.PID != 0 {
		c := *p
		c.Attrs = append(slices.Clone(p.Attrs), ntconv.Attr{Key: ntconv.AttrPID, Value: strconv.FormatUint(p.PID, 10)})
		c.PID = m.free(key)
		out = &c
	}
	m.take(hostPID{p.Host, out.PID})
	in.processes[p], in.described[key] = out, renamed{p, out}
	return out
}

// origin returns the name of an input, or "".
func (m *merged) origin(in *mergeInput) string {
	if m.options == nil || m.options.Origins == nil {
		return ""
	}
	return m.options.Origins[in.order]
}

// processOf is process for MergeWith: no two processes have the same ID, unless their spaces are equal.
func (m *merged) processOf(in *mergeInput, p *ntconv.Process) *ntconv.Process {
	c := *p
	if p.Host == "" && m.options.Hosts != nil {
		c.Host = m.options.Hosts[in.order]
	}
	id := processInSpace{c.Host, in.order, p.PID}
	if m.options.Spaces != nil {
		id.space = m.options.Spaces[in.order]
	}
	pid, known := m.assigned[id]
	if !known {
		if pid = p.PID; pid != 0 {
			pid = m.free(hostPID{pid: pid})
		}
		m.assigned[id] = pid
		m.take(hostPID{pid: pid})
	}
	out := p
	if c.PID = pid; pid != p.PID {
		c.Attrs = append(slices.Clone(p.Attrs), ntconv.Attr{Key: ntconv.AttrPID, Value: strconv.FormatUint(p.PID, 10)})
	}
	if pid != p.PID || c.Host != p.Host {
		out = &c
	}
	in.processes[p] = out
	return out
}

func (m *merged) take(k hostPID) {
	if _, taken := m.taken[k]; !taken {
		m.taken[k] = max(k.pid+1, 1)
	}
}

// free returns the next free ID from an ID on. It updates the IDs that it has visited, so that later calls skip them.
func (m *merged) free(from hostPID) uint64 {
	at := from
	for {
		next, taken := m.taken[at]
		if !taken {
			break
		}
		at.pid = next
	}
	for from != at {
		next := m.taken[from]
		m.taken[from] = at.pid
		from.pid = next
	}
	return at.pid
}

// A mergeHeap orders inputs by the time of their next event, then by their position.
type mergeHeap merged

func (h *mergeHeap) Len() int { return len(h.inputs) }
func (h *mergeHeap) Less(i, j int) bool {
	a, b := h.inputs[i], h.inputs[j]
	if a.time != b.time {
		return a.time < b.time
	}
	return a.order < b.order
}
func (h *mergeHeap) Swap(i, j int) { h.inputs[i], h.inputs[j] = h.inputs[j], h.inputs[i] }
func (h *mergeHeap) Push(x any)    { h.inputs = append(h.inputs, x.(*mergeInput)) }
func (h *mergeHeap) Pop() any {
	last := h.inputs[len(h.inputs)-1]
	h.inputs = h.inputs[:len(h.inputs)-1]
	return last
}
