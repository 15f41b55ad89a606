package profilediff

import (
	"math"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv/internal/data/message"
)

// A Recording is a profile, added up by function.
type Recording struct {
	Name     string // of the input
	Kind     string // as --kind names it; "" if unknown
	Type     string // of the values, such as "wall"
	Unit     string // of the values, such as "nanoseconds"
	Estimate string // how the values were estimated; "" for counts
	Seconds  float64
	Samples  float64 // number of samples; 0 if unknown
	Timed    bool    // samples have times, so the sampling error is estimated from their variation

	all       cost
	functions map[string]*function
}

// A function is the value of a function itself, and of all samples with it on the stack.
type function struct {
	name        string
	unresolved  bool // the name is that of a module or of no module, because the frames have no symbol
	self, total cost
}

// A sampleReader adds up the samples of a profile.
type sampleReader struct {
	r            *Recording
	index, count int     // of the values and of the number of samples; count is -1 if unknown
	period       float64 // value of one sample of a profile without times, 0 if unknown
	accuracy     Accuracy
	process      string  // name of the process of the current sample, "" if unknown
	first, last  float64 // middles of the first and the last slice with a sample
	seen         map[*function]bool
	names        map[*profile.Function]*function
}

// Read adds up one sample type of a profile, the one with an index. The labels of Divide state when the samples were
// taken; without them the sampling error comes from the number of samples and the accuracy alone.
func Read(p *profile.Profile, index int, of Accuracy) *Recording {
	t := p.SampleType[index]
	r := &Recording{
		Type: t.Type, Unit: t.Unit, Seconds: float64(p.DurationNanos) / 1e9, functions: map[string]*function{},
	}
	s := &sampleReader{
		r: r, index: index, count: countColumn(p), first: math.Inf(1), last: math.Inf(-1), seen: map[*function]bool{},
		names: map[*profile.Function]*function{}, accuracy: of,
	}
	if math.IsNaN(of.Weight) {
		s.count = -1
	}
	if p.PeriodType != nil && p.PeriodType.Unit == t.Unit {
		s.period = float64(p.Period)
	}
	for _, sample := range p.Sample {
		if at, ok := timeOf(sample); ok {
			s.first, s.last = min(s.first, at), max(s.last, at)
			r.Timed = true
		}
	}
	if r.Timed {
		r.all.slices = new(series)
	}
	for _, sample := range p.Sample {
		s.add(sample)
	}
	if of.Error > 0 && of.Total > 0 {
		r.all.own = of.variance(r.all.value)
	}
	return r
}

// countColumn returns the index of the sample type that counts samples, or -1. Numbers of objects are estimates, and
// no numbers of samples.
func countColumn(p *profile.Profile) int {
	for i, t := range p.SampleType {
		if t.Unit == "count" && !strings.Contains(t.Type, "objects") {
			return i
		}
	}
	return -1
}

// timeOf returns the middle of the slice of a sample.
func timeOf(s *profile.Sample) (at float64, ok bool) {
	n := s.NumLabel[LabelSlice]
	if len(n) == 0 {
		return 0, false
	}
	return middleOf(n[0]), true
}

// add adds a sample.
func (s *sampleReader) add(sample *profile.Sample) {
	value := float64(sample.Value[s.index])
	square := s.square(sample, value)
	at, slice := -1, 0
	if when, ok := timeOf(sample); ok && s.last > s.first {
		slice = int((when - s.first) / (s.last - s.first) * maxSlices)
		at = min(max(slice, 0), maxSlices-1)
	}
	if s.count >= 0 {
		s.r.Samples += float64(sample.Value[s.count])
	}
	s.r.all.add(value, square, at, s.r.Timed)
	clear(s.seen)
	s.process = ""
	if names := sample.Label["process"]; len(names) > 0 {
		s.process = names[0]
	}
	leaf := true
	for _, l := range shownLocations(sample.Location) {
		for i := range max(1, len(l.Line)) {
			f := s.function(l, i)
			if leaf {
				f.self.add(value, square, at, s.r.Timed)
				leaf = false
			}
			if !s.seen[f] {
				s.seen[f] = true
				f.total.add(value, square, at, s.r.Timed)
			}
		}
	}
}

