package profile

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/kind"
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
const (
	weightProvider = "ntconv"
	sampleWeight   = "SampleWeight"
	samplesOmitted = "SamplesOmitted"
)

func sampleWeightType() *ntconv.Type {
	return &ntconv.Type{Provider: weightProvider, ID: 3, Name: sampleWeight, Fields: []ntconv.Field{
		{Name: "Ticks", Type: ntconv.FieldType{Code: ntconv.TypeVarUint}},
	}}
}

func samplesOmittedType() *ntconv.Type {
	return &ntconv.Type{Provider: weightProvider, ID: 4, Name: samplesOmitted}
}

// A weightClass is the effect of a type's events on weights.
type weightClass uint8

const (
	weightNone     weightClass = iota
	weightSample               // a sample that lasts until the next one of its thread
	weightExplicit             // SampleWeight
	weightOmitted              // SamplesOmitted
)

func weightClassOf(t *ntconv.Type) weightClass {
	switch {
	case IsWeight(t) && t.Name == sampleWeight:
		return weightExplicit
	case IsWeight(t):
		return weightOmitted
	case specs()[kind.Wall].matches(t):
		return weightSample
	}
	return weightNone
}

// IsWeight reports whether events of a type state the weights of samples: Weights writes them, and Builder and Stream
// read them. They belong to a selection and not to the recording.
func IsWeight(t *ntconv.Type) bool {
	if t.Provider != weightProvider {
		return false
	}
	return t.Name == samplesOmitted ||
		t.Name == sampleWeight && len(t.Fields) > 0 && t.Fields[0].Type.Code == ntconv.TypeVarUint
}

// WithoutWeights returns src without the events that state weights and without the definitions of their types.
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

// weightTicks returns the Ticks of a SampleWeight event, or 0 if the payload is invalid.
func weightTicks(e *ntconv.Event) uint64 {
	n, size := binary.Uvarint(e.Payload)
	if size <= 0 {
		return 0
	}
	return n
}
