package rounds

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/recording"
)

// The weight of a sample of kind Wall is the time until the next sample of its thread, or until the first round of the
// sample profiler that did not see the thread. A file with only some of the samples no longer contains the times of the
// omitted samples and the rounds. It therefore contains two further events of the provider ntconv:
//
//	SampleWeight    the latest sample of this event's thread lasts Ticks
//	SamplesOmitted  further samples of this event's capture thread are missing from here on, so the absence of a
//	                thread from a round proves nothing
//
// Ticks are those of the trace's clock. The events have no stack and are not samples. Their IDs follow those of the
// provider's other events (symbol.Synthesize). The type of the field is one that recorders use, because a reader that
// does not know a type code rejects the whole file.
func sampleWeightType() *ntconv.Type {
	return &ntconv.Type{Provider: recording.Provider, ID: 3, Name: recording.SampleWeight, Fields: []ntconv.Field{
		{Name: "Ticks", Type: ntconv.FieldType{Code: ntconv.TypeVarUint}},
	}}
}

func samplesOmittedType() *ntconv.Type {
	return &ntconv.Type{Provider: recording.Provider, ID: 4, Name: recording.SamplesOmitted}
}

// IsSample reports whether events of a type are samples of the sample profiler.
func IsSample(t *ntconv.Type) bool { return clr.ClassOf(t) == clr.ClassSample }

// A Class is the effect of a type's events on weights.
type Class uint8

const (
	ClassNone    Class = iota
	classSample        // a sample that lasts until the next one of its thread
	classStated        // SampleWeight
	classOmitted       // SamplesOmitted
)

// ClassOf returns the effect of a type's events.
func ClassOf(t *ntconv.Type) Class {
	switch {
	case recording.IsWeight(t) && t.Name == recording.SampleWeight:
		return classStated
	case recording.IsWeight(t):
		return classOmitted
	case IsSample(t):
		return classSample
	}
	return ClassNone
}

// WithoutWeights returns src without the events that state weights and without the definitions of their types.
func WithoutWeights(src ntconv.Source) ntconv.Source {
	return ntconv.Filter(src, func(e *ntconv.Event) bool { return e.Type == nil || !recording.IsWeight(e.Type) })
}

// Classes caches the class of each type.
type Classes struct {
	classes   map[*ntconv.Type]Class
	last      *ntconv.Type
	lastClass Class
}

// NewClasses returns an empty cache.
func NewClasses() Classes { return Classes{classes: map[*ntconv.Type]Class{}} }

// Of returns ClassOf t.
func (w *Classes) Of(t *ntconv.Type) Class {
	if t == w.last {
		return w.lastClass
	}
	c, ok := w.classes[t]
	if !ok {
		c = ClassOf(t)
		w.classes[t] = c
	}
	w.last, w.lastClass = t, c
	return c
}

// weightTicks returns the Ticks of a SampleWeight event, or 0 if the payload is invalid.
func weightTicks(e *ntconv.Event) uint64 {
	n, size := binary.Uvarint(e.Payload)
	if size <= 0 {
		return 0
	}
	return n
}
