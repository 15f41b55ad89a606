package profilediff

import (
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"math"
	"math/rand/v2"
	"testing"
)

// atMost fails the test if more of n trials succeeded than a probability explains: the limit is exceeded by chance once
// in a thousand runs.
func atMost(t *testing.T, what string, successes, n int, probability float64) {
	t.Helper()
	limit := float64(n)*probability + 3.1*math.Sqrt(float64(n)*probability*(1-probability))
	t.Logf("%s: %d of %d", what, successes, n)
	if float64(successes) > limit {
		t.Errorf("%s: %d of %d, want at most %.0f%%", what, successes, n, 100*probability)
	}
}

// Runs of an unchanged program have findings in at most the stated share of comparisons, regardless of how long threads
// stay in a function. Without the variation over time, comparisons of correlated samples would have many.
func TestUnchangedProgramHasNoFindings(t *testing.T) {
	trials := 80
	if !corpus.Nightly() {
		trials = 20
	}
	naive := 0
	for _, dwell := range []float64{1, 10, 60} {
		rng := rand.New(rand.NewPCG(1, uint64(dwell)))
		findings := 0
		for range trials {
			before, after := typical(dwell).run(rng), typical(dwell).run(rng)
			c := compared(t, before, after)
			if c.Tested < 5 {
				t.Fatalf("only %d functions tested", c.Tested)
			}
			if c.found() {
				findings++
			}
			if dwell == 60 && hasNaiveFinding(Read(before, 1, Accuracy{}), Read(after, 1, Accuracy{})) {
				naive++
			}
		}
		atMost(t, "findings", findings, trials, FalseDiscoveryRate)
	}
	if naive < trials/6 {
		t.Errorf("independent samples would have %d findings in %d comparisons, so this test shows nothing", naive, trials)
	}
}

// hasNaiveFinding reports whether a function differs significantly if samples are taken to be independent.
func hasNaiveFinding(before, after *Recording) bool {
	var p []float64
	for _, f := range match(before.functions, after.functions) {
		if f.before == nil || f.after == nil || f.before.self.value == 0 {
			continue
		}
		p = append(p, pValue(measure{f.before.self.value, f.before.self.squares, 1}, measure{f.after.self.value, f.after.self.squares, 1}))
	}
	return discoveries(p, FalseDiscoveryRate) > 0
}

// A function that became slower is found at the sizes that docs/diff.md states, and as more than the total; the others
// are not called slower.
func TestSlowdownIsFound(t *testing.T) {
	trials := 40
	if !corpus.Nightly() {
		trials = 20
	}
	for _, c := range []struct {
		dwell, factor float64
	}{{1, 1.3}, {10, 2}} {
		rng := rand.New(rand.NewPCG(2, uint64(c.dwell)))
		found, wrong := 0, 0
		for range trials {
			slow := typical(c.dwell)
			slow.slow, slow.factor = 0, c.factor
			d := compared(t, typical(c.dwell).run(rng), slow.run(rng))
			if f := functionOf(t, d, "f0"); f.Self.Significant && f.Verdict == More || f.Verdict == MoreWithTotal {
				found++
			}
			for i := range d.Functions {
				if f := &d.Functions[i]; f.Name != "f0" && f.Name != "main" && (f.Verdict == More || f.Verdict == MoreWithTotal) {
					wrong++
					break
				}
			}
		}
		if found < trials*8/10 {
			t.Errorf("visits of %g ms, slower by %g: found in %d of %d comparisons", c.dwell, c.factor, found, trials)
		}
		atMost(t, "others called slower", wrong, trials, FalseDiscoveryRate)
	}
}

// If everything takes twice the time, values change and shares do not.
func TestTotalAndShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	all, one := typical(5), typical(5)
	all.slowdown = 2
	one.slow, one.factor = 0, 3
	c := compared(t, typical(5).run(rng), all.run(rng))
	if f := functionOf(t, c, "f0"); !c.Total.Significant || f.Verdict != MoreWithTotal || f.SelfShare.Significant {
		t.Errorf("everything takes twice the time: total %+v, f0 %+v", c.Total, f)
	}
	c = compared(t, typical(5).run(rng), one.run(rng))
	if f := functionOf(t, c, "f0"); f.Verdict != More {
		t.Errorf("only f0 is slower: %+v", f)
	}
	for i := range c.Functions {
		if f := &c.Functions[i]; f.Name != "f0" && f.Name != "main" && f.Self.Significant {
			t.Errorf("only f0 is slower: %+v", f)
		}
	}
}

// Per second, a recording of twice the length has the same values.
func TestPerSecond(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	long := typical(5)
	long.length *= 2
	before, after := Read(typical(5).run(rng), 1, Accuracy{}), Read(long.run(rng), 1, Accuracy{})
	c := Compare(before, after, &Options{MinEffect: 0.01})
	if !c.Total.Significant {
		t.Errorf("twice the length: %+v", c.Total)
	}
	c = Compare(before, after, &Options{MinEffect: 0.01, Per: "second", Exposure: [2]float64{before.Seconds, after.Seconds}})
	if c.found() || math.Abs(*c.Total.Percent) > 5 {
		t.Errorf("per second: %s, %+v", c.Headline(), c.Total)
	}
}

// Profiles without times have findings no more often, if their samples are those of a profiler that sees a thread in
// another function each time.
func TestUntimedProfiles(t *testing.T) {
	trials := 30
	if corpus.Nightly() {
		trials = 100
	}
	rng := rand.New(rand.NewPCG(5, 5))
	findings := 0
	for range trials {
		s := typical(1)
		s.untimed = true
		c := compared(t, s.run(rng), s.run(rng))
		if c.Before.Error != "count" || c.Tested < 10 {
			t.Fatalf("%+v", c.Before)
		}
		if c.found() {
			findings++
		}
	}
	atMost(t, "findings", findings, trials, FalseDiscoveryRate)
}
