package profilediff

import (
	"cmp"
	"math"
	"slices"
)

// Options configure a comparison. The zero value compares totals without any minimum or noise.
type Options struct {
	// MinEffect is the smallest change that is significant, as a fraction of the total before.
	MinEffect float64
	// RunNoise is the assumed relative standard deviation between two runs of the same program, which a recording
	// cannot show. It is added to the sampling error of each recording.
	RunNoise float64
	// SameWork states that both recordings did the same work, such as a benchmark. The variation of a value over time
	// is then the course of the program, which repeats, and no error.
	SameWork bool
	// Per names what values are divided by, such as "second"; "" means nothing. Exposure is the number of these, before
	// and after.
	Per      string
	Exposure [2]float64
	PerOf    [2]string // which requests Exposure counts, for display
}

// FalseDiscoveryRate is the largest expected share of false findings among all significant changes. If nothing has
// changed, it is the largest probability of any finding. It is divided among the families of tests.
const FalseDiscoveryRate = rateTotal + rateValues + rateShares + rateSections

const (
	rateTotal    = 0.01 // the total of all samples
	rateValues   = 0.02 // values of functions
	rateShares   = 0.01 // shares of functions
	rateSections = 0.01 // totals of the traces
)

// minEvidence is the smallest number of independent samples, before and after together, with which a function is
// tested. A function with fewer could not be significant, but would make the tests of others stricter.
const minEvidence = 5

// A Change is a value before and after, normalized.
type Change struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Change float64 `json:"change"`
	// Percent is the change in percent of the value before; absent if that is 0.
	Percent *float64 `json:"change_percent,omitempty"`
	// Margin is half of the 95% confidence interval of Change; absent if the sampling error is unknown.
	Margin *float64 `json:"margin,omitempty"`
	// P is the probability of such a difference if nothing has changed; absent if it was not tested.
	P           *float64 `json:"p,omitempty"`
	Significant bool     `json:"significant"`
}

// A Verdict says how a function changed.
type Verdict string

// The verdicts. The first four are significant changes of the value. They differ by whether the share of the total
// changed, too, or the function only followed the total.
const (
	More          Verdict = "more"
	MoreWithTotal Verdict = "more-with-total"
	Less          Verdict = "less"
	LessWithTotal Verdict = "less-with-total"
	LargerShare   Verdict = "larger-share"  // only the share changed significantly
	SmallerShare  Verdict = "smaller-share" // only the share changed significantly
	NotChanged    Verdict = "not-significant"
	NotTested     Verdict = "not-tested" // too few samples, or the sampling error is unknown
)

// Values of Function.Status.
const (
	statusCommon = "common" // in both recordings
	statusNew    = "new"    // only in the second one
	statusGone   = "gone"   // only in the first one
)

// A Function is the change of a function.
type Function struct {
	Name    string  `json:"function"`
	Renamed string  `json:"renamed_from,omitempty"` // name before, if only numbers that the compiler chose differ
	Status  string  `json:"status"`
	Verdict Verdict `json:"verdict"`
	Self    Change  `json:"self"`  // without callees
	Total   Change  `json:"total"` // with callees
	// Shares are of the total of all samples, in percent. Their changes are percentage points.
	SelfShare  Change `json:"self_share"`
	TotalShare Change `json:"total_share"`

	tested bool
}

// A Side is one of the two inputs.
type Side struct {
	Input    string  `json:"input"`
	Kind     string  `json:"kind,omitempty"` // of the profile, as --kind names it
	Total    float64 `json:"total"`          // of all samples, not normalized
	Seconds  float64 `json:"seconds,omitempty"`
	Samples  float64 `json:"samples,omitempty"`
	Per      float64 `json:"per,omitempty"`      // number of what values are divided by
	PerOf    string  `json:"per_of,omitempty"`   // which requests Per counts
	Estimate string  `json:"estimate,omitempty"` // how the values were estimated
	// Error says what the sampling error was estimated from: "time", "count" or "unknown".
	Error string `json:"error_from"`
	// Unresolved is the share of the total in functions without a symbol, as a fraction.
	Unresolved float64 `json:"unresolved_share"`
}

