package profile

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/ntconv/ntconv"
)

// Weights is a source of the selected events of a trace, and of events that state the weights of selected samples
// wherever the selected events alone would give other weights. A profile of them equals that of the selection from the
// whole trace. It replaces events of this kind in its input, so that selections of selections compose. It is not safe
// for concurrent use.
//
// It follows the rounds of all samples of the input. As long as no sample of a recorder is omitted, a reader of the
// output finds the same rounds and nothing is stated. The first omitted sample of a recorder becomes SamplesOmitted, from
// which on the reader trusts no rounds and Weights states each interval that does not end at a selected sample.
//
// Samples of a thread that are not in time order have no certain weight. Weights notes them in its report.
type Weights struct {
	src     ntconv.Source
	keep    func(*ntconv.Event) bool
	report  *ntconv.Report
	nominal uint64 // sampling interval in ticks

	types    weightTypes
	threads  map[*ntconv.Thread]*weighed
	created  int // threads so far
	samplers samplers[*weighed]
	partial  map[*sampler[*weighed]]bool // recorders with an omitted sample, here or in the input
	absent   func(*weighed, ntconv.Ticks)
	all      *Recording
	omitted  bool // an event was omitted, here or before
	late     tally

	now     ntconv.Ticks // time of the latest event
	current *ntconv.Event
	queue   []stated // events to return before held, in this order
	next    int      // of queue
	held    *ntconv.Event
	err     error // of src, to return after the queue

	weightType, omittedType *ntconv.Type
	event                   ntconv.Event // of the queue, as it was lent
	payload                 [binary.MaxVarintLen64]byte
	added                   int64
}

// weighed is what is known about the samples of a thread.
type weighed struct {
	sampleTimes
	number  int // in the order of first samples
	thread  *ntconv.Thread
	capture *ntconv.Thread // recorded the latest selected sample
	sampler *sampler[*weighed]
	pending bool // the latest sample is selected, and its weight follows
}

// stated is an event to be made: a SampleWeight, or SamplesOmitted.
type stated struct {
	typ             *ntconv.Type
	thread, capture *ntconv.Thread
	ticks           uint64
	at              ntconv.Ticks
	flags           ntconv.Flags
	cpu             int32
}

// NewWeights returns the events of src that keep selects, with their weights. keep is called once for each event of src
// in order, but never for events that state weights. The report may be nil.
func NewWeights(src ntconv.Source, keep func(*ntconv.Event) bool, report *ntconv.Report) *Weights {
	info := src.Info()
	w := &Weights{
		src: src, keep: keep, report: report, nominal: nominalTicks(info, nominalPeriod(info)),
		types: newWeightTypes(), threads: map[*ntconv.Thread]*weighed{},
		partial: map[*sampler[*weighed]]bool{}, all: NewRecording(info), now: math.MinInt64,
		weightType: sampleWeightType(), omittedType: samplesOmittedType(),
	}
	w.samplers = newSamplers[*weighed](w.nominal)
	w.absent = w.leave
	return w
}

// Info implements ntconv.Source.
func (w *Weights) Info() *ntconv.Info { return w.src.Info() }

// Added returns the number of events so far that state weights.
func (w *Weights) Added() int64 { return w.added }

// Next implements ntconv.Source. Weights that are known only at the end of the trace come before the error of its
// source.
func (w *Weights) Next() (*ntconv.Event, error) {
	for {
		if w.next < len(w.queue) {
			s := &w.queue[w.next]
			w.next++
			return w.state(s), nil
		}
		w.queue, w.next = w.queue[:0], 0
		if e := w.held; e != nil {
			w.held = nil
			return e, nil
		}
		if w.err != nil {
			return nil, w.err
		}
		e, err := w.src.Next()
		if err != nil {
			w.err = err
			w.end()
			continue
		}
		w.held = w.see(e)
	}
}

// state makes w.event one that states a weight.
func (w *Weights) state(s *stated) *ntconv.Event {
	w.event = ntconv.Event{
		Kind: ntconv.KindEvent, Offset: -1, Type: s.typ, Thread: s.thread, Capture: s.capture,
		Time: s.at, Flags: s.flags & ntconv.FlagSorted, CPU: s.cpu,
	}
	if s.typ == w.weightType {
		w.event.Payload = binary.AppendUvarint(w.payload[:0], s.ticks)
	}
	w.added++
	return &w.event
}

// put queues an event that states something, at the time of the current event.
func (w *Weights) put(typ *ntconv.Type, thread, capture *ntconv.Thread, ticks uint64) {
	s := stated{typ: typ, thread: thread, capture: capture, ticks: ticks, at: w.now, cpu: ntconv.CPUUnknown}
	if e := w.current; e != nil {
		s.at, s.flags, s.cpu = e.Time, e.Flags, e.CPU
	}
	w.queue = append(w.queue, s)
}

