package profilediff

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ntconv/ntconv/internal/data/distribution"
	"github.com/ntconv/ntconv/internal/show/overview"
	"github.com/ntconv/ntconv/sample"
)

// A Section is a table of totals of both traces.
type Section struct {
	Name string `json:"name"`
	Rows []Row  `json:"rows"`
}

// Names of sections that other code asks for.
const (
	sectionTotals   = "Totals"
	sectionRequests = "Requests"
	sectionSpans    = "Spans"
)

// A Row is a total of both traces. P is absent if the total has no estimate of its error: maxima, numbers of threads,
// and quantiles of few values.
type Row struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Change

	total totalOf // of a row of sectionTotals
}

// A totalOf names the kind and the sample type of a total.
type totalOf struct{ kind, sampleType string }

// A table builds sections.
type table struct {
	c             *Comparison
	before, after *Observed
	rows          []Row
}

// AddSections adds the totals of two traces. Counts and totals are normalized as the profiles; means and quantiles are
// not. The rows of all sections are one family of tests. A profile has no totals, so with a trace there is nothing to
// compare.
func (c *Comparison) AddSections(before, after *Observed) {
	if before.info.Aggregate != after.info.Aggregate {
		c.mixed = true
		return
	}
	if c.same != nil {
		c.same.AddSections(before, after)
	}
	t := &table{c: c, before: before, after: after}
	t.add(sectionTotals, t.totals)
	t.add("Garbage collections", t.collections)
	t.add("Exceptions by type", func() { t.parts(sample.Exceptions, "count", false) })
	t.add("Allocations by type", func() { t.parts(sample.Alloc, "bytes", true) })
	t.add("Waits for locks", t.contention)
	t.add(sectionRequests, t.requests)
	t.add(sectionSpans, t.spans)
	t.add("Counters", t.counters)
	var p []float64
	for _, s := range c.Sections {
		for i := range s.Rows {
			p = append(p, pOf(&s.Rows[i].Change))
		}
	}
	limit := discoveries(p, rateSections)
	for _, s := range c.Sections {
		for i := range s.Rows {
			d := &s.Rows[i].Change
			d.Significant = d.P != nil && *d.P <= limit && math.Abs(d.Change) >= c.MinEffect*math.Abs(d.Before)
		}
	}
	c.agree()
}

// agree gives the row of the total of the compared profiles what was found for these: the same value has one margin and one verdict.
func (c *Comparison) agree() {
	compared := totalOf{c.After.Kind, c.Type}
	for _, s := range c.Sections {
		for i := range s.Rows {
			if r := &s.Rows[i]; r.total == compared && r.Before == c.Total.Before && r.After == c.Total.After {
				r.Change = c.Total
			}
		}
	}
}

// add adds the rows of a section, if there are any.
func (t *table) add(name string, rows func()) {
	t.rows = nil
	if rows(); len(t.rows) > 0 {
		t.c.Sections = append(t.c.Sections, Section{Name: name, Rows: t.rows})
	}
}

// row adds a row with two values and their variances, which are NaN if unknown. Values per unit are normalized.
func (t *table) row(name, unit string, normalized bool, before, after, varBefore, varAfter float64) {
	noise := t.c.RunNoise
	b := measure{before, varBefore + noise*noise*before*before, 1}
	a := measure{after, varAfter + noise*noise*after*after, 1}
	if normalized {
		b.exposure, a.exposure = t.c.options.Exposure[0], t.c.options.Exposure[1]
	}
	if b.value == 0 && a.value == 0 {
		return
	}
	t.rows = append(t.rows, Row{Name: name, Unit: unit, Change: t.c.change(b, a)})
}

// kindOf returns the totals of a kind, which are 0 if the trace has none.
func kindOf(o *Observed, name string) *overview.Kind {
	for i := range o.totals.Kinds {
		if o.totals.Kinds[i].Kind == name {
			return &o.totals.Kinds[i]
		}
	}
	return &overview.Kind{}
}

// valueOf returns the total of a sample type of a kind, which is 0 if the trace has none.
func valueOf(k *overview.Kind, name string) *overview.Value {
	for i := range k.Values {
		if k.Values[i].Type == name {
			return &k.Values[i]
		}
	}
	return &overview.Value{}
}

// varianceOf returns the variance of a total, NaN if there is no evidence of it.
func (t *table) varianceOf(e *overview.Evidence, total int64) float64 {
	switch {
	case total == 0:
		return 0
	case e == nil:
		return math.NaN()
	case t.c.SameWork:
		return e.Squares
	}
	return max(e.Squares, (*series)(e.Slices[:maxSlices]).variance())
}

