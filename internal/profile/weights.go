package profile

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/recording"
)

// Weights is a source of the selected events of a trace and of events that state the weights of selected samples
// wherever the selected events alone would give other weights. A profile built from it equals that of the selection
// from the whole trace. Weights replaces such events in its input, so selections of selections compose. It is not safe
// for concurrent use.
//
// It follows the rounds of all samples of the input. As long as no sample of a recorder is omitted, a reader of the
// output finds the same rounds, and no events are added. Weights replaces the first omitted sample of a recorder by
// SamplesOmitted; from then on, the reader ignores rounds, and Weights states each interval that does not end at a
// selected sample.
//
// Samples of a thread out of time order have no certain weight. Weights notes them in its report.
//
// State:
//
//	field            set by                       cleared by
//	partial          omit                         - (SamplesOmitted is stated once per recorder)
//	omitted          see, omit, explicit          -
//	weighed.pending  sample, if selected          the statement of its weight, or an end that readers see
//	queue, next      put, Next                    Next, when all of it has been returned
//	held             Next: the selected event     Next, after the queue
type Weights struct {
	src     ntconv.Source
	keep    func(*ntconv.Event) bool
	report  *ntconv.Report
	nominal uint64 // sampling interval in ticks

	types    weightTypes
	threads  map[*ntconv.Thread]*weighed // maps threads to their state
	created  int                         // number of threads so far
	samplers samplers[*weighed]
	partial  map[*intervals]bool          // IDs of recorders with an omitted sample, here or in the input
	absent   func(*weighed, ntconv.Ticks) // the method leave
	all      *recording.Range
	omitted  bool // an event was omitted, here or from the input before
	late     tally

	now     ntconv.Ticks // time of the latest event
	current *ntconv.Event
	queue   []stated // events to return before held
	next    int      // index in queue
	held    *ntconv.Event
	err     error // error of src, returned after the queue

	weightType, omittedType *ntconv.Type
	event                   ntconv.Event // the event that Next returned from queue
	payload                 [binary.MaxVarintLen64]byte
	added                   int64
}

// A weighed is the state of a thread's samples.
type weighed struct {
	sampleTimes
	number  int // position in the order of first samples
	thread  *ntconv.Thread
	capture *ntconv.Thread // recorder of the latest selected sample
	pending bool           // the latest sample is selected and its weight is not known yet
}

// A stated is an event to create: a SampleWeight or SamplesOmitted.
type stated struct {
	typ             *ntconv.Type
	thread, capture *ntconv.Thread
	ticks           uint64
	at              ntconv.Ticks
	flags           ntconv.Flags
	cpu             int32
}

// NewWeights returns the events of src for which keep returns true, with their weights. keep is called once for each
// event of src in order, except for events that state weights. report may be nil.
func NewWeights(src ntconv.Source, keep func(*ntconv.Event) bool, report *ntconv.Report) *Weights {
	info := src.Info()
	w := &Weights{
		src: src, keep: keep, report: report, nominal: nominalTicks(info, nominalPeriod(info)),
		types: newWeightTypes(), threads: map[*ntconv.Thread]*weighed{},
		partial: map[*intervals]bool{}, all: recording.NewRange(info), now: math.MinInt64,
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

// Next implements ntconv.Source. Weights known only at the end of the trace precede the error of the source.
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

// state fills w.event with an event that states a weight.
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

// put queues an event that states a weight, at the time of the current event.
func (w *Weights) put(typ *ntconv.Type, thread, capture *ntconv.Thread, ticks uint64) {
	s := stated{typ: typ, thread: thread, capture: capture, ticks: ticks, at: w.now, cpu: ntconv.CPUUnknown}
	if e := w.current; e != nil {
		s.at, s.flags, s.cpu = e.Time, e.Flags, e.CPU
	}
	w.queue = append(w.queue, s)
}

// see queues the events that e causes. It returns e if e is selected, or else nil.
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
		if e.Type != nil && recording.IsWeight(e.Type) {
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

// lost notes that events of a capture thread are missing. A reader of the output must also see this.
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

// omit notes that the output lacks samples of a recorder, and queues SamplesOmitted the first time.
func (w *Weights) omit(r *sampler[*weighed], e *ntconv.Event) {
	w.omitted = true
	if r.alone || w.partial[r.id()] {
		return
	}
	w.partial[r.id()] = true
	thread := e.Thread
	if thread == nil {
		thread = e.Capture
	}
	w.put(w.omittedType, thread, e.Capture, 0)
}

// sample returns e if it is selected. Otherwise it states the weight of the selected sample that e ends.
func (w *Weights) sample(e *ntconv.Event) *ntconv.Event {
	t := w.threads[e.Thread]
	if t == nil {
		w.created++
		t = &weighed{number: w.created, thread: e.Thread}
		w.threads[e.Thread] = t
	}
	r, selected := w.samplers.of(e.Thread, e.Capture), w.keep(e)
	if !selected {
		w.omit(r, e) // before see: a reader of the output does not see the round that begins here
	}
	n, _, ok := r.sample(t, e.Time, w.absent)
	switch {
	case !ok:
		w.late.add(e.Offset)
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

// leave ends the interval of a thread's latest sample at the beginning of a round that did not see the thread. It
// states the interval if a reader of the output cannot determine it.
func (w *Weights) leave(t *weighed, since ntconv.Ticks) {
	n, ok := t.leave(since)
	if !ok {
		return
	}
	if t.pending && w.partial[t.all] {
		w.put(w.weightType, t.thread, t.capture, n)
	}
	t.pending = false
}

// explicit passes on the weight that the input states for a selected sample.
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

// remove states the weights of the last samples of the threads that have exited.
func (w *Weights) remove(e *ntconv.Event) {
	for i := range e.Mark.Threads {
		thread := e.Mark.Threads[i].Thread
		if t := w.threads[thread]; t != nil {
			delete(w.threads, thread)
			w.last(t)
		}
	}
}

// last states the weight of a thread's last sample if the output lacks an event that may affect it.
func (w *Weights) last(t *weighed) {
	if !t.pending {
		return
	}
	t.pending = false
	if w.omitted {
		n := t.remaining(w.nominal, w.all.End(t.thread.Process))
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
