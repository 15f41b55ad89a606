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
// Samples of a thread that come in another order than that of time have no certain weight. Weights notes them in its
// report.
type Weights struct {
	src    ntconv.Source
	keep   func(*ntconv.Event) bool
	report *ntconv.Report

	types   weightTypes
	threads map[*ntconv.Thread]*weighed
	created int       // threads so far
	all     intervals // of all threads
	median  uint64    // MedianInterval of the input, or 0
	omitted bool      // a sample was omitted, here or before
	removed bool      // a selected sample of a thread that is removed has no interval
	late    tally

	now     ntconv.Ticks // time of the latest event
	near    *weighed     // the thread of the latest selected sample
	waiting bool         // something of the following waits to be returned, in this order
	queue   []stated
	next    int // of queue
	held    *ntconv.Event
	err     error

	weightType, medianType *ntconv.Type
	event                  ntconv.Event // of the queue, as it was lent
	payload                [binary.MaxVarintLen64]byte
	added                  int64
}

// weighed is what is known about the samples of a thread.
type weighed struct {
	sampleTimes
	number  int // in the order of first samples
	thread  *ntconv.Thread
	capture *ntconv.Thread // recorded the latest selected sample
	pending bool           // the latest sample is selected, and its weight follows
	omitted bool           // the selected events have not all intervals of the thread
}

// stated is an event to be made: a SampleWeight, or a MedianInterval.
type stated struct {
	typ             *ntconv.Type
	thread, capture *ntconv.Thread
	ticks           uint64
}

// NewWeights returns the events of src that keep selects, with their weights. keep is called once for each event of src
// in order, but never for events that state weights. The report may be nil.
func NewWeights(src ntconv.Source, keep func(*ntconv.Event) bool, report *ntconv.Report) *Weights {
	return &Weights{
		src: src, keep: keep, report: report,
		types: newWeightTypes(), threads: map[*ntconv.Thread]*weighed{}, now: math.MinInt64,
		weightType: sampleWeightType(), medianType: medianIntervalType(),
	}
}

// Info implements ntconv.Source.
func (w *Weights) Info() *ntconv.Info { return w.src.Info() }

// Added returns the number of events so far that state weights.
func (w *Weights) Added() int64 { return w.added }

// Next implements ntconv.Source. Weights that are known only at the end of the trace come before the error of its
// source.
func (w *Weights) Next() (*ntconv.Event, error) {
	for {
		if w.waiting {
			if e := w.waiter(); e != nil {
				return e, nil
			}
			if w.err != nil {
				return nil, w.err
			}
		}
		e, err := w.src.Next()
		if err != nil {
			w.err, w.waiting = err, true
			w.end()
			continue
		}
		if e = w.see(e); w.waiting {
			w.held = e
		} else if e != nil {
			return e, nil
		}
	}
}

// waiter returns the next event of those that wait, and nil after the last one.
func (w *Weights) waiter() *ntconv.Event {
	if w.next < len(w.queue) {
		s := w.queue[w.next]
		w.next++
		w.event = ntconv.Event{Time: w.now, CPU: ntconv.CPUUnknown}
		return w.state(s)
	}
	w.queue, w.next = w.queue[:0], 0
	e := w.held
	w.held, w.waiting = nil, w.err != nil
	return e
}

// state makes w.event, which has a time, one that states a weight.
func (w *Weights) state(s stated) *ntconv.Event {
	e := &w.event
	e.Kind, e.Offset = ntconv.KindEvent, -1
	e.Type, e.Thread, e.Capture = s.typ, s.thread, s.capture
	e.Stack, e.Labels = nil, nil
	e.Flags &= ntconv.FlagSorted
	e.Payload = binary.AppendUvarint(w.payload[:0], s.ticks)
	w.added++
	return e
}

// see returns what becomes of an event: itself, an event in its place, or nil.
func (w *Weights) see(e *ntconv.Event) *ntconv.Event {
	switch e.Kind {
	case ntconv.KindEvent:
		w.now = max(w.now, e.Time)
		switch w.types.of(e.Type) {
		case weightNone:
		case weightSample:
			return w.sample(e)
		case weightExplicit:
			return w.explicit(e)
		case weightMedian:
			w.median, w.omitted = weightTicks(e), true
			return nil
		}
	case ntconv.KindMark:
		if e.Mark.Kind == ntconv.MarkThreadsRemoved {
			w.remove(e.Mark.Threads)
		}
	case ntconv.KindDefine:
		if e.Type != nil && IsWeight(e.Type) {
			return nil
		}
	}
	if !w.keep(e) {
		return nil
	}
	return e
}

// sample returns a selected sample, or in place of an omitted one the weight of the selected sample that it ends.
func (w *Weights) sample(e *ntconv.Event) *ntconv.Event {
	t := w.threads[e.Thread]
	if t == nil {
		w.created++
		t = &weighed{number: w.created, thread: e.Thread}
		w.threads[e.Thread] = t
	}
	n, ok := t.advance(e.Time)
	if n > 0 {
		w.all.add(n)
	}
	selected := w.keep(e)
	switch {
	case selected && ok:
		t.pending, t.capture = true, e.Capture
		w.near = t
		return e
	case !ok:
		w.late.add(e)
		if selected {
			return e
		}
		w.omitted = true
		return nil
	}
	w.omitted, t.omitted = true, true
	if !t.pending {
		return nil
	}
	t.pending = false
	w.event = *e
	return w.state(stated{w.weightType, e.Thread, e.Capture, n})
}

// explicit passes on a weight that the input states for a selected sample.
func (w *Weights) explicit(e *ntconv.Event) *ntconv.Event {
	w.omitted = true
	t := w.threads[e.Thread]
	if t == nil {
		return nil
	}
	pending := t.pending
	t.open, t.omitted, t.pending = false, true, false
	if !pending {
		return nil
	}
	w.event = *e
	return w.state(stated{w.weightType, e.Thread, e.Capture, weightTicks(e)})
}

// remove states the weights of the last samples of threads that end.
func (w *Weights) remove(list []ntconv.ThreadSeq) {
	for i := range list {
		t := w.threads[list[i].Thread]
		if t == nil {
			continue
		}
		delete(w.threads, list[i].Thread)
		if n := t.gaps.median(); t.pending && n > 0 {
			w.last(t, n, t.omitted)
		} else if t.pending {
			w.removed = true
		}
	}
}

// last states the weight of the last sample of a thread, if the selected events alone do not give it.
func (w *Weights) last(t *weighed, n uint64, omitted bool) {
	if omitted {
		w.waiting = true
		w.queue = append(w.queue, stated{w.weightType, t.thread, t.capture, n})
	}
}

// end states all weights that depend on the whole trace.
func (w *Weights) end() {
	if w.late.n > 0 && w.omitted {
		w.report.Note(
			ntconv.CodeOutOfOrder,
			w.late.n,
			w.late.offset,
			"weights of such samples and of those before them may differ from the whole trace",
		)
	}
	all := cmp.Or(w.median, w.all.median())
	threads := slices.SortedFunc(maps.Values(w.threads), func(a, b *weighed) int { return a.number - b.number })
	for _, t := range threads {
		if !t.pending {
			continue
		}
		if n := t.gaps.median(); n > 0 {
			w.last(t, n, t.omitted)
		} else if all > 0 {
			w.last(t, all, w.omitted)
		}
	}
	clear(w.threads)
	if w.removed && w.omitted && all > 0 {
		w.queue = append(w.queue, stated{w.medianType, w.near.thread, w.near.capture, all})
	}
}
