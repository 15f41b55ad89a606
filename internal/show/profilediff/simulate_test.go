package profilediff

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/pprof/profile"
)

// A simulation is a program whose threads stay in functions for random times. A sample profiler sees each thread every
// millisecond.
type simulation struct {
	threads  int
	length   int       // milliseconds of work per thread
	weights  []float64 // by function: probability of a visit
	dwell    float64   // mean length of a visit in milliseconds
	slow     int       // function whose visits are slowed down by factor; -1 if none
	factor   float64
	slowdown float64 // of everything
	untimed  bool
}

// run returns the profile of a run of the program. The work is the same in each run, up to chance; slower functions
// make the run longer.
func (s *simulation) run(rng *rand.Rand) *profile.Profile {
	b := newProfileBuilder()
	for range s.threads {
		at, work := 0., 0.
		for work < float64(s.length) {
			f := s.pick(rng)
			visit := rng.ExpFloat64() * s.dwell
			work += visit
			if f == s.slow {
				visit *= s.factor
			}
			if s.slowdown > 0 {
				visit *= s.slowdown
			}
			for ms := math.Ceil(at); ms < at+visit; ms++ {
				b.add(int64(ms), 1, 1e6, fmt.Sprintf("f%d", f), "main")
			}
			at += visit
		}
		b.length = max(b.length, at)
	}
	return b.profile(!s.untimed)
}

func (s *simulation) pick(rng *rand.Rand) int {
	total := 0.
	for _, w := range s.weights {
		total += w
	}
	x := rng.Float64() * total
	for i, w := range s.weights {
		if x -= w; x < 0 {
			return i
		}
	}
	return len(s.weights) - 1
}

// A profileBuilder adds up samples of stacks by slice of time.
type profileBuilder struct {
	length float64 // milliseconds
	values map[sampleKey]*[2]int64
	stacks map[string][]string
	keys   []sampleKey
}

type sampleKey struct {
	slice int64
	stack string
}

func newProfileBuilder() *profileBuilder {
	return &profileBuilder{values: map[sampleKey]*[2]int64{}, stacks: map[string][]string{}}
}

// add adds samples of a stack, leaf first, at a time in milliseconds.
func (b *profileBuilder) add(at, count, value int64, stack ...string) {
	k := sampleKey{sliceOf(at), fmt.Sprint(stack)}
	if b.values[k] == nil {
		b.values[k] = new([2]int64)
		b.stacks[k.stack] = stack
		b.keys = append(b.keys, k)
	}
	b.values[k][0] += count
	b.values[k][1] += value
}

// profile returns the samples, with the labels of slices if timed is set.
func (b *profileBuilder) profile(timed bool) *profile.Profile {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "wall", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "wall", Unit: "nanoseconds"}, Period: 1e6, DurationNanos: int64(b.length * 1e6),
	}
	locations := map[string]*profile.Location{}
	for _, k := range b.keys {
		s := &profile.Sample{Value: b.values[k][:]}
		if timed {
			s.NumLabel = map[string][]int64{LabelSlice: {k.slice}}
		}
		for _, name := range b.stacks[k.stack] {
			l := locations[name]
			if l == nil {
				id := uint64(len(locations) + 1)
				f := &profile.Function{ID: id, Name: name}
				l = &profile.Location{ID: id, Line: []profile.Line{{Function: f}}}
				locations[name] = l
				p.Function, p.Location = append(p.Function, f), append(p.Location, l)
			}
			s.Location = append(s.Location, l)
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

// compared compares two profiles with the defaults of the command, except that there is no noise between runs.
func compared(t testing.TB, before, after *profile.Profile) *Comparison {
	t.Helper()
	c := Compare(Read(before, 1, Accuracy{}), Read(after, 1, Accuracy{}), &Options{MinEffect: 0.01})
	c.Sort(false)
	return c
}

// found reports whether anything is significant.
func (c *Comparison) found() bool { return c.Total.Significant || c.Significant > 0 }

// functionOf returns a function of a comparison.
func functionOf(t testing.TB, c *Comparison, name string) *Function {
	t.Helper()
	for i := range c.Functions {
		if c.Functions[i].Name == name {
			return &c.Functions[i]
		}
	}
	t.Fatalf("no function %s", name)
	return nil
}

// typical returns a program with 40 functions of different weights; f0 has about a fifth of the time.
func typical(dwell float64) *simulation {
	s := &simulation{threads: 2, length: 4000, dwell: dwell, slow: -1}
	for i := range 40 {
		s.weights = append(s.weights, 1/float64(i+1))
	}
	return s
}
