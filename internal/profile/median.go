package profile

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
)

// A Median measures the median interval of all threads of a trace while its events are distributed over several files:
// a sample of a thread without an interval lasts that long, and a file with a part of the threads no longer says how
// long. It is not safe for concurrent use.
type Median struct {
	types   weightTypes
	threads map[*ntconv.Thread]*sampleTimes
	all     intervals
	stated  uint64 // by a MedianInterval event of the input, or 0
}

// NewMedian returns a Median that has seen no event.
func NewMedian() *Median {
	return &Median{types: newWeightTypes(), threads: map[*ntconv.Thread]*sampleTimes{}}
}

// An Observation is what an event of a trace says about the intervals of its thread's samples. It is known for samples
// of kind Wall only.
type Observation uint8

const (
	Unrelated Observation = iota // nothing
	Lone                         // the thread has a sample so far, and no interval between samples
	Measured                     // the thread has an interval, or the event states the weight of its latest sample
	Stated                       // the event states the median interval: it belongs to no thread, and Event replaces it
)

// Watch observes an event of the trace. It borrows the event.
func (m *Median) Watch(e *ntconv.Event) Observation {
	if e.Kind != ntconv.KindEvent {
		return Unrelated
	}
	switch m.types.of(e.Type) {
	case weightMedian:
		m.stated = weightTicks(e)
		return Stated
	case weightExplicit:
		if t := m.threads[e.Thread]; t != nil {
			t.open = false // samples were omitted after it
		}
		return Measured
	case weightSample:
		t := m.threads[e.Thread]
		if t == nil {
			t = new(sampleTimes)
			m.threads[e.Thread] = t
		}
		if n, _ := t.advance(e.Time); n > 0 {
			m.all.add(n)
		}
		if t.gaps.n > 0 {
			return Measured
		}
		return Lone
	}
	return Unrelated
}

// Event returns an event MedianInterval with what was measured so far, to be the last one of a file, or nil if nothing
// was measured. thread and capture are those of any sample in the file.
func (m *Median) Event(at ntconv.Ticks, thread, capture *ntconv.Thread) *ntconv.Event {
	ticks := m.stated
	if ticks == 0 {
		ticks = m.all.median()
	}
	if ticks == 0 {
		return nil
	}
	return &ntconv.Event{
		Kind: ntconv.KindEvent, Time: at, Offset: -1, CPU: ntconv.CPUUnknown, Type: medianIntervalType(), Thread: thread, Capture: capture,
		Payload: binary.AppendUvarint(nil, ticks),
	}
}