// square returns the sum of the squares of the weights of the events that a sample adds up. If their number is unknown,
// they may have been one, which overestimates the sum.
func (s *sampleReader) square(sample *profile.Sample, value float64) float64 {
	value = math.Abs(value)
	switch {
	case math.IsNaN(s.accuracy.Weight):
		return s.accuracy.Weight
	case s.count >= 0 && sample.Value[s.count] > 0:
		return value * value / float64(sample.Value[s.count])
	case s.accuracy.Weight > 0:
		return value * s.accuracy.Weight
	case s.r.Timed:
		return value * value
	case s.period > 0:
		return value * s.period
	}
	return math.NaN()
}

// add adds a sample in a slice, or at an unknown time if slice is negative.
func (c *cost) add(value, square float64, slice int, timed bool) {
	c.value += value
	c.squares += square
	if timed && c.slices == nil {
		c.slices = new(series)
	}
	if slice >= 0 {
		c.slices[slice] += value
	}
}

// function returns the function of a line of a location. A location without a function is that of its mapping, and
// addresses without a symbol are one function per module or, outside all modules, per process: an address means
// nothing in another process.
func (s *sampleReader) function(l *profile.Location, line int) *function {
	var of *profile.Function
	if line < len(l.Line) {
		of = l.Line[line].Function
	}
	if f := s.names[of]; f != nil && of != nil {
		return f
	}
	name, unresolved := message.Unnamed(""), true
	switch {
	case of != nil && of.Name != "":
		var module string
		if module, unresolved = moduleOfAddress(of.Name); !unresolved {
			name = of.Name
			break
		}
		if name = "[" + module + "]"; module == "" {
			return s.named(unresolvedIn(s.process), true)
		}
	case l.Mapping != nil && l.Mapping.File != "":
		name = message.Unnamed(l.Mapping.File)
	}
	f := s.named(name, unresolved)
	s.names[of] = f
	return f
}

// named returns the function with a name.
func (s *sampleReader) named(name string, unresolved bool) *function {
	f := s.r.functions[name]
	if f == nil {
		f = &function{name: name, unresolved: unresolved}
		s.r.functions[name] = f
	}
	return f
}

// unresolvedIn returns the name for the addresses of a process that are outside all modules.
func unresolvedIn(process string) string {
	if process == "" {
		return "[unresolved]"
	}
	return "[unresolved, " + process + "]"
}

// moduleOfAddress reports whether a name is the placeholder of an address or of a metadata token, and returns its
// module: "" for 0x7f00, libc.so.6 for libc.so.6+0x7f00, Shop for Shop!0x6000001.
func moduleOfAddress(name string) (module string, ok bool) {
	at := strings.LastIndex(name, "0x")
	if at < 0 || at+2 == len(name) || strings.Trim(name[at+2:], "0123456789abcdef") != "" {
		return "", false
	}
	if module = name[:at]; module == "" {
		return "", true
	}
	last := len(module) - 1
	return module[:last], last > 0 && (module[last] == '+' || module[last] == '!')
}

// suspension is the class whose methods a thread runs while .NET's sample profiler suspends it: Thread.PollGC and its
// callees.
const suspension = "System.Threading.Thread.PollGC"

// shownLocations returns a stack, leaf first, without the frames that only the sample profiler caused. Whether a
// suspended thread waits in them or in their caller changes from run to run.
func shownLocations(stack []*profile.Location) []*profile.Location {
	for i, l := range stack {
		if len(l.Line) == 0 || l.Line[0].Function == nil || !strings.HasPrefix(l.Line[0].Function.Name, suspension) {
			return stack[i:]
		}
	}
	return stack
}
