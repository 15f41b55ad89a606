package profile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
)

// A Totals adds up the samples that a Stream gives for one kind. It is not safe for concurrent use.
type Totals struct {
	kind    sample.Kind
	types   []sample.Type
	last    *sample.Type // the first element of the latest list of types; its columns are place
	place   []int        // indices in types
	sources []sourceTotals
}

// A sourceTotals holds the totals of the samples from one source, by type.
type sourceTotals struct {
	samples   uint64
	values    []int64
	variances []float64
}

// NewTotals returns totals without samples.
func NewTotals(k sample.Kind) *Totals { return &Totals{kind: k} }

// Add adds a sample with the members of a Weighed, which it borrows. Sums saturate. It allocates only for new sources and
// types.
func (t *Totals) Add(count uint64, types []sample.Type, values []int64, variances []float64, source uint8) {
	for int(source) >= len(t.sources) {
		t.sources = append(t.sources, sourceTotals{
			values: make([]int64, len(t.types)), variances: make([]float64, len(t.types)),
		})
	}
	s := &t.sources[source]
	s.samples += count
	if len(types) == 0 {
		return
	}
	if &types[0] != t.last {
		t.arrange(types)
	}
	for i, v := range values {
		s.values[t.place[i]] = bin.AddClamped(s.values[t.place[i]], v)
	}
	for i, v := range variances {
		s.variances[t.place[i]] += v
	}
}

// arrange determines the columns of a list of types. Samples of imported profiles may have different lists.
func (t *Totals) arrange(types []sample.Type) {
	t.last, t.place = &types[0], t.place[:0]
	for _, typ := range types {
		i := slices.Index(t.types, typ)
		if i < 0 {
			i = len(t.types)
			t.types = append(t.types, typ)
			for j := range t.sources {
				s := &t.sources[j]
				s.values, s.variances = append(s.values, 0), append(s.variances, 0)
			}
		}
		t.place = append(t.place, i)
	}
}

// A Sum is the total of one sample type.
type Sum struct {
	sample.Type
	Value int64
	Error float64 // standard error as a fraction of Value; 0 for a count
}

// Used returns which sources the profile uses, by Weighed.Source.
func (t *Totals) Used() []bool {
	_, used := meters.SourcesOf(t.kind, t.samples())
	return used
}

// Unknown returns the column of the types of the kind that the profile does not have, because not every used source has
// values of it, or meters.NoColumn.
func (t *Totals) Unknown() int { return meters.UnknownColumn(t.kind, t.samples(), t.Used()) }

// Estimated reports whether a total is an estimate.
func (t *Totals) Estimated() bool {
	for i := range t.sources {
		if slices.ContainsFunc(t.sources[i].variances, func(v float64) bool { return v > 0 }) {
			return true
		}
	}
	return false
}

func (t *Totals) samples() (n []uint64) {
	for i := range t.sources {
		n = append(n, t.sources[i].samples)
	}
	return n
}

// Sums returns the number of samples and the total of each type, from the sources that the profile uses.
func (t *Totals) Sums() (samples uint64, sums []Sum) {
	used := t.Used()
	variances := make([]float64, len(t.types))
	systematic := meters.Specs()[t.kind].Systematic
	for _, typ := range t.types {
		sums = append(sums, Sum{Type: typ})
	}
	for i := range t.sources {
		s := &t.sources[i]
		if !used[i] {
			continue
		}
		samples += s.samples
		for column, v := range s.values {
			sums[column].Value = bin.AddClamped(sums[column].Value, v)
			v := s.variances[column]
			if systematic != nil && systematic(i) {
				v = aroundMean(v, float64(s.values[column]), s.samples)
			}
			variances[column] += v
		}
	}
	for i, v := range variances {
		if v > 0 && sums[i].Value > 0 {
			sums[i].Error = math.Sqrt(v) / float64(sums[i].Value)
		}
	}
	return samples, sums
}

// Source returns the names of the sources that the profile uses, and of those that it does not use with their numbers of
// samples. Both are empty if the kind has only one source.
func (t *Totals) Source() (source string, unused []string) {
	names, used := meters.SourcesOf(t.kind, t.samples())
	for i := range t.sources {
		switch n := t.sources[i].samples; {
		case n == 0 || i >= len(names):
		case used[i]:
			source = strings.TrimPrefix(source+" and "+names[i], " and ")
		default:
			unused = append(unused, fmt.Sprintf("%d %s", n, names[i]))
		}
	}
	return source, unused
}
