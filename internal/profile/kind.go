package profile

import (
	"fmt"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/origin"
)

// Kind is the kind of samples that a profile contains.
type Kind uint8

const (
	// Auto selects the first kind of this list of which the trace has samples, or Wall if it has none. Wall and CPU
	// samples of one trace are two views of the same time, so they are never added up together. Wall comes first
	// because it also covers waiting threads.
	Auto Kind = iota
	// Wall is wall-clock time of managed threads, running or waiting, from .NET's sample profiler.
	Wall
	// CPU is CPU time from a machine-wide profiler, which samples only running threads.
	CPU
	// Imported restores the profile that the trace was converted from. Its columns are those of the type of its
	// samples.
	Imported
	numKinds
)

// String returns the name of the kind as ParseKind accepts it.
func (k Kind) String() string {
	if k == Auto {
		return "auto"
	}
	return specs[k].name
}

// ParseKind returns the kind with that name: auto, wall, cpu or imported.
func ParseKind(name string) (Kind, error) {
	for k := Auto; k < numKinds; k++ {
		if k.String() == name {
			return k, nil
		}
	}
	return Auto, fmt.Errorf("profile kind %q: want auto, wall, cpu or imported", name)
}

// A ValueType is a sample type as in pprof: what a column contains, and its unit.
type ValueType = origin.ValueType

// A scale is the conversion from the total of a column to a value of its type.
type scale uint8

const (
	scaleNone   scale = iota // none
	scaleTicks               // ticks of the trace's clock, to nanoseconds
	scalePeriod              // sampling intervals, to nanoseconds
)

type column struct {
	ValueType
	scale scale
}

// noInterval is the interval column of kinds whose events carry their own values.
const noInterval = -1

// A spec defines a kind of profile: the events that are its samples, and what each event adds to each column.
type spec struct {
	name     string
	columns  []column
	main     int // the column to show first
	period   ValueType
	interval int    // column for the ticks until the next sample of the same thread, or noInterval
	tag      string // key of a label that measure derives from the payload; empty if none

	// matches reports whether events of a type are samples of the kind. It is called once per type.
	matches func(*ntconv.Type) bool
	// measure sets m, whose values are zero, from an event of a matching type. It returns false if the payload is
	// invalid.
	measure func(e *ntconv.Event, m *measurement) bool
}

// A measurement is the contribution of one event.
type measurement struct {
	values []int64 // one per column
	tag    []byte  // value of the kind's own label; empty if none
}

// sampleCount is the type of a column that counts samples.
var sampleCount = ValueType{Type: "samples", Unit: "count"}

var specs = [numKinds]spec{
	Wall: {
		name:     "wall",
		columns:  []column{{sampleCount, scaleNone}, {ValueType{Type: "wall", Unit: "nanoseconds"}, scaleTicks}},
		main:     1,
		period:   ValueType{Type: "wall", Unit: "nanoseconds"},
		interval: 1,
		tag:      "state",
		matches:  func(t *ntconv.Type) bool { return clr.ClassOf(t) == clr.ClassSample },
		measure:  measureThread,
	},
	CPU: {
		name:     "cpu",
		columns:  []column{{sampleCount, scaleNone}, {ValueType{Type: "cpu", Unit: "nanoseconds"}, scalePeriod}},
		main:     1,
		period:   ValueType{Type: "cpu", Unit: "nanoseconds"},
		interval: noInterval,
		matches: func(t *ntconv.Type) bool {
			return clr.ClassOf(t) == clr.ClassUniversalCPU && origin.ColumnsOf(t) == nil
		},
		measure: measureCPU,
	},
	Imported: { // a set adds the columns of the types that it adopts
		name:     "imported",
		interval: noInterval,
		matches:  func(t *ntconv.Type) bool { return origin.ColumnsOf(t) != nil },
		measure:  measureImported,
	},
}

// IsSample reports whether events of a type are samples of kind Wall or CPU. Imported samples were not taken from the
// recorded program.
func IsSample(t *ntconv.Type) bool { return specs[Wall].matches(t) || specs[CPU].matches(t) }

// stateNames returns the runtime manifest's names of sample types, by number. External means code outside the runtime,
// which may be waiting or computing.
var stateNames = sync.OnceValue(func() (names []string) {
	layout := clr.Lookup(clr.SampleProfiler, 0, 0)
	for n := uint64(0); layout.MapName("Type", n) != ""; n++ {
		names = append(names, layout.MapName("Type", n))
	}
	return names
})

func measureThread(e *ntconv.Event, m *measurement) bool {
	var s clr.Sample
	m.values[0] = 1
	if !clr.ParseSample(e, &s) {
		return false
	}
	if names := stateNames(); int(s.Type) < len(names) {
		m.tag = append(m.tag, names[s.Type]...)
	}
	return true
}

// measureCPU counts a sample Value times; Value is 1 in every known trace.
func measureCPU(e *ntconv.Event, m *measurement) bool {
	n, ok := clr.Value(e)
	if !ok {
		n = 1
	}
	m.values[0] = clamp(n)
	m.values[1] = m.values[0]
	return ok
}
