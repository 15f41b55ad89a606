package profilediff

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// allocating is the profile of a program that allocates objects in a few bursts, as .NET's AllocationSampled sees it,
// with the accuracy of its total. Each run allocates exactly the same objects; times states how often.
func allocating(rng *rand.Rand, times int) (*profile.Profile, Accuracy) {
	const mean = 100 << 10
	b := newProfileBuilder()
	b.length = 1000
	samples, total, variance := 0., 0., 0.
	for burst := range 4 {
		for object := range 400 * times {
			size := float64(1000 * (1 + object%40))
			p := -math.Expm1(-size / mean)
			if rng.Float64() >= p {
				continue
			}
			b.add(int64(burst*250+object%7), 1, int64(size/p), "type", []string{"load", "parse", "run", "save"}[burst], "main")
			samples, total, variance = samples+1, total+math.Floor(size/p), variance+(1-p)/p/p*size*size
		}
	}
	p := b.profile(true)
	p.SampleType = []*profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}}
	return p, Accuracy{Weight: total / samples, Total: total, Error: math.Sqrt(variance) / total}
}

// The total of an estimate is judged by its own standard error, however unevenly the program allocates: recordings of
// the same program differ significantly no more often than stated, and those of one that allocates twice as much do.
func TestTotalOfEstimate(t *testing.T) {
	const trials = 200
	rng := rand.New(rand.NewPCG(8, 8))
	read := func(times int) *Recording {
		p, accuracy := allocating(rng, times)
		return Read(p, 1, accuracy)
	}
	same, twice, margins := 0, 0, 0
	for range trials {
		before, again, more := read(1), read(1), read(2)
		c := Compare(before, again, &Options{})
		if c.Total.Significant {
			same++
		}
		if math.Abs(c.Total.Change) > *c.Total.Margin {
			margins++
		}
		if Compare(before, more, &Options{}).Total.Significant {
			twice++
		}
	}
	atMost(t, "equal totals", same, trials, rateTotal)
	atMost(t, "changes beyond the margin", margins, trials, 0.05)
	if twice < trials*9/10 {
		t.Errorf("twice the total is found in %d of %d", twice, trials)
	}
}

// The total of a part of an estimate has the error of its number of samples, and between a part and the whole there is
// no leap.
func TestPartOfEstimate(t *testing.T) {
	a := Accuracy{Weight: 10, Total: 1000, Error: 0.01}
	for value, want := range map[float64]float64{1000: 0.01, 10: 0.995, 40: 0.49, 999.999: 0.0105} {
		if got := math.Sqrt(a.variance(value)) / value; math.Abs(got-want) > 0.001 {
			t.Errorf("a part of %g: standard error %g, want %g", value, got, want)
		}
	}
}

// The report names --same-work exactly where it would decide otherwise, and what it would find.
func TestSameWorkIsNamed(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	compare := func(times int, o Options) *Comparison {
		before, accuracyBefore := allocating(rng, 1)
		after, accuracyAfter := allocating(rng, times)
		return Compare(Read(before, 1, accuracyBefore), Read(after, 1, accuracyAfter), &o)
	}
	c, same := compare(3, Options{}), compare(3, Options{SameWork: true})
	if c.Significant > 0 || same.Significant < 5 {
		t.Fatalf("%d functions, %d with --same-work: this test shows nothing", c.Significant, same.Significant)
	}
	for _, text := range []string{c.Text(0), c.Markdown(0)} {
		if !strings.Contains(text, " more functions") || !strings.Contains(text, "same-work") {
			t.Errorf("--same-work is not named: %s", text)
		}
	}
	for _, text := range []string{same.Text(0), compare(1, Options{}).Text(0)} {
		if strings.Contains(text, "same-work") {
			t.Errorf("--same-work would decide nothing otherwise: %s", text)
		}
	}
}