// A Comparison is the result of Compare, in the form of the JSON of ntconv diff.
type Comparison struct {
	Before      Side       `json:"before"`
	After       Side       `json:"after"`
	Type        string     `json:"sample_type"`
	Unit        string     `json:"unit"`
	Per         string     `json:"per,omitempty"`
	Rate        float64    `json:"false_discovery_rate"`
	MinEffect   float64    `json:"min_effect"`
	RunNoise    float64    `json:"run_noise"`
	SameWork    bool       `json:"same_work"`
	Significant int        `json:"significant_functions"`
	Tested      int        `json:"tested_functions"`
	Untested    int        `json:"untested_functions"`
	Total       Change     `json:"total"`
	Functions   []Function `json:"functions"`
	Sections    []Section  `json:"sections"`

	options Options
	mixed   bool        // one input is a profile without the totals that the other has
	same    *Comparison // the comparison with Options.SameWork, nil if this is it
}

// Compare compares two profiles with equal sample types. Functions are sorted by the absolute change of their own
// values, or of their totals if cum is set.
func Compare(before, after *Recording, o *Options) *Comparison {
	c := &Comparison{
		Before: before.side(), After: after.side(), Type: after.Type, Unit: after.Unit, Per: o.Per,
		Rate: FalseDiscoveryRate, MinEffect: o.MinEffect, RunNoise: o.RunNoise, SameWork: o.SameWork, options: *o, Functions: []Function{},
		Sections: []Section{},
	}
	if o.Per == "" {
		c.options.Exposure = [2]float64{1, 1}
	} else {
		c.Before.Per, c.After.Per = o.Exposure[0], o.Exposure[1]
		c.Before.PerOf, c.After.PerOf = o.PerOf[0], o.PerOf[1]
	}
	if !o.SameWork {
		same := *o
		same.SameWork = true
		c.same = Compare(before, after, &same)
	}
	c.Total = c.change(c.measures(&before.all, &after.all))
	var none cost
	for _, p := range match(before.functions, after.functions) {
		f := Function{Name: p.name, Renamed: p.renamed, Status: statusCommon}
		selfBefore, totalBefore, selfAfter, totalAfter := &none, &none, &none, &none
		if p.before != nil {
			selfBefore, totalBefore = &p.before.self, &p.before.total
		} else {
			f.Status = statusNew
		}
		if p.after != nil {
			selfAfter, totalAfter = &p.after.self, &p.after.total
		} else {
			f.Status = statusGone
		}
		f.Self = c.change(c.measures(selfBefore, selfAfter))
		f.Total = c.change(c.measures(totalBefore, totalAfter))
		f.SelfShare = c.share(selfBefore, selfAfter, before, after)
		f.TotalShare = c.share(totalBefore, totalAfter, before, after)
		f.tested = !p.isPlaceholder() && f.Total.P != nil && c.evidence(c.measures(totalBefore, totalAfter)) >= minEvidence
		c.Functions = append(c.Functions, f)
	}
	c.judge()
	return c
}

func (r *Recording) side() Side {
	s := Side{Input: r.Name, Kind: r.Kind, Total: r.all.value, Seconds: r.Seconds, Samples: r.Samples, Estimate: r.Estimate, Error: "count"}
	switch {
	case r.Timed:
		s.Error = "time"
	case math.IsNaN(r.all.squares):
		s.Error = "unknown"
	}
	unresolved := 0.
	for _, f := range r.functions {
		if f.unresolved {
			unresolved += f.self.value // integers, so that the order does not matter
		}
	}
	if r.all.value > 0 {
		s.Unresolved = unresolved / r.all.value
	}
	return s
}

// measures returns a value of both recordings with its error.
func (c *Comparison) measures(before, after *cost) (b, a measure) {
	b = measure{before.value, before.variance(&c.options), c.options.Exposure[0]}
	a = measure{after.value, after.variance(&c.options), c.options.Exposure[1]}
	return b, a
}

// evidence returns the number of independent samples that two values correspond to.
func (c *Comparison) evidence(b, a measure) float64 {
	if b.variance+a.variance <= 0 {
		return 0
	}
	return (b.value + a.value) * (b.value + a.value) / (b.variance + a.variance)
}

