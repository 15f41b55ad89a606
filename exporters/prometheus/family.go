package prometheus

import (
	"math"
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/metrics"
)

// A family is a metric of OpenMetrics. Its first point determines its type, unit and help.
type family struct {
	name, typ, unit, help string
	series                map[string]*series
}

// Types of families.
const (
	typeGauge     = "gauge"
	typeCounter   = "counter"
	typeSummary   = "summary"
	typeHistogram = "histogram"
)

// A series has the points with equal labels, in the order of the events. Labels are those of the point without job and
// instance, which are known at the end.
type series struct {
	owner  owner
	labels []label
	points []point
	values []float64
	layout *layout // of the latest point
	totals []float64
	latest uint64 // start of the interval of the latest point of a summary
}

// An owner is the program of a series.
type owner struct {
	process  *ntconv.Process
	resource *span.Resource
}

// A point has the values that its layout names.
type point struct {
	time   int64 // milliseconds since 1970
	layout *layout
	first  int // index in values
}

// A layout is the lines of a point: the suffix of the family's name, and a label if it is not empty.
type layout struct{ rows []row }

type row struct {
	suffix string
	label  label
}

type label struct{ key, value string }

// noValue is the flag of a point without a value (metrics.proto, DataPointFlags).
const noValue = 1

var single, total = &layout{[]row{{}}}, &layout{[]row{{suffix: "_total"}}}

// typeOf returns the type of the family of a point, "" if the format has none for it.
func typeOf(m *metrics.Metric) string {
	switch m.Kind {
	case metrics.KindGauge:
		return typeGauge
	case metrics.KindSum:
		if m.Monotonic {
			return typeCounter
		}
		return typeGauge
	case metrics.KindSummary:
		return typeSummary
	case metrics.KindHistogram:
		return typeHistogram
	}
	return ""
}

func (s *Sink) skip(reason string) { s.skipped[reason]++ }

// add is the callback of the readers.
func (s *Sink) add(p *metrics.Point) {
	typ := typeOf(&p.Metric)
	if typ == "" {
		s.skip("exponential histograms")
		return
	}
	if p.Flags&noValue != 0 || p.Absent && (p.Kind == metrics.KindGauge || p.Kind == metrics.KindSum) {
		return // states that there is no value
	}
	name, unit := familyName(p.Name, p.Unit, typ)
	f := s.families[name]
	if f == nil {
		f = &family{name: name, typ: typ, unit: unit, help: p.Description, series: make(map[string]*series)}
		s.families[name] = f
	}
	if f.typ != typ {
		s.skip("metrics whose names are those of a metric of another type in Prometheus")
		return
	}
	s.put(f.of(p), p, typ)
}

// of returns the series of a point.
func (f *family) of(p *metrics.Point) *series {
	labels := labelsOf(p)
	key := make([]byte, 0, 256)
	if p.Resource == nil && p.Process != nil {
		key = strconv.AppendUint(append(key, p.Process.Host...), p.Process.PID, 10)
	} else if p.Resource != nil {
		for _, l := range resourceLabels(p.Resource.Attributes, nil) {
			key = append(append(append(key, l.key...), 0), l.value...)
		}
	}
	for _, l := range labels {
		key = append(append(append(append(key, 0), l.key...), 0), l.value...)
	}
	found := f.series[string(key)]
	if found == nil {
		found = &series{owner: owner{p.Process, p.Resource}, labels: labels}
		f.series[string(key)] = found
	}
	return found
}

// put adds a point to its series.
func (s *Sink) put(to *series, p *metrics.Point, typ string) {
	at := int64(p.Time / 1e6)
	if n := len(to.points); n > 0 && to.points[n-1].time >= at {
		s.skip("points of a time series that are not later than the one before, to a millisecond")
		return
	}
	first := len(to.values)
	switch typ {
	case typeSummary:
		to.summary(p)
	case typeHistogram:
		if !to.histogram(p) {
			s.skip("histograms whose bounds do not increase or do not fit the counts")
			return
		}
	default:
		value := p.Float
		if p.Integer {
			value = float64(p.Int)
		}
		to.layout = single
		if typ == typeCounter {
			if to.layout = total; !(value >= 0) {
				s.skip("negative values of counters")
				return
			}
		}
		to.values = append(to.values, value)
		if p.Kind == metrics.KindSum && p.Temporality == metrics.TemporalityDelta {
			to.accumulate(first, 0)
		}
	}
	to.points = append(to.points, point{at, to.layout, first})
}

// accumulate turns values that cover one interval into totals since the first one: those from index first of values on,
// but for the first own of them.
func (s *series) accumulate(first, own int) {
	values := s.values[first+own:]
	if len(s.totals) != len(values) {
		s.totals = make([]float64, len(values))
	}
	for i := range values {
		s.totals[i] += values[i]
		values[i] = s.totals[i]
	}
}

// summary appends quantiles, sum and count. Those of an interval, as .NET states them, become totals; those since a fixed
// start are totals.
func (s *series) summary(p *metrics.Point) {
	first := len(s.values)
	rows := make([]row, 0, len(p.Quantiles)+2)
	for _, q := range p.Quantiles {
		rows = append(rows, row{"", label{"quantile", bound(q.Quantile)}})
		s.values = append(s.values, q.Value)
	}
	rows = append(rows, row{suffix: "_sum"}, row{suffix: "_count"})
	s.values = append(s.values, p.Sum, float64(p.Count))
	s.use(rows)
	if s.latest != 0 && p.Start > s.latest || p.Resource == nil {
		s.accumulate(first, len(p.Quantiles))
	}
	s.latest = p.Start
}

// histogram appends cumulative buckets, sum and count. It returns false for invalid buckets.
func (s *series) histogram(p *metrics.Point) bool {
	h, first := &p.Histogram, len(s.values)
	if len(h.Counts) > 0 && len(h.Counts) != len(h.Bounds)+1 || !slices.IsSortedFunc(h.Bounds, increasing) {
		return false
	}
	rows := make([]row, 0, len(h.Bounds)+3)
	cumulative := uint64(0)
	for i, upper := range h.Bounds {
		if len(h.Counts) > 0 {
			cumulative += h.Counts[i]
		}
		if !math.IsInf(upper, 1) {
			rows = append(rows, row{"_bucket", label{"le", bound(upper)}})
			s.values = append(s.values, float64(cumulative))
		}
	}
	rows = append(rows, row{"_bucket", label{"le", "+Inf"}}, row{suffix: "_count"})
	s.values = append(s.values, float64(p.Count), float64(p.Count))
	if h.Has&metrics.HasSum != 0 {
		rows = append(rows, row{suffix: "_sum"})
		s.values = append(s.values, p.Sum)
	}
	s.use(rows)
	if p.Temporality == metrics.TemporalityDelta {
		s.accumulate(first, 0)
	}
	return true
}

// increasing compares bounds so that equal ones and NaN count as not sorted.
func increasing(a, b float64) int {
	if a > b {
		return 1
	}
	return -1
}

// use sets the layout, which is that of the point before if the rows are equal.
func (s *series) use(rows []row) {
	if s.layout == nil || !slices.Equal(s.layout.rows, rows) {
		s.layout = &layout{rows}
	}
}
