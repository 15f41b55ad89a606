package profile

import (
	"fmt"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/sample"
	"math"
	"slices"
	"strings"
)

// An Estimate describes how a profile was estimated from samples of the program's events.
type Estimate struct {
	Source  string   // events that the profile is computed from; "" if the kind has only one source
	Unused  []string // other sources of the trace, with their numbers of events
	Samples uint64
	// Errors are the standard errors of the totals, one per sample type as a fraction of the total; 0 for a count.
	Errors []float64
	types  []sample.Type

	estimated bool   // a sample represents more than itself
	remark    string // of the meter
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
	case e.estimated:
		text = fmt.Sprintf("estimated from %d samples", e.Samples)
		if e.Source != "" {
			text += " (" + e.Source + ")"
		}
		if len(errors) > 0 {
			text += ", standard error of the totals: " + strings.Join(errors, ", ")
		}
		text += ", error of a part with n samples: about 100%/√n"
	case e.Source != "" && len(e.Unused) > 0:
		text = "computed from " + e.Source
	}
	if len(e.Unused) > 0 {
		text += "; not used: " + strings.Join(e.Unused, ", ")
	}
	if e.remark != "" {
		text = strings.TrimPrefix(text+"; "+e.remark, "; ")
	}
	return text
}

// estimate returns the description of the used sources and of the sampling error. It removes the rows of the sources
// that are not used, and the columns that the used ones do not state.
func (s *set) estimate() Estimate {
	e := Estimate{Samples: s.events}
	keep := s.keepSources()
	for source, n := range s.bySource {
		switch {
		case n == 0:
		case !keep[source]:
			e.Unused = append(e.Unused, fmt.Sprintf("%d %s", n, s.spec.Sources[source]))
			e.Samples -= n
		case source < len(s.spec.Sources):
			e.Source = strings.TrimPrefix(e.Source+" and "+s.spec.Sources[source], " and ")
		}
	}
	if slices.Contains(keep, false) {
		s.dropSources(keep)
	}
	s.events = e.Samples
	for source, list := range s.variances {
		e.estimated = e.estimated || keep[source] && slices.ContainsFunc(list, func(v float64) bool { return v > 0 })
	}
	e.Errors = s.errors(keep)
	if s.spec.Unknown != nil {
		i := meters.UnknownColumn(s.kind, s.bySource, keep)
		s.dropColumn(i)
		e.Errors = slices.Delete(e.Errors, i, i+1)
	}
	for _, c := range s.columns {
		e.types = append(e.types, c.Type)
	}
	if s.meter != nil {
		e.remark = s.meter.Remark()
	}
	return e
}

// errors returns the standard errors of the totals as fractions of the totals.
func (s *set) errors(keep []bool) []float64 {
	variances := make([]float64, len(s.columns))
	for source, n := range s.bySource {
		if n == 0 || !keep[source] {
			continue
		}
		for i, v := range s.variances[source] {
			if s.spec.Systematic != nil && s.spec.Systematic(source) {
				v = aroundMean(v, s.totalOf(i, source), n)
			}
			variances[i] += v
		}
	}
	for i, v := range variances {
		variances[i] = 0
		if total := s.total(i); v > 0 && total > 0 {
			variances[i] = math.Sqrt(v) / total
		}
	}
	return variances
}

// aroundMean returns the variance of the total of n systematic samples with a sum of squares: their number is not random,
// only what they hit, so the values vary around their mean.
func aroundMean(squares, total float64, n uint64) float64 {
	if n < 2 {
		return squares
	}
	return max(0, squares-total*total/float64(n)) * float64(n) / float64(n-1)
}

// dropColumn removes a column.
func (s *set) dropColumn(column int) {
	n := len(s.columns)
	at := 0
	for i, v := range s.values {
		if i%n != column {
			s.values[at] = v
			at++
		}
	}
	s.values = s.values[:at]
	s.columns = slices.Delete(slices.Clone(s.columns), column, column+1)
	if s.main > column {
		s.main--
	}
}

// keepSources returns which sources are used.
func (s *set) keepSources() []bool {
	_, keep := meters.SourcesOf(s.kind, s.bySource)
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
func (s *set) total(column int) float64 { return s.totalOf(column, allSources) }

// allSources selects the samples of all sources.
const allSources = -1

// totalOf is total for the samples of one source.
func (s *set) totalOf(column, source int) float64 {
	sum, n := 0.0, len(s.columns)
	for i := range s.rows {
		if source == allSources || source == int(s.rows[i].source) {
			sum += float64(s.values[i*n+column])
		}
	}
	if s.columns[column].Scale == meters.ScaleFraction {
		sum /= meters.Fraction
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
	return s.main
}
