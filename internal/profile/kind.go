package profile

import (
	"fmt"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/origin"
)

// Kind says what a profile counts.
type Kind uint8

const (
	// Auto is the first kind in the order of this list of which the trace has samples, and Wall if it has none at all.
	// Both kinds in one trace are two views of the same time, so they are never mixed; wall clock comes first because
	// it also has the threads that wait.
	Auto Kind = iota
	// Wall is time by the .NET sampler, which stops every managed thread whether it runs or waits.
	Wall
	// CPU is processor time by a machine-wide profiler, which sees only threads that run.
	CPU
	// Imported restores the profile that the trace was converted from. Its columns are those of the samples' type.
	Imported
	numKinds
)

// String returns the kind's name as ParseKind reads it.
func (k Kind) String() string {
	if k == Auto {
		return "auto"
	}
	return specs[k].name
}

// ParseKind returns the kind of that name.
func ParseKind(name string) (Kind, error) {
	for k := Auto; k < numKinds; k++ {
		if k.String() == name {
			return k, nil
		}
	}
	return Auto, fmt.Errorf("profile kind %q: want auto, wall, cpu or imported", name)
}

// ValueType is what a column of a profile counts, and in which unit.
type ValueType = origin.ValueType

// scale says how the sum of a column becomes a value of its type.
type scale uint8

const (
	scaleNone   scale = iota // as it is
	scaleTicks               // ticks of the trace's clock, to nanoseconds
	scalePeriod              // sampling intervals, to nanoseconds
)

type column struct {
	ValueType
	scale scale
}

// noInterval as a kind's interval column: its events have weights of their own.
const noInterval = -1

// A spec is one kind of profile: which events are its samples and what each of them adds to which column.
type spec struct {
	name     string
	columns  []column
	main     int // the column that matters most
	period   ValueType
	interval int    // column that gets the ticks until the next sample of the same thread, or noInterval
	tag      string // key of a label that measure derives from the payload; empty if none

	// matches says whether events of a type are samples of the kind; it is asked once a type.
	matches func(*ntconv.Type) bool
	// measure fills in m, whose values are zero, from an event that matches. False: the payload does not fit.
	measure func(e *ntconv.Event, m *measurement) bool
}

// A measurement is what one event adds to its sample.
type measurement struct {
	values []int64 // one a column
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
	Imported: { // and what the set adopts
		name:     "imported",
		interval: noInterval,
		matches:  func(t *ntconv.Type) bool { return origin.ColumnsOf(t) != nil },
		measure:  measureImported,
	},
}

// IsSample reports whether events of a type are samples of kind Wall or CPU, which were taken while the recorded
// program ran.
func IsSample(t *ntconv.Type) bool { return specs[Wall].matches(t) || specs[CPU].matches(t) }

// stateNames returns what the runtime's manifest calls the types of a sample, by number: External is code outside of
// the runtime, a wait or a computation there.
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

// measureCPU counts a sample as often as its Value says, which is 1 in every trace seen.
func measureCPU(e *ntconv.Event, m *measurement) bool {
	n, ok := clr.Value(e)
	if !ok {
		n = 1
	}
	m.values[0] = clamp(n)
	m.values[1] = m.values[0]
	return ok
}
