package rounds

import (
	"encoding/binary"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
)

// PartWeights follows the samples of a trace that is divided into parts, and determines the weights that a part alone
// would not show: those of samples whose interval ends in another part. So the profiles of all parts add up to that of
// the trace. The caller adds the events that Event and End state to the parts.
//
// In each part, SamplesOmitted makes readers ignore the rounds of the sample profiler. Therefore the interval of a sample
// that does not end at a sample of the same part is stated in any case.
type PartWeights struct {
	types   Classes
	threads *Threads[partSample]
	all     *recording.Range
	part    int // of the current event
	stated  []PartWeight
	omitted map[int][]*intervals // recorders whose samples a part has, by part

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

// A partSample is the latest sample of a thread.
type partSample struct {
	part    int
	capture *ntconv.Thread // its recorder
}

// NewPartWeights returns a PartWeights for a trace.
func NewPartWeights(info *ntconv.Info) *PartWeights {
	w := &PartWeights{
		types: NewClasses(), all: recording.NewRange(info), omitted: map[int][]*intervals{},
		weightType: sampleWeightType(), omittedType: samplesOmittedType(),
	}
	w.threads = NewThreads[partSample](info, w.all)
	w.threads.Ended = w.ended
	return w
}

// Event processes an item of the trace that belongs to a part. It returns the events to add before it; the slice is valid
// until the next call.
func (w *PartWeights) Event(e *ntconv.Event, part int) []PartWeight {
	w.stated, w.part = w.stated[:0], part
	switch e.Kind {
	case ntconv.KindEvent:
		w.all.Observe(e)
		switch class := w.types.Of(e.Type); class {
		case classSample:
			w.sample(e)
		default:
			w.threads.Apply(e, class)
		}
	case ntconv.KindLost:
		w.threads.Lost(e.Capture)
	case ntconv.KindMark:
		if e.Mark.Kind == ntconv.MarkThreadsRemoved {
			w.threads.Remove(e.Mark.Threads)
		}
	}
	return w.stated
}

// End returns the events that depend on the whole trace. Call it after the last event.
func (w *PartWeights) End() []PartWeight {
	w.stated = w.stated[:0]
	w.threads.Finish()
	return w.stated
}

// Complete states that no event of a part follows, so that the memory for it is freed.
func (w *PartWeights) Complete(part int) { delete(w.omitted, part) }

func (w *PartWeights) sample(e *ntconv.Event) {
	r := w.threads.samplers.of(e.Thread, e.Capture)
	if of := w.omitted[w.part]; !r.alone && !slices.Contains(of, r.id()) {
		w.omitted[w.part] = append(of, r.id())
		w.stated = append(w.stated, PartWeight{Part: w.part, Type: w.omittedType, Thread: e.Thread, Capture: e.Capture})
	}
	if l, ok := w.threads.Sample(e); ok {
		l.Wait(e.Time)
		l.Data = partSample{w.part, e.Capture}
	}
}

// ended states the weight of a thread's latest sample, unless its part shows it: an event of the same part ends it.
func (w *PartWeights) ended(l *Thread[partSample], ticks uint64, by Ending) {
	s := &l.Data
	if (by == BySample || by == ByWeight) && s.part == w.part {
		return
	}
	w.stated = append(w.stated,
		PartWeight{Part: s.part, Type: w.weightType, Thread: l.thread, Capture: s.capture, Ticks: ticks})
}
