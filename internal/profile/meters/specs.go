package meters

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

// A Scale is the conversion from the total of a column to a value of its type.
type scale uint8

const (
	scaleNone     scale = iota // none
	ScaleTicks                 // ticks of the trace's clock, to nanoseconds
	ScalePeriod                // sampling intervals, to nanoseconds
	ScaleFraction              // fractions of 1/fraction, rounded to the nearest integer
)

// Fraction is the number of steps per unit of a column with scaleFraction. An estimate such as 1.4 objects is rounded
// only once, when all samples of a stack have been added up. With 1/1024, the error of a step is far below the sampling
// error, and totals may exceed 100 days of nanoseconds.
const Fraction = 1 << 10

// A Column is a sample type and how totals become its values.
type Column struct {
	sample.Type
	Scale scale
	One   bool // every event adds 1, so the value of a single sample is known
}

// NoInterval is the interval column of kinds whose events carry their own values.
const NoInterval = -1

// A Spec defines a kind of profile: the events that it is computed from, and what they add to each column. Exactly one
// of measure and meter is set.
type Spec struct {
	Kind     sample.Kind
	Columns  []Column
	main     int // the column to show first
	Period   sample.Type
	Every    int64    // the period, or 0 for the nominal sampling interval of the trace; with a meter, 0 means one event
	Interval int      // column for the ticks until the next sample of the same thread, or noInterval; not with a meter
	Tags     []string // keys of the labels that come from payloads
	Subject  int      // index in tags of what the samples are about, such as the allocated type; or noSubject
	leaf     bool     // by default, the subject becomes the innermost frame
	Bare     bool     // samples without a stack are normal

	// Matches reports whether events of a type are samples of the kind. It is called once per type.
	Matches func(*ntconv.Type) bool
	// Measure fills an observation from an event of a matching type. It returns false if the payload is invalid.
	Measure func(e *ntconv.Event, o *Observation) bool

	// Meter returns the state of the kind in one trace.
	Meter func(c *Collector) meter
	// Totals means that only totals are meaningful: a sample is the own time of a slice, which may be in several parts, so
	// outputs of single samples do not have the kind.
	Totals bool
	// crosses means that the events of a sample may be of several threads, so their order matters.
	crosses bool
	// choose returns which sources of a kind to use, given their numbers of samples; nil means all.
	choose func(samples []uint64) (keep []bool)
	// Sources are the names of the sources for choose.
	Sources []string
	// Systematic reports whether the recorder takes a sample of a source after each fixed amount of what it samples. The
	// variance of an observation is then the square of its value.
	Systematic func(source int) bool
	// Unknown returns the column whose values the samples of a source do not state, or noColumn. A profile with such
	// samples omits the column, and shows the number of samples instead. A profile without such samples omits that number,
	// which is column 0 of kinds with unknown.
	Unknown func(source int) int
}

// NoColumn means that there is no such column.
const NoColumn = -1

// noSubject is the subject of kinds whose samples are about nothing but their stack.
const noSubject = -1

// sampleCount is the type of a column that counts samples.
var sampleCount = sample.Type{Type: "samples", Unit: "count"}

// counted returns a column that counts events.
func counted(name string) Column {
	return Column{Type: sample.Type{Type: name, Unit: "count"}, One: true}
}

// nanos returns a column of nanoseconds that each sample states.
func nanos(name string) Column {
	return Column{Type: sample.Type{Type: name, Unit: "nanoseconds"}}
}

// Specs returns the definitions of all kinds but Auto, indexed by kind.
var Specs = sync.OnceValue(func() *[sample.Count]Spec {
	var table [sample.Count]Spec
	for _, list := range [][]Spec{
		sampleSpecs(), allocSpecs(), exceptionSpecs(), lockSpecs(), collectionSpecs(), compileSpecs(), queueSpecs(), requestSpecs(),
		universalSpecs(), sliceSpecs(), eventSpecs(),
	} {
		for _, s := range list {
			if s.Meter != nil {
				s.Interval = NoInterval
			}
			if s.Meter != nil && s.Every == 0 { // the first column counts events
				s.Period, s.Every = s.Columns[0].Type, 1
			}
			table[s.Kind] = s
		}
	}
	return &table
})

// KindLabels returns the keys of the labels that samples of a kind get from payloads. The caller owns the slice.
func KindLabels(k sample.Kind) []string {
	if k >= sample.Count {
		return nil
	}
	return slices.Clone(Specs()[k].Tags)
}

