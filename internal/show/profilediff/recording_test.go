package profilediff

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// profileOf returns the profile of a trace, with labels of slices, and the index of its main type.
func profileOf(t *testing.T, file corpus.File) (*profile.Profile, int) {
	t.Helper()
	r, err := reader.NewBytes(file.Data, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(nil)
	src := Divide(symbol.Watch(r, names))
	var b bytes.Buffer
	sink := pprof.New(&b, src.Info(), names, nil)
	if _, err := ntconv.Copy(sink, src); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	index, err := p.SampleIndexByName(p.DefaultSampleType)
	if err != nil {
		t.Fatal(err)
	}
	return p, index
}

// truthOf returns the nanoseconds that the recorded program measured in a method of the thread till-1.
func truthOf(t *testing.T, name, method string) float64 {
	t.Helper()
	data, err := os.ReadFile(corpus.Path("diff/" + name + ".truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth struct {
		Threads []struct {
			Name   string
			Detail map[string]any
		}
	}
	if err := json.Unmarshal(data, &truth); err != nil {
		t.Fatal(err)
	}
	for _, th := range truth.Threads {
		if th.Name == "till-1" {
			return th.Detail[method].(float64)
		}
	}
	t.Fatal("no thread till-1")
	return 0
}

// Two recordings of the same program show nothing significant. With one method slowed down, they show that method, and
// of the right size: the program measured it.
func TestRecordings(t *testing.T) {
	options := &Options{MinEffect: 0.01, RunNoise: 0.02}
	read := func(name string) *Recording {
		p, index := profileOf(t, corpus.Trace(t, "diff/"+name))
		return Read(p, index, Accuracy{})
	}
	if c := Compare(read("before"), read("again"), options); c.found() || c.Tested < 10 {
		t.Errorf("the same program: %s, %d functions tested", c.Headline(), c.Tested)
	}
	if c := Compare(read("again"), read("before"), options); c.found() {
		t.Errorf("the same program: %s", c.Headline())
	}
	for _, before := range []string{"before", "again"} {
		c := Compare(read(before), read("after"), options)
		slowed := []string{
			"Shop.Cpu.Heavy(double)", "Shop.Cpu.Split(int)", // and its caller
			"Shop.Cpu.Run(int)", "Shop.Program.Main(string[])", "System.Threading.Thread.Join()", "System.Threading.Thread.Join(int)", // which wait for it
			"Shop.Cpu.Run.lambda_0()",
		}
		for i := range c.Functions {
			f := &c.Functions[i]
			if f.Total.Significant && !slices.Contains(slowed, f.Name) {
				t.Errorf("%s: %s is not slower: %+v", before, f.Name, f.Total)
			}
		}
		f := functionOf(t, c, slowed[0])
		want := truthOf(t, "after", "Shop.Cpu.Heavy") - truthOf(t, before, "Shop.Cpu.Heavy")
		if f.Verdict != More && f.Verdict != MoreWithTotal || math.Abs(f.Total.Change-want) > *f.Total.Margin {
			t.Errorf("%s: Heavy changed by %g ±%g ns (%s), and the program measured %g", before, f.Total.Change, *f.Total.Margin, f.Verdict, want)
		}
		if m := functionOf(t, c, "Shop.Cpu.Medium(double)"); m.Verdict != NotChanged {
			t.Errorf("%s: Medium is unchanged: %+v", before, m)
		}
	}
}

// halve divides the samples of a profile into two at random: each slice of the time, with all its samples, belongs to
// one half. Both halves have equally many slices, which are numbered again.
func halve(p *profile.Profile, parts int, rng *rand.Rand) (halves [2]*profile.Profile) {
	last := int64(0)
	for _, s := range p.Sample {
		last = max(last, s.NumLabel[LabelSlice][0])
	}
	end := middleOf(last) + 1
	half, place := make([]int, parts), make([]int, parts)
	for i, n := range rng.Perm(parts) {
		half[n] = i % 2
	}
	var count [2]int
	for i := range parts {
		place[i] = count[half[i]]
		count[half[i]]++
	}
	for i := range halves {
		halves[i] = &profile.Profile{SampleType: p.SampleType, PeriodType: p.PeriodType, Period: p.Period, DurationNanos: p.DurationNanos / 2}
	}
	for _, s := range p.Sample {
		at := middleOf(s.NumLabel[LabelSlice][0])
		part := min(int(at/end*float64(parts)), parts-1)
		within := at - float64(part)*end/float64(parts)
		moved := *s
		moved.NumLabel = map[string][]int64{LabelSlice: {sliceOf(int64(float64(place[part])*end/float64(parts) + within))}}
		h := halves[half[part]]
		h.Sample = append(h.Sample, &moved)
	}
	return halves
}

// Random halves of one recording have findings in at most the stated share of comparisons.
func TestHalvesOfRecording(t *testing.T) {
	for _, name := range []string{"nettrace/roslyn-compile-net10", "nettrace/dotnetdiag-webapp-net5"} {
		t.Run(name, func(t *testing.T) {
			p, index := profileOf(t, corpus.SharedTrace(t, name))
			rng := rand.New(rand.NewPCG(6, 6))
			trials := 40
			if !corpus.Nightly() {
				trials = 10
			}
			findings, tested := 0, 0
			for range trials {
				halves := halve(p, 256, rng)
				c := Compare(Read(halves[0], index, Accuracy{}), Read(halves[1], index, Accuracy{}), &Options{})
				tested = max(tested, c.Tested)
				if c.found() {
					findings++
				}
			}
			t.Logf("up to %d functions tested", tested)
			if tested < 20 {
				t.Errorf("only %d functions tested", tested)
			}
			atMost(t, "findings", findings, trials, FalseDiscoveryRate)
		})
	}
}

// A method whose samples weigh half as much again in one half of a recording is found.
func TestScaledMethodIsFound(t *testing.T) {
	p, index := profileOf(t, corpus.Trace(t, "diff/before"))
	const method = "Shop.Cpu.Heavy(double)"
	rng := rand.New(rand.NewPCG(7, 7))
	const trials = 20
	found := 0
	for range trials {
		halves := halve(p, 512, rng)
		for _, s := range halves[1].Sample {
			if slices.ContainsFunc(s.Location, func(l *profile.Location) bool { return l.Line[0].Function.Name == method }) {
				s.Value = slices.Clone(s.Value)
				s.Value[index] += s.Value[index] / 2
			}
		}
		c := Compare(Read(halves[0], index, Accuracy{}), Read(halves[1], index, Accuracy{}), &Options{})
		if f := functionOf(t, c, method); f.Total.Significant && f.Total.Change > 0 {
			found++
		}
	}
	if t.Logf("found in %d of %d comparisons", found, trials); found < trials*8/10 {
		t.Errorf("%s: found in %d of %d comparisons", method, found, trials)
	}
}