// see queues what an event leads to and returns the event if it is selected, else nil.
func (w *Weights) see(e *ntconv.Event) *ntconv.Event {
	w.current = e
	switch e.Kind {
	case ntconv.KindEvent:
		w.now = max(w.now, e.Time)
		w.all.Observe(e)
		switch w.types.of(e.Type) {
		case weightSample:
			return w.sample(e)
		case weightExplicit:
			w.explicit(e)
			return nil
		case weightOmitted:
			w.omit(w.samplers.of(nil, e.Capture), e)
			w.samplers.of(nil, e.Capture).interrupt(true)
			return nil
		}
	case ntconv.KindMark:
		if e.Mark.Kind == ntconv.MarkThreadsRemoved {
			w.remove(e)
		}
	case ntconv.KindDefine:
		if e.Type != nil && IsWeight(e.Type) {
			return nil
		}
	}
	selected := w.keep(e)
	if !selected && e.Kind == ntconv.KindEvent {
		w.omitted = true
	}
	if e.Kind == ntconv.KindLost {
		w.lost(e, selected)
	}
	if !selected {
		return nil
	}
	return e
}

// lost notes that events of a capture thread are missing. A reader of the output must learn of it, too.
func (w *Weights) lost(e *ntconv.Event, selected bool) {
	r := w.samplers.recorder(e.Capture)
	if r == nil {
		return
	}
	r.interrupt(false)
	if !selected {
		w.omit(r, e)
	}
}

// omit notes that the output does not hold all samples of a recorder, and states it once.
func (w *Weights) omit(r *sampler[*weighed], e *ntconv.Event) {
	w.omitted = true
	if r.alone || w.partial[r] {
		return
	}
	w.partial[r] = true
	thread := e.Thread
	if thread == nil {
		thread = e.Capture
	}
	w.put(w.omittedType, thread, e.Capture, 0)
}

// sample returns a selected sample. In place of an omitted one it states the weight of the selected sample that it ends.
func (w *Weights) sample(e *ntconv.Event) *ntconv.Event {
	t := w.threads[e.Thread]
	if t == nil {
		w.created++
		t = &weighed{number: w.created, thread: e.Thread}
		w.threads[e.Thread] = t
	}
	r, selected := w.samplers.of(e.Thread, e.Capture), w.keep(e)
	if !selected {
		w.omit(r, e) // before see: a reader of the output does not learn of a round that begins here
	}
	r.see(t, e.Time, w.absent)
	n, ok := t.advance(e.Time)
	if ok {
		t.sampler = r
	}
	if n > 0 {
		r.gaps.add(n)
	}
	switch {
	case !ok:
		w.late.add(e)
	case selected:
		t.pending, t.capture = true, e.Capture
	case t.pending:
		t.pending = false
		w.put(w.weightType, e.Thread, e.Capture, n)
	}
	if !selected {
		return nil
	}
	return e
}

// leave ends the interval of a thread's latest sample at the time of a round that did not see the thread, and states it
// if a reader of the output cannot know.
func (w *Weights) leave(t *weighed, since ntconv.Ticks) {
	n, ok := t.leave(since)
	if !ok {
		return
	}
	if n > 0 {
		t.sampler.gaps.add(n)
	}
	if t.pending && w.partial[t.sampler] {
		w.put(w.weightType, t.thread, t.capture, n)
	}
	t.pending = false
}

// explicit passes on a weight that the input states for a selected sample.
func (w *Weights) explicit(e *ntconv.Event) {
	w.omitted = true
	t := w.threads[e.Thread]
	if t == nil {
		return
	}
	t.open = false
	if t.pending {
		t.pending = false
		w.put(w.weightType, e.Thread, e.Capture, weightTicks(e))
	}
}

// remove states the weights of the last samples of threads that end.
func (w *Weights) remove(e *ntconv.Event) {
	for i := range e.Mark.Threads {
		thread := e.Mark.Threads[i].Thread
		if t := w.threads[thread]; t != nil {
			delete(w.threads, thread)
			w.last(t)
		}
	}
}

// last states the weight of the last sample of a thread, if the output lacks an event that may decide about it.
func (w *Weights) last(t *weighed) {
	if !t.pending {
		return
	}
	t.pending = false
	if w.omitted {
		n := t.remaining(&t.sampler.gaps, w.nominal, w.all.End(t.thread.Process))
		w.put(w.weightType, t.thread, t.capture, n)
	}
}

// end states all weights that depend on the whole trace.
func (w *Weights) end() {
	w.current = nil
	if w.late.n > 0 && w.omitted {
		w.report.Note(ntconv.CodeOutOfOrder, w.late.n, w.late.offset,
			"weights of such samples and of those before them may differ from the whole trace")
	}
	threads := slices.SortedFunc(maps.Values(w.threads), func(a, b *weighed) int { return cmp.Compare(a.number, b.number) })
	for _, t := range threads {
		w.last(t)
	}
	clear(w.threads)
}
