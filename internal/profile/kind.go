package profile

import (
	"slices"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/sample"
)

// A ValueType is a sample type as in pprof: what a column contains, and its unit.
type ValueType = imported.ValueType

// A scale is the conversion from the total of a column to a value of its type.
type scale uint8

const (
	scaleNone     scale = iota // none
	scaleTicks                 // ticks of the trace's clock, to nanoseconds
	scalePeriod                // sampling intervals, to nanoseconds
	scaleFraction              // fractions of 1/fraction, rounded to the nearest integer
)

// fraction is the number of steps per unit of a column with scaleFraction. An estimate such as 1.4 objects is rounded
// only once, when all samples of a stack have been added up. With 1/1024, the error of a step is far below the sampling
// error, and totals may exceed 100 days of nanoseconds.
const fraction = 1 << 10

type column struct {
	ValueType
	scale scale
	one   bool // every event adds 1, so the value of a single sample is known
}

// noInterval is the interval column of kinds whose events carry their own values.
const noInterval = -1

// A spec defines a kind of profile: the events that it is computed from, and what they add to each column. Exactly one
// of measure and meter is set.
type spec struct {
	kind     sample.Kind
	columns  []column
	main     int // the column to show first
	period   ValueType
	every    int64    // the period, or 0 for the nominal sampling interval of the trace; with a meter, 0 means one event
	interval int      // column for the ticks until the next sample of the same thread, or noInterval; not with a meter
	tags     []string // keys of the labels that come from payloads
	subject  int      // index in tags of what the samples are about, such as the allocated type; or noSubject
	leaf     bool     // by default, the subject becomes the innermost frame
	bare     bool     // samples without a stack are normal

	// matches reports whether events of a type are samples of the kind. It is called once per type.
	matches func(*ntconv.Type) bool
	// measure fills an observation from an event of a matching type. It returns false if the payload is invalid.
	measure func(e *ntconv.Event, o *observation) bool

	// meter returns the state of the kind in one trace.
	meter func(c *collector) meter
	// crosses means that the events of a sample may be of several threads, so their order matters.
	crosses bool
	// choose returns which sources of a kind to use, given their numbers of samples; nil means all.
	choose func(samples []uint64) (keep []bool)
	// sources are the names of the sources for choose.
	sources []string
	// systematic reports whether the recorder takes a sample of a source after each fixed amount of what it samples. The
	// variance of an observation is then the square of its value.
	systematic func(source int) bool
	// unknown returns the column whose values the samples of a source do not state, or noColumn. A profile with such
	// samples omits the column, and shows the number of samples instead. A profile without such samples omits that number,
	// which is column 0 of kinds with unknown.
	unknown func(source int) int
}

// noColumn means that there is no such column.
const noColumn = -1

// noSubject is the subject of kinds whose samples are about nothing but their stack.
const noSubject = -1

// sampleCount is the type of a column that counts samples.
var sampleCount = ValueType{Type: "samples", Unit: "count"}

// counted returns a column that counts events.
func counted(name string) column {
	return column{ValueType: ValueType{Type: name, Unit: "count"}, one: true}
}

// nanos returns a column of nanoseconds that each sample states.
func nanos(name string) column { return column{ValueType: ValueType{Type: name, Unit: "nanoseconds"}} }

// specs returns the definitions of all kinds but Auto, indexed by kind.
var specs = sync.OnceValue(func() *[sample.Count]spec {
	var table [sample.Count]spec
	for _, list := range [][]spec{
		sampleSpecs(), allocSpecs(), exceptionSpecs(), lockSpecs(), collectionSpecs(), compileSpecs(), queueSpecs(), requestSpecs(),
		universalSpecs(), eventSpecs(),
	} {
		for _, s := range list {
			if s.meter != nil {
				s.interval = noInterval
			}
			if s.meter != nil && s.every == 0 { // the first column counts events
				s.period, s.every = s.columns[0].ValueType, 1
			}
			table[s.kind] = s
		}
	}
	return &table
})

// KindLabels returns the keys of the labels that samples of a kind get from payloads. The caller owns the slice.
func KindLabels(k sample.Kind) []string {
	if k >= sample.Count {
		return nil
	}
	return slices.Clone(specs()[k].tags)
}

// sampleSpecs returns the kinds whose events are samples of a profiler.
func sampleSpecs() []spec {
	wall, cpu := ValueType{Type: "wall", Unit: "nanoseconds"}, ValueType{Type: "cpu", Unit: "nanoseconds"}
	return []spec{
		{
			kind:     sample.Wall,
			columns:  []column{{ValueType: sampleCount, one: true}, {ValueType: wall, scale: scaleTicks}},
			main:     1,
			period:   wall,
			interval: 1,
			tags:     []string{LabelState},
			subject:  noSubject,
			matches:  rounds.IsSample,
			measure:  measureThread,
		},
		{
			kind:     sample.CPU,
			columns:  []column{{ValueType: sampleCount, one: true}, {ValueType: cpu, scale: scalePeriod}},
			main:     1,
			period:   cpu,
			interval: noInterval,
			subject:  noSubject,
			matches: func(t *ntconv.Type) bool {
				return clr.ClassOf(t) == clr.ClassUniversalCPU && imported.ColumnsOf(t) == nil
			},
			measure: measureCPU,
		},
		{ // a set adds the columns of the types that it adopts
			kind:     sample.Imported,
			interval: noInterval,
			subject:  noSubject,
			matches:  func(t *ntconv.Type) bool { return imported.ColumnsOf(t) != nil },
			measure:  measureImported,
		},
	}
}

// IsSample reports whether events of a type are samples of kind Wall or CPU. Imported samples were not taken from the
// recorded program.
func IsSample(t *ntconv.Type) bool {
	return specs()[sample.Wall].matches(t) || specs()[sample.CPU].matches(t)
}

// stateNames returns the runtime manifest's names of sample types, by number. External means code outside the runtime,
// which may be waiting or computing.
var stateNames = sync.OnceValue(func() (names []string) {
	layout := clr.Lookup(clr.SampleProfiler, 0, 0)
	for n := uint64(0); layout.MapName("Type", n) != ""; n++ {
		names = append(names, layout.MapName("Type", n))
	}
	return names
})

func measureThread(e *ntconv.Event, o *observation) bool {
	var s clr.Sample
	o.values[0] = 1
	if !clr.ParseSample(e, &s) {
		return false
	}
	if names := stateNames(); int(s.Type) < len(names) {
		o.tags[0] = append(o.tags[0], names[s.Type]...)
	}
	return true
}

// measureCPU counts a sample Value times; Value is 1 in every known trace.
func measureCPU(e *ntconv.Event, o *observation) bool {
	n, ok := clr.Value(e)
	if !ok {
		n = 1
	}
	o.values[0] = bin.Clamped[int64](n)
	o.values[1] = o.values[0]
	return ok
}