// totals adds the number of samples and the totals of all kinds, and the number of threads.
func (t *table) totals() {
	for _, k := range sample.Preferred() {
		b, a := kindOf(t.before, k.String()), kindOf(t.after, k.String())
		if b.Samples == 0 && a.Samples == 0 || k == sample.Imported { // the profile itself is the total of imported samples
			continue
		}
		if isSampled(k) && (b.Samples == 0 || a.Samples == 0) { // one recorder did not take such samples
			continue
		}
		if !isSampled(k) {
			t.row(k.Noun(0), "count", true, float64(b.Samples), float64(a.Samples), t.varianceOf(b.Evidence, b.Samples),
				t.varianceOf(a.Evidence, a.Samples))
		}
		values := b.Values
		if len(values) == 0 {
			values = a.Values
		}
		for _, v := range values {
			vb, va := valueOf(b, v.Type), valueOf(a, v.Type)
			if v.Unit == "count" && v.Error == 0 {
				continue // the number of samples
			}
			name := k.String() + " " + v.Type
			if k.String() == v.Type {
				name = v.Type
			}
			before := len(t.rows)
			t.row(name, v.Unit, true, float64(vb.Total), float64(va.Total), t.totalVariance(vb), t.totalVariance(va))
			for i := range t.rows[before:] {
				t.rows[before+i].total = totalOf{k.String(), v.Type}
			}
		}
	}
	if b, a := len(t.before.threads), len(t.after.threads); b > 0 && a > 0 {
		t.row("threads", "count", false, float64(b), float64(a), math.NaN(), math.NaN())
	}
}

// isSampled reports whether the number of samples of a kind depends on the recorder more than on the program.
func isSampled(k sample.Kind) bool {
	return k == sample.Wall || k == sample.CPU || k == sample.Imported || k == sample.Alloc
}

// totalVariance returns the variance of a total: that of the estimate, if it is one, or that from its variation over
// time.
func (t *table) totalVariance(v *overview.Value) float64 {
	if estimate := v.Error * float64(v.Total); estimate > 0 {
		return estimate * estimate
	}
	return t.varianceOf(v.Evidence, v.Total)
}

// collections adds garbage collections by generation, and their pauses.
func (t *table) collections() {
	t.parts(sample.GC, "count", false)
	b, a := valueOf(kindOf(t.before, "gc"), "pause"), valueOf(kindOf(t.after, "gc"), "pause")
	t.quantiles("pause", b.Evidence, a.Evidence)
	share := func(o *Observed) float64 {
		if o.totals.GC == nil {
			return 0
		}
		return 100 * o.totals.GC.Share
	}
	t.row("pauses, share of the recording", "percent", false, share(t.before), share(t.after), math.NaN(), math.NaN())
}

// contention adds the lengths of waits for locks.
func (t *table) contention() {
	b, a := valueOf(kindOf(t.before, "contention"), "delay"), valueOf(kindOf(t.after, "contention"), "delay")
	t.quantiles("wait", b.Evidence, a.Evidence)
}

// parts adds the parts of a kind, the largest changes first: their values, or the numbers of their samples. The
// dispersion of a part is that of the kind.
func (t *table) parts(of sample.Kind, unit string, values bool) {
	sizes := map[string]*[2]overview.Part{}
	var names []string
	var dispersion [2]float64
	for side, o := range [2]*Observed{t.before, t.after} {
		k := kindOf(o, of.String())
		if dispersion[side] = 1; k.Samples > 0 {
			dispersion[side] = max(1, t.varianceOf(k.Evidence, k.Samples)/float64(k.Samples))
		}
		for _, p := range k.Parts {
			if p.Rest {
				p.Name = "(further names)"
			}
			if sizes[p.Name] == nil {
				sizes[p.Name] = new([2]overview.Part)
				names = append(names, p.Name)
			}
			sizes[p.Name][side] = p
		}
	}
	slices.Sort(names)
	for _, name := range names {
		var x, variance [2]float64
		for side, p := range sizes[name] {
			x[side], variance[side] = float64(p.Count), float64(p.Count)*dispersion[side]
			if values {
				x[side] = float64(p.Value)
				variance[side] = x[side] * x[side] / max(1, float64(p.Count)) * dispersion[side]
			}
		}
		if name == "" {
			name = "(unknown)"
		}
		t.row(name, unit, true, x[0], x[1], variance[0], variance[1])
	}
	slices.SortStableFunc(t.rows, func(a, b Row) int {
		return cmp.Compare(math.Abs(b.Change.Change), math.Abs(a.Change.Change))
	})
}

