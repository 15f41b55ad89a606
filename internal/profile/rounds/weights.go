package rounds

import (
	"encoding/binary"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
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
//	omitted          see, omit                    -
//	Thread.pending  sample, if selected          the end of the interval
//	selected         sample                       sample
//	queue, next      put, Next                    Next, when all of it has been returned
//	held             Next: the selected event     Next, after the queue
type Weights struct {
	src    ntconv.Source
	keep   func(*ntconv.Event) bool
	report *ntconv.Report

	types    Classes
	threads  *Threads[*ntconv.Thread] // with the recorder of the latest selected sample
	partial  map[*intervals]bool      // IDs of recorders with an omitted sample, here or in the input
	all      *recording.Range
	omitted  bool   // an event was omitted, here or from the input before
	selected bool   // the current sample is selected
	late     uint64 // samples out of time order
	lateAt   int64  // offset of the first one

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
		src: src, keep: keep, report: report, types: NewClasses(), partial: map[*intervals]bool{},
		all: recording.NewRange(info), now: math.MinInt64, weightType: sampleWeightType(), omittedType: samplesOmittedType(),
	}
	w.threads = NewThreads[*ntconv.Thread](info, w.all)
	w.threads.Ended = w.ended
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
		switch w.types.Of(e.Type) {
		case classSample:
			return w.sample(e)
		case classStated:
			w.omitted = true
			w.threads.Apply(e, classStated)
			return nil
		case classOmitted:
			w.omit(w.threads.samplers.of(nil, e.Capture), e)
			w.threads.Apply(e, classOmitted)
			return nil
		}
	case ntconv.KindMark:
		if e.Mark.Kind == ntconv.MarkThreadsRemoved {
			w.threads.Remove(e.Mark.Threads)
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
	r := w.threads.samplers.recorder(e.Capture)
	if r == nil {
		return
	}
	r.interrupt(false)
	if !selected {
		w.omit(r, e)
	}
}

// omit notes that the output lacks samples of a recorder, and queues SamplesOmitted the first time.
func (w *Weights) omit(r *sampler[*Thread[*ntconv.Thread]], e *ntconv.Event) {
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

// sample returns e if it is selected. It states the weights of selected samples that e ends, if readers of the output
// cannot determine them.
func (w *Weights) sample(e *ntconv.Event) *ntconv.Event {
	w.selected = w.keep(e)
	if !w.selected {
		w.omit(w.threads.samplers.of(e.Thread, e.Capture), e) // first: readers do not see the round that begins here
	}
	l, ok := w.threads.Sample(e)
	if !ok {
		if w.late++; w.late == 1 {
			w.lateAt = e.Offset
		}
	}
	if !w.selected {
		return nil
	}
	if ok {
		l.Wait(e.Time)
		l.Data = e.Capture
	}
	return e
}

// ended states the weight of a selected sample if a reader of the output could not determine it: the next sample of the
// thread is not selected, samples of the rounds are missing, or an event is that may affect the last sample.
func (w *Weights) ended(l *Thread[*ntconv.Thread], ticks uint64, by Ending) {
	switch {
	case by == BySample && w.selected:
	case by == ByRound && !w.partial[l.all]:
	case by == ByNothing && !w.omitted:
	default:
		w.put(w.weightType, l.thread, l.Data, ticks)
	}
}

// end states all weights that depend on the whole trace.
func (w *Weights) end() {
	w.current = nil
	if w.late > 0 && w.omitted {
		w.report.Note(ntconv.CodeOutOfOrder, w.late, w.lateAt,
			"weights of such samples and of those before them may differ from the whole trace")
	}
	w.threads.Finish()
}
