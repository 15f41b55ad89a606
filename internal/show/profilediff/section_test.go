package profilediff

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/distribution"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// observed returns the totals of a trace.
func observed(t *testing.T, name string) *Observed {
	t.Helper()
	r, err := reader.NewBytes(corpus.Trace(t, name).Data, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := Observe(r.Info(), ObserveOptions{})
	span := recording.NewRange(r.Info())
	for e, err := range ntconv.Events(r) {
		if err != nil {
			t.Fatal(err)
		}
		span.Observe(e)
		if err := o.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	o.End(span.Span())
	return o
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

// A row has the numbers of each trace on its side. That they are those of ntconv info is checked by its comparison with
// the other outputs.
func TestSidesOfSections(t *testing.T) {
	a, b := observed(t, "alloc-verbose"), observed(t, "waits")
	sections := func(before, after *Observed) *Comparison {
		p := Read(newProfileBuilder().profile(true), 1, Accuracy{})
		c := Compare(p, p, &Options{})
		c.AddSections(before, after)
		return c
	}
	both, collections, contentions := sections(a, b), sections(a, a), sections(b, b)
	if got, want := row(t, both, "Totals", "garbage collections"), row(t, collections, "Totals", "garbage collections"); got.Before != want.Before || got.After != 0 {
		t.Errorf("%+v, want %g before", got, want.Before)
	}
	if got, want := row(t, both, "Totals", "lock contentions"), row(t, contentions, "Totals", "lock contentions"); got.Before != 0 || got.After != want.After {
		t.Errorf("%+v, want %g after", got, want.After)
	}
}

// A mean of a counter is that of its values.
func TestCounterMeans(t *testing.T) {
	o := observed(t, "counters")
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

// The total of the compared profiles has one margin and one verdict, although totals have estimates of their errors of their own.
func TestTotalOfProfileAgrees(t *testing.T) {
	c := &Comparison{Type: "alloc_space", After: Side{Kind: "alloc"}, Total: Change{Before: 1, After: 3, Change: 2, Significant: true}}
	c.Sections = []Section{{sectionTotals, []Row{
		{"alloc alloc_space", "bytes", Change{Before: 1, After: 3}, totalOf{"alloc", "alloc_space"}},
		{"alloc alloc_space", "bytes", Change{Before: 1, After: 2}, totalOf{"alloc", "alloc_space"}},
		{"alloc_space", "bytes", Change{Before: 1, After: 3}, totalOf{"wait", "alloc_space"}},
	}}}
	c.agree()
	for i, want := range []bool{true, false, false} {
		if got := c.Sections[0].Rows[i].Significant; got != want {
			t.Errorf("row %d: %v", i, got)
		}
	}
}