// requests adds the number and the durations of requests, by name.
func (t *table) requests() {
	type key struct{ side, name string }
	durations := map[key]*[2]*distribution.Distribution{}
	var keys []key
	for i, o := range [2]*Observed{t.before, t.after} {
		for _, d := range o.totals.Durations {
			k := key{d.Side, d.Name}
			if durations[k] == nil {
				durations[k] = new([2]*distribution.Distribution)
				keys = append(keys, k)
			}
			durations[k][i] = d.Lengths
		}
	}
	var dispersion [2]float64
	for i, o := range [2]*Observed{t.before, t.after} {
		k := kindOf(o, "requests")
		dispersion[i] = max(1, t.varianceOf(k.Evidence, k.Samples)/max(1, float64(k.Samples)))
	}
	for _, k := range keys {
		d := durations[k]
		var n [2]float64
		for i := range d {
			if d[i] != nil {
				n[i] = float64(d[i].Count())
			}
		}
		name := k.side + " " + k.name
		t.row(name, "count", true, n[0], n[1], n[0]*dispersion[0], n[1]*dispersion[1])
		t.quantilesOf(name, d[0], d[1], dispersion)
	}
}

// spans adds the number and the durations of spans, by scope and name. The number is not tested, because one request
// may have many spans.
func (t *table) spans() {
	var keys []spanKey
	for k := range t.before.spans {
		keys = append(keys, k)
	}
	for k := range t.after.spans {
		if t.before.spans[k] == nil {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b spanKey) int { return cmp.Or(cmp.Compare(a.scope, b.scope), cmp.Compare(a.name, b.name)) })
	for _, k := range keys {
		var n [2]float64
		for i, d := range [2]*distribution.Distribution{t.before.spans[k], t.after.spans[k]} {
			if d != nil {
				n[i] = float64(d.Count())
			}
		}
		name := k.name
		if k.scope != "" {
			name = k.scope + "/" + name
		}
		t.row(name, "count", true, n[0], n[1], math.NaN(), math.NaN())
		t.quantilesOf(name, t.before.spans[k], t.after.spans[k], [2]float64{untimedDispersion, untimedDispersion})
	}
}

// quantiles adds quantiles of the lengths of intervals.
func (t *table) quantiles(name string, before, after *overview.Evidence) {
	if before == nil || after == nil {
		return
	}
	dispersion := [2]float64{1, 1}
	t.quantilesOf(name, before.Lengths, after.Lengths, dispersion)
}

// quantilesOf adds quantiles of two distributions of nanoseconds, one of which may be nil.
func (t *table) quantilesOf(name string, before, after *distribution.Distribution, dispersion [2]float64) {
	if before == nil || after == nil || before.Count() == 0 || after.Count() == 0 {
		return
	}
	for _, percent := range []float64{50, 95, 99} {
		if float64(min(before.Count(), after.Count()))*(1-percent/100) < 1 {
			break // it would be the maximum
		}
		b, varB := quantile(before, percent/100, dispersion[0])
		a, varA := quantile(after, percent/100, dispersion[1])
		t.row(fmt.Sprintf("%s p%.0f", name, percent), "nanoseconds", false, b, a, varB, varA)
	}
	t.row(name+" max", "nanoseconds", false, before.Max().Float(), after.Max().Float(), math.NaN(), math.NaN())
}

// quantile returns a quantile and its variance: that of the distribution-free confidence interval between two ranks.
// The variance is NaN if there are too few numbers beyond the quantile.
func quantile(d *distribution.Distribution, q, dispersion float64) (value, variance float64) {
	n := float64(d.Count())
	deviation := math.Sqrt(n * q * (1 - q) * dispersion)
	rank := func(x float64) uint64 { return uint64(min(max(math.Ceil(x), 1), n)) }
	var of [3]distribution.Number
	d.Ranked(of[:], rank(n*q), rank(n*q-2*deviation), rank(n*q+2*deviation))
	if n*min(q, 1-q) < 5*dispersion {
		return of[0].Float(), math.NaN()
	}
	deviation = (of[2].Float() - of[1].Float()) / 4
	return of[0].Float(), deviation * deviation
}

// counters adds the means of the values of counters over time.
func (t *table) counters() {
	for key, b := range t.before.counters {
		a := t.after.counters[key]
		if a == nil {
			continue
		}
		name := key.provider + "/" + key.name
		if key.tags != "" {
			name += "{" + key.tags[1:] + "}"
		}
		if key.statistic != "mean" && key.statistic != "last" && key.statistic != "sum" && key.statistic != "rate" {
			name += " " + key.statistic
		}
		t.row(name, key.unit, false, b.mean, a.mean, b.variance(), a.variance())
	}
	slices.SortFunc(t.rows, func(a, b Row) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Unit, b.Unit)) })
}

// minReadings is the smallest number of values of a counter whose mean is tested.
const minReadings = 8

// variance returns the variance of the mean, NaN if there are too few values.
func (r *readings) variance() float64 {
	if r.n < minReadings {
		return math.NaN()
	}
	return r.squares / (r.n - 1) / r.n
}
