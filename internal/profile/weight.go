package profile

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
)

// The weight of a sample of kind Wall is the time until the next sample of its thread. A file that holds only some of
// the samples no longer says when the omitted ones were taken, so it has events of the provider ntconv that do:
//
//	SampleWeight    the latest sample of this event's thread lasts Ticks
//	MedianInterval  a sample lasts Ticks if neither the file nor a SampleWeight event says how long it lasts, and its thread has no
//	                other interval
//
// Both count ticks of the trace's clock. They have no stack and are no samples. The IDs follow those of the provider's
// other events (symbol.Synthesize), and the type of the field is one that recorders write, because a reader that does
// not know a type code refuses the whole file.
const (
	weightProvider = "ntconv"
	sampleWeight   = "SampleWeight"
	medianInterval = "MedianInterval"
)

func sampleWeightType() *ntconv.Type   { return weightType(3, sampleWeight) }
func medianIntervalType() *ntconv.Type { return weightType(4, medianInterval) }

func weightType(id uint32, name string) *ntconv.Type {
	return &ntconv.Type{Provider: weightProvider, ID: id, Name: name, Fields: []ntconv.Field{
		{Name: "Ticks", Type: ntconv.FieldType{Code: ntconv.TypeVarUint}},
	}}
}

// A weightClass says what the weights of samples depend on.
type weightClass uint8

const (
	weightNone     weightClass = iota
	weightSample               // a sample that lasts until the next one of its thread
	weightExplicit             // SampleWeight
	weightMedian               // MedianInterval
)

func weightClassOf(t *ntconv.Type) weightClass {
	switch {
	case IsWeight(t) && t.Name == sampleWeight:
		return weightExplicit
	case IsWeight(t):
		return weightMedian
	case specs[Wall].matches(t):
		return weightSample
	}
	return weightNone
}

// IsWeight reports whether events of a type state the weights of samples: Weights writes them, and a Builder reads
// them. They belong to a selection and not to what was recorded.
func IsWeight(t *ntconv.Type) bool {
	return t.Provider == weightProvider && (t.Name == sampleWeight || t.Name == medianInterval) &&
		len(t.Fields) > 0 && t.Fields[0].Type.Code == ntconv.TypeVarUint
}

// WithoutWeights returns src without the events that state weights and without definitions of their types.
func WithoutWeights(src ntconv.Source) ntconv.Source {
	return ntconv.Filter(src, func(e *ntconv.Event) bool { return e.Type == nil || !IsWeight(e.Type) })
}

// weightTypes caches the class of each type.
type weightTypes struct {
	classes   map[*ntconv.Type]weightClass
	last      *ntconv.Type
	lastClass weightClass
}

func newWeightTypes() weightTypes { return weightTypes{classes: map[*ntconv.Type]weightClass{}} }

func (w *weightTypes) of(t *ntconv.Type) weightClass {
	if t == w.last {
		return w.lastClass
	}
	c, ok := w.classes[t]
	if !ok {
		c = weightClassOf(t)
		w.classes[t] = c
	}
	w.last, w.lastClass = t, c
	return c
}

// weightTicks returns the field of an event that describes weights, and 0 if the payload does not hold one.
func weightTicks(e *ntconv.Event) uint64 {
	n, size := binary.Uvarint(e.Payload)
	if size <= 0 {
		return 0
	}
	return n
}

// sampleTimes are the times of the samples of a thread. It keeps the latest one and the lengths of the intervals
// between them.
type sampleTimes struct {
	last ntconv.Ticks // of the samples so far
	open bool         // an interval began at last
	gaps intervals
}

// advance ends the interval that began with the latest sample, begins one at a time, and returns the length of the
// former. Samples at the same time are one observation told twice, so that calling it twice for a sample does no harm.
// A sample before the latest one begins and ends nothing, or else time would be counted twice; ok is false then.
func (l *sampleTimes) advance(at ntconv.Ticks) (n uint64, ok bool) {
	if l.open {
		if at < l.last {
			return 0, false
		}
		if n = uint64(at) - uint64(l.last); n > 0 {
			l.gaps.add(n)
		}
	}
	l.last, l.open = at, true
	return n, true
}