// sampleSpecs returns the kinds whose events are samples of a profiler.
func sampleSpecs() []Spec {
	wall, cpu := sample.Type{Type: "wall", Unit: "nanoseconds"}, sample.Type{Type: "cpu", Unit: "nanoseconds"}
	return []Spec{
		{
			Kind:     sample.Wall,
			Columns:  []Column{{Type: sampleCount, One: true}, {Type: wall, Scale: ScaleTicks}},
			main:     1,
			Period:   wall,
			Interval: 1,
			Tags:     []string{LabelState},
			Subject:  noSubject,
			Matches:  rounds.IsSample,
			Measure:  measureThread,
		},
		{
			Kind:     sample.CPU,
			Columns:  []Column{{Type: sampleCount, One: true}, {Type: cpu, Scale: ScalePeriod}},
			main:     1,
			Period:   cpu,
			Interval: NoInterval,
			Subject:  noSubject,
			Matches: func(t *ntconv.Type) bool {
				return clr.ClassOf(t) == clr.ClassUniversalCPU && imported.ColumnsOf(t) == nil
			},
			Measure: measureCPU,
		},
		{ // a set adds the columns of the types that it adopts
			Kind:     sample.Imported,
			Interval: NoInterval,
			Subject:  noSubject,
			Matches:  func(t *ntconv.Type) bool { return imported.ColumnsOf(t) != nil },
			Measure:  measureImported,
		},
	}
}

// IsSample reports whether events of a type are samples of kind Wall or CPU. Imported samples were not taken from the
// recorded program.
func IsSample(t *ntconv.Type) bool {
	return Specs()[sample.Wall].Matches(t) || Specs()[sample.CPU].Matches(t)
}

// externalCode is the type of samples of threads in native code.
const externalCode = 1

// IsExternal reports whether an event is a sample of a thread in native code, which mostly waits.
func IsExternal(e *ntconv.Event) bool {
	var s clr.Sample
	return IsSample(e.Type) && clr.ParseSample(e, &s) && s.Type == externalCode
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

func measureThread(e *ntconv.Event, o *Observation) bool {
	var s clr.Sample
	o.Values[0] = 1
	if !clr.ParseSample(e, &s) {
		return false
	}
	if names := stateNames(); int(s.Type) < len(names) {
		o.Tags[0] = append(o.Tags[0], names[s.Type]...)
	}
	return true
}

// measureCPU counts a sample Value times; Value is 1 in every known trace.
func measureCPU(e *ntconv.Event, o *Observation) bool {
	n, ok := clr.Value(e)
	if !ok {
		n = 1
	}
	o.Values[0] = bin.Clamped[int64](n)
	o.Values[1] = o.Values[0]
	return ok
}

// measureImported reads the values of the columns, which are all fields after the first one.
func measureImported(e *ntconv.Event, o *Observation) bool {
	i := -1
	for _, v := range e.Fields() {
		if i == len(o.Values) {
			break
		}
		if i >= 0 {
			if v.Kind() != ntconv.ValueInt {
				return false
			}
			o.Values[i] = v.Int()
		}
		i++
	}
	return i == len(o.Values)
}

// Rounded rounds a number of steps of scaleFraction to the nearest integer. It adds what earlier calls have omitted, so
// that the total of many small numbers is correct.
func Rounded(steps, carry int64) (n, rest int64) {
	steps = bin.AddClamped(steps, carry)
	n = steps / Fraction
	rest = steps - n*Fraction
	if rest >= Fraction/2 {
		n, rest = n+1, rest-Fraction
	}
	return n, rest
}

// SourcesOf returns the names of the kinds of events that a kind is computed from, and which of them its profile uses,
// given the number of samples from each. A kind with one source has no names. A list of samples that ends early means
// that there are none of the other sources.
func SourcesOf(k sample.Kind, samples []uint64) (names []string, used []bool) {
	spec := &Specs()[k]
	n := max(len(samples), len(spec.Sources))
	samples = append(slices.Clone(samples), make([]uint64, n-len(samples))...)
	if spec.choose != nil {
		return spec.Sources, spec.choose(samples)
	}
	used = make([]bool, n)
	for i := range used {
		used[i] = true
	}
	return spec.Sources, used
}

// UnknownColumn returns the column that a profile of a kind omits, given the number of samples from each source and
// which sources it uses: the column that samples of a source do not state, or else the number of samples. It returns
// NoColumn if samples of all sources of the kind have all columns.
func UnknownColumn(k sample.Kind, samples []uint64, used []bool) int {
	unknown := Specs()[k].Unknown
	if unknown == nil {
		return NoColumn
	}
	for source, n := range samples {
		if i := unknown(source); n > 0 && used[source] && i != NoColumn {
			return i
		}
	}
	return 0
}
