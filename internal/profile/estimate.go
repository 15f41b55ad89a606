package profile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/kind"
)

// An Estimate describes how a profile was estimated from samples of the program's events.
type Estimate struct {
	Source  string   // events that the profile is computed from; "" if the kind has only one source
	Unused  []string // other sources of the trace, with their numbers of events
	Samples uint64
	// Errors are the standard errors of the totals, one per sample type as a fraction of the total; 0 for a count.
	Errors []float64
	types  []ValueType
}

// String returns the estimate as a sentence, or "" if the profile has counts of one source.
func (e Estimate) String() string {
	var errors []string
	for i, x := range e.Errors {
		if x > 0 {
			errors = append(errors, fmt.Sprintf("%s ±%.2g%%", e.types[i].Type, 100*x))
		}
	}
	text := ""
	switch {
	case len(errors) > 0:
		text = fmt.Sprintf("estimated from %d samples", e.Samples)
		if e.Source != "" {
			text += " (" + e.Source + ")"
		}
		text += ", standard error of the totals: " + strings.Join(errors, ", ")
	case e.Source != "" && len(e.Unused) > 0:
		text = "computed from " + e.Source
	}
	if len(e.Unused) > 0 {
		text += "; not used: " + strings.Join(e.Unused, ", ")
	}
	return text
}

// estimate returns the description of the used sources and of the sampling error. It removes the rows of the sources
// that are not used.
func (s *set) estimate() Estimate {
	e := Estimate{Samples: s.events, Errors: make([]float64, len(s.columns))}
	for _, c := range s.columns {
		e.types = append(e.types, c.ValueType)
	}
	variances := make([]float64, len(s.columns))
	keep := s.keepSources()
	for source, n := range s.bySource {
		switch {
		case n == 0:
		case !keep[source]:
			e.Unused = append(e.Unused, fmt.Sprintf("%d %s", n, s.spec.sources[source]))
			e.Samples -= n
		default:
			if source < len(s.spec.sources) {
				e.Source = strings.TrimPrefix(e.Source+" and "+s.spec.sources[source], " and ")
			}
			for i, v := range s.variances[source] {
				variances[i] += v
			}
		}
	}
	if slices.Contains(keep, false) {
		s.dropSources(keep)
	}
	s.events = e.Samples
	for i, v := range variances {
		if total := s.total(i); v > 0 && total > 0 {
			e.Errors[i] = math.Sqrt(v) / total
		}
	}
	return e
}

// keepSources returns which sources are used.
func (s *set) keepSources() []bool {
	_, keep := SourcesOf(s.kind, s.bySource)
	return keep
}

// dropSources removes the rows of the sources that are not used.
func (s *set) dropSources(keep []bool) {
	n, rows := len(s.columns), 0
	for i := range s.rows {
		if keep[s.rows[i].source] {
			s.rows[rows] = s.rows[i]
			copy(s.values[rows*n:][:n], s.values[i*n:][:n])
			rows++
		}
	}
	s.rows, s.values = s.rows[:rows], s.values[:rows*n]
}

// total returns the total of a column, in units of its type for columns that are estimates.
func (s *set) total(column int) float64 {
	sum, n := 0.0, len(s.columns)
	for i := column; i < len(s.values); i += n {
		sum += float64(s.values[i])
	}
	if s.columns[column].scale == scaleFraction {
		sum /= fraction
	}
	return sum
}

// firstUsed returns the first column whose total is not 0, or else the main column. A trace may state how often
// something happened, but not how long it took.
func (s *set) firstUsed() int {
	for i := range s.columns {
		if s.total(i) != 0 {
			return i
		}
	}
	return s.spec.main
}

// SourcesOf returns the names of the kinds of events that a kind is computed from, and which of them its profile uses,
// given the number of samples from each. A kind with one source has no names. A list of samples that ends early means
// that there are none of the other sources.
func SourcesOf(k kind.Kind, samples []uint64) (names []string, used []bool) {
	spec := &specs()[k]
	n := max(len(samples), len(spec.sources))
	samples = append(slices.Clone(samples), make([]uint64, n-len(samples))...)
	if spec.choose != nil {
		return spec.sources, spec.choose(samples)
	}
	used = make([]bool, n)
	for i := range used {
		used[i] = true
	}
	return spec.sources, used
}
