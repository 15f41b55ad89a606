package profile

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/recording"
)

// PartWeights follows the samples of a trace that is divided into parts, and determines the weights that a part alone
// would not show: those of samples whose interval ends in another part. So the profiles of all parts add up to that of
// the trace. The caller adds the events that Event and End state to the parts.
//
// In each part, SamplesOmitted makes readers ignore the rounds of the sample profiler. Therefore the interval of a sample
// that does not end at a sample of the same part is stated in any case.
type PartWeights struct {
	nominal uint64 // sampling interval in ticks

	types    weightTypes
	threads  map[*ntconv.Thread]*partSample
	created  int
	samplers samplers[*partSample]
	absent   func(*partSample, ntconv.Ticks) // the method leave
	all      *recording.Range
	stated   []PartWeight
	omitted  map[partRecorder]bool

	weightType, omittedType *ntconv.Type
}

// A PartWeight is an event to add to a part.
type PartWeight struct {
	Part            int
	Type            *ntconv.Type // SampleWeight or SamplesOmitted
	Thread, Capture *ntconv.Thread
	Ticks           uint64 // for SampleWeight
}

// AppendPayload appends the payload of the event to dst and returns the extended slice.
func (w *PartWeight) AppendPayload(dst []byte) []byte {
	if len(w.Type.Fields) == 0 {
		return dst
	}
	return binary.AppendUvarint(dst, w.Ticks)
}

// A partSample is the state of a thread's samples.
type partSample struct {
	sampleTimes
	number  int // position in the order of first samples
	thread  *ntconv.Thread
	capture *ntconv.Thread // recorder of the latest sample
	part    int            // of the latest sample, or -1 if its weight is known
}

// A partRecorder is a recorder of samples in a part.
type partRecorder struct {
	recorder *intervals
	part     int
}

// NewPartWeights returns a PartWeights for a trace.
func NewPartWeights(info *ntconv.Info) *PartWeights {
	w := &PartWeights{
		nominal: nominalTicks(info, nominalPeriod(info)), types: newWeightTypes(),
		threads: map[*ntconv.Thread]*partSample{}, all: recording.NewRange(info), omitted: map[partRecorder]bool{},
		weightType: sampleWeightType(), omittedType: samplesOmittedType(),
	}
	w.samplers = newSamplers[*partSample](w.nominal)
	w.absent = w.leave
	return w
}

// Event processes an item of the trace that belongs to a part. It returns the events to add before it; the slice is valid
// until the next call.
func (w *PartWeights) Event(e *ntconv.Event, part int) []PartWeight {
	w.stated = w.stated[:0]
	switch e.Kind {
	case ntconv.KindEvent:
		w.all.Observe(e)
		switch w.types.of(e.Type) {
		case weightSample:
			w.sample(e, part)
		case weightExplicit:
			w.explicit(e, part)
		case weightOmitted:
			w.samplers.of(nil, e.Capture).interrupt(true)
		}
	case ntconv.KindLost:
		w.samplers.interrupt(e.Capture, false)
	case ntconv.KindMark:
		if e.Mark.Kind == ntconv.MarkThreadsRemoved {
			for _, t := range e.Mark.Threads {
				if s := w.threads[t.Thread]; s != nil {
					delete(w.threads, t.Thread)
					w.last(s)
				}
			}
		}
	}
	return w.stated
}

// End returns the events that depend on the whole trace. Call it after the last event.
func (w *PartWeights) End() []PartWeight {
	w.stated = w.stated[:0]
	list := slices.SortedFunc(maps.Values(w.threads), func(a, b *partSample) int { return cmp.Compare(a.number, b.number) })
	for _, s := range list {
		w.last(s)
	}
	clear(w.threads)
	return w.stated
}

func (w *PartWeights) sample(e *ntconv.Event, part int) {
	s := w.threads[e.Thread]
	if s == nil {
		w.created++
		s = &partSample{number: w.created, thread: e.Thread, part: -1}
		w.threads[e.Thread] = s
	}
	r := w.samplers.of(e.Thread, e.Capture)
	if key := (partRecorder{r.id(), part}); !r.alone && !w.omitted[key] {
		w.omitted[key] = true
		w.stated = append(w.stated, PartWeight{Part: part, Type: w.omittedType, Thread: e.Thread, Capture: e.Capture})
	}
	n, _, ok := r.sample(s, e.Time, w.absent)
	if !ok {
		return
	}
	if s.part >= 0 && s.part != part {
		w.state(s, n)
	}
	s.part, s.capture = part, e.Capture
}

// state states the weight of a thread's latest sample.
func (w *PartWeights) state(s *partSample, ticks uint64) {
	w.stated = append(w.stated,
		PartWeight{Part: s.part, Type: w.weightType, Thread: s.thread, Capture: s.capture, Ticks: ticks})
	s.part = -1
}

// leave ends the interval of a thread's latest sample at the beginning of a round that did not see the thread.
func (w *PartWeights) leave(s *partSample, since ntconv.Ticks) {
	if n, ok := s.leave(since); ok && s.part >= 0 {
		w.state(s, n)
	}
}

// explicit notes a weight that the trace itself states. If it does so in another part, the part of the sample needs it,
// too.
func (w *PartWeights) explicit(e *ntconv.Event, part int) {
	s := w.threads[e.Thread]
	if s == nil {
		return
	}
	s.open = false
	if s.part >= 0 && s.part != part {
		w.state(s, weightTicks(e))
	}
	s.part = -1
}

// last states the weight of the last sample of a thread.
func (w *PartWeights) last(s *partSample) {
	if s.part >= 0 {
		w.state(s, s.remaining(w.nominal, w.all.End(s.thread.Process)))
	}
}