// change returns the difference of two measures.
func (c *Comparison) change(b, a measure) Change {
	d := Change{Before: b.rate(), After: a.rate(), Change: a.rate() - b.rate()}
	if d.Before != 0 {
		percent := 100 * d.Change / d.Before
		d.Percent = &percent
	}
	if p := pValue(b, a); !math.IsNaN(p) {
		margin := tQuantile95 * math.Sqrt(b.variance/(b.exposure*b.exposure)+a.variance/(a.exposure*a.exposure))
		d.P, d.Margin = &p, &margin
	}
	return d
}

// tQuantile95 is the 97.5% quantile of Student's distribution with the degrees of freedom of two recordings, 30.
const tQuantile95 = 2.042

// share returns the change of a share of the total, in percent.
func (c *Comparison) share(b, a *cost, before, after *Recording) Change {
	d := c.change(b.shareMeasure(&before.all, &c.options), a.shareMeasure(&after.all, &c.options))
	d.Before, d.After, d.Change = 100*d.Before, 100*d.After, 100*d.Change
	if d.Margin != nil {
		*d.Margin *= 100
	}
	return d
}

// judge decides which changes are significant. Values and shares are two families of tests; the functions of each are
// tested together. The total of all samples is a test of its own.
func (c *Comparison) judge() {
	var values, shares []float64
	for i := range c.Functions {
		if f := &c.Functions[i]; f.tested {
			c.Tested++
			values, shares = append(values, *f.Total.P), append(shares, pOf(&f.TotalShare))
			if f.isCaller() { // otherwise it would be the same test twice, or none
				values, shares = append(values, *f.Self.P), append(shares, pOf(&f.SelfShare))
			}
		} else {
			c.Untested++
		}
	}
	c.Total.Significant = c.Total.P != nil && *c.Total.P <= rateTotal &&
		math.Abs(c.Total.Change) >= c.MinEffect*c.Total.Before
	value, share := discoveries(values, rateValues), discoveries(shares, rateShares)
	for i := range c.Functions {
		f := &c.Functions[i]
		if !f.tested {
			f.Verdict = NotTested
			continue
		}
		for _, d := range []*Change{&f.Self, &f.Total} {
			d.Significant = *d.P <= value && math.Abs(d.Change) >= c.MinEffect*c.Total.Before
		}
		for _, d := range []*Change{&f.SelfShare, &f.TotalShare} {
			d.Significant = d.P != nil && *d.P <= share && math.Abs(d.Change) >= 100*c.MinEffect
		}
		if f.Verdict = f.verdict(); f.Verdict != NotChanged {
			c.Significant++
		}
	}
}

// isCaller reports whether a function has values of its own that differ from its values with callees.
func (f *Function) isCaller() bool {
	return (f.Self.Before != 0 || f.Self.After != 0) && (f.Self.Before != f.Total.Before || f.Self.After != f.Total.After)
}

// pOf returns the p-value of a change, NaN if it was not tested.
func pOf(d *Change) float64 {
	if d.P == nil {
		return math.NaN()
	}
	return *d.P
}

// verdict returns the verdict for a function whose significant changes are marked. The function's own value decides if
// it changed, because a change of the total may come from a callee.
func (f *Function) verdict() Verdict {
	value, share := &f.Self, &f.SelfShare
	if !f.Self.Significant && (f.Total.Significant || !f.SelfShare.Significant) {
		value, share = &f.Total, &f.TotalShare
	}
	switch {
	case value.Significant && value.Change > 0 && share.Significant && share.Change > 0:
		return More
	case value.Significant && value.Change > 0:
		return MoreWithTotal
	case value.Significant && share.Significant && share.Change < 0:
		return Less
	case value.Significant:
		return LessWithTotal
	case share.Significant && share.Change > 0:
		return LargerShare
	case share.Significant:
		return SmallerShare
	}
	return NotChanged
}

// Sort sorts the functions by the absolute change of their own values, or of their totals if total is set, significant
// ones first.
func (c *Comparison) Sort(total bool) {
	size := func(f *Function) float64 {
		if total {
			return math.Abs(f.Total.Change)
		}
		return math.Abs(f.Self.Change)
	}
	isSignificant := func(f *Function) int {
		if f.Verdict == NotChanged || f.Verdict == NotTested {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(c.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(isSignificant(&a), isSignificant(&b)), cmp.Compare(size(&b), size(&a)),
			cmp.Compare(math.Abs(b.Total.Change), math.Abs(a.Total.Change)), cmp.Compare(a.Name, b.Name))
	})
}
