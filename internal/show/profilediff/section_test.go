package profilediff

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/distribution"
	"github.com/ntconv/ntconv/internal/show/overview"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// observed returns the totals of a trace, and those that ntconv info prints.
func observed(t *testing.T, name string) (*Observed, *overview.Overview) {
	t.Helper()
	var o *Observed
	var info *overview.Sink
	var first, last ntconv.Ticks
	r, err := reader.NewBytes(corpus.Trace(t, name).Data, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, info = Observe(r.Info(), ObserveOptions{}), overview.New(r.Info(), overview.Options{TypeName: func(s string) string { return s }})
	for {
		e, err := r.Next()
		if err != nil {
			break
		}
		if e.Kind == ntconv.KindEvent {
			if first == 0 {
				first = e.Time
			}
			last = e.Time
		}
		if o.Write(e) != nil || info.Write(e) != nil {
			t.Fatal("a sink failed")
		}
	}
	o.End(first, last, true)
	_ = info.Close()
	return o, info.Describe(first, last, true, "")
}

// row returns a row of a section.
func row(t *testing.T, c *Comparison, section, name string) *Row {
	t.Helper()
	for _, s := range c.Sections {
		for i := range s.Rows {
			if s.Name == section && s.Rows[i].Name == name {
				return &s.Rows[i]
			}
		}
	}
	t.Fatalf("no row %s of %s in %+v", name, section, c.Sections)
	return nil
}

// The tables have the totals of both traces as ntconv info prints them, on the right sides.
func TestSectionsAreThoseOfInfo(t *testing.T) {
	for _, names := range [][2]string{{"alloc-verbose", "waits"}, {"exceptions", "alloc-verbose"}, {"counters", "exceptions"}} {
		before, infoBefore := observed(t, names[0])
		after, infoAfter := observed(t, names[1])
		c := Compare(Read(newProfileBuilder().profile(true), 1, Accuracy{}), Read(newProfileBuilder().profile(true), 1, Accuracy{}), &Options{})
		c.AddSections(before, after)
		for side, info := range []*overview.Overview{infoBefore, infoAfter} {
			value := func(r *Row) float64 { return [2]float64{r.Before, r.After}[side] }
			checked := 0
			if g := info.GC; g != nil {
				if got := value(row(t, c, "Totals", "garbage collections")); got != float64(g.Collections) {
					t.Errorf("%v: %g collections, want %d", names, got, g.Collections)
				}
				if got := value(row(t, c, "Totals", "gc pause")); got != float64(g.TotalPause) {
					t.Errorf("%v: pause %g, want %d", names, got, g.TotalPause)
				}
				for _, p := range g.Generations {
					if got := value(row(t, c, "Garbage collections", p.Name)); got != float64(p.Count) {
						t.Errorf("%v: %s: %g, want %d", names, p.Name, got, p.Count)
					}
				}
				checked++
			}
			if x := info.Exceptions; x != nil {
				for _, s := range c.Sections {
					sum := 0.
					for i := range s.Rows {
						sum += value(&s.Rows[i])
					}
					if s.Name == "Exceptions by type" && sum != float64(x.Count) {
						t.Errorf("%v: %g exceptions, want %d", names, sum, x.Count)
					}
				}
				checked++
			}
			if x := info.Contention; x != nil {
				if got := value(row(t, c, "Totals", "lock contentions")); got != float64(x.Count) {
					t.Errorf("%v: %g contentions, want %d", names, got, x.Count)
				}
				checked++
			}
			if checked == 0 && len(info.Counters) == 0 {
				t.Errorf("%s: nothing was compared", names[side])
			}
		}
	}
}

// A mean of a counter is that of its values.
func TestCounterMeans(t *testing.T) {
	o, _ := observed(t, "counters")
	c := Compare(Read(newProfileBuilder().profile(true), 1, Accuracy{}), Read(newProfileBuilder().profile(true), 1, Accuracy{}), &Options{})
	c.AddSections(o, o)
	i := slices.IndexFunc(c.Sections, func(s Section) bool { return s.Name == "Counters" })
	if i < 0 || len(c.Sections[i].Rows) < 5 {
		t.Fatalf("counters are missing: %+v", c.Sections)
	}
	var of readings
	r := rand.New(rand.NewPCG(1, 9))
	values := make([]float64, 100)
	sum := 0.
	for i := range values {
		values[i] = r.NormFloat64()
		of.add(values[i])
		sum += values[i] / 100
	}
	squares := 0.
	for _, v := range values {
		squares += (v - sum) * (v - sum) / 99
	}
	if math.Abs(of.mean-sum) > 1e-12 || math.Abs(of.variance()-squares/100) > 1e-12 {
		t.Errorf("mean %g and variance %g, want %g and %g", of.mean, of.variance(), sum, squares/100)
	}
}

// Quantiles of two samples of one distribution differ significantly no more often than stated, and those of a slower
// one do.
func TestQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 10))
	draw := func(n int, factor float64) *distribution.Distribution {
		d := new(distribution.Distribution)
		for range n {
			d.Add(distribution.Uint(uint64(1e6 * factor * math.Exp(rng.NormFloat64()))))
		}
		return d
	}
	for _, q := range []float64{0.5, 0.95} {
		const trials = 400
		same, slower := 0, 0
		for range trials {
			a, va := quantile(draw(500, 1), q, 1)
			b, vb := quantile(draw(500, 1), q, 1)
			s, vs := quantile(draw(500, 1.8), q, 1)
			if pValue(measure{a, va, 1}, measure{b, vb, 1}) <= 0.05 {
				same++
			}
			if pValue(measure{a, va, 1}, measure{s, vs, 1}) <= 0.01 {
				slower++
			}
		}
		atMost(t, "equal distributions", same, trials, 0.05)
		if slower < trials*8/10 {
			t.Errorf("quantile %g: 80%% slower is found in %d of %d", q, slower, trials)
		}
	}
	if _, v := quantile(draw(50, 1), 0.95, 1); !math.IsNaN(v) {
		t.Error("the 95% quantile of 50 values has an error")
	}
}
