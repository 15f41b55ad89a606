package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/metrics"
)

// Instruments has the latest point of each time series. It is not safe for concurrent use.
type Instruments struct {
	series map[string]*Series
	sorted []*Series // nil if series were added since the last call of Rows
	key    []byte
	latest time.Time
	// Dropped is the number of points of time series that were not kept because there are too many.
	Dropped int64
}

// maxSeries is the number of time series that are kept.
const maxSeries = 1 << 16

// A Series is the latest point of a time series.
type Series struct {
	Scope, Version, Name, Unit, Description string

	Tags      []span.Attribute
	Kind      metrics.Kind
	Monotonic bool
	Time      time.Time // of the end of the interval
	metrics.Number
	// Rate is the increase per second, of a monotonic sum, or the measurements per second of a summary. HasRate is false
	// if it is not known: before the second point of a cumulative sum, and after it was set back.
	Rate    float64
	HasRate bool

	Count     uint64  // of measurements in the interval, of a summary
	Sum       float64 // of them
	Quantiles []metrics.Quantile

	interval time.Duration // that the latest point covers; 0 if unknown
	label    string        // tags as text
}

// NewInstruments returns an empty table.
func NewInstruments() *Instruments { return &Instruments{series: map[string]*Series{}} }

// Len returns the number of time series.
func (t *Instruments) Len() int { return len(t.series) }

// Add adds a point, which it borrows, and returns its time series, nil if there are too many.
func (t *Instruments) Add(p *metrics.Point) *Series {
	b := t.key[:0]
	for _, text := range [...]string{p.Scope.Name, p.Scope.Version, p.Name} {
		b = append(append(b, text...), 0)
	}
	for i := range p.Attributes {
		a := &p.Attributes[i]
		b = append(a.Value.AppendText(append(append(b, a.Key...), 0)), 0)
	}
	t.key = b
	s := t.series[string(b)]
	if s == nil {
		if len(t.series) == maxSeries {
			t.Dropped++
			return nil
		}
		s = &Series{
			Scope: p.Scope.Name, Version: p.Scope.Version, Name: p.Name, Tags: slices.Clone(p.Attributes), label: labelOf(p.Attributes),
		}
		t.series[string(b)], t.sorted = s, nil
	}
	s.set(p)
	if s.Time.After(t.latest) {
		t.latest = s.Time
	}
	return s
}

// set replaces the point of a series.
func (s *Series) set(p *metrics.Point) {
	at := time.Unix(0, int64(p.Time)).UTC()
	before, since := s.Number, at.Sub(s.Time)
	first := s.Time.IsZero()
	s.Unit, s.Description, s.Kind, s.Monotonic = p.Unit, p.Description, p.Kind, p.Monotonic
	s.Time, s.Number, s.Rate, s.HasRate = at, p.Number, 0, false
	s.Count, s.Sum, s.Quantiles = p.Count, p.Sum, slices.Clone(p.Quantiles) // copies of a Series stay valid
	s.interval = 0
	switch {
	case p.Kind == metrics.KindSummary || p.Temporality == metrics.TemporalityDelta:
		s.interval = time.Duration(p.Time - p.Start)
		if value := float64(p.Count); s.interval > 0 {
			if p.Kind != metrics.KindSummary {
				value = Float(p.Number)
			}
			s.Rate, s.HasRate = value/s.interval.Seconds(), true
		}
	case first:
	default:
		s.interval = max(0, since)
		if grown := Float(p.Number) - Float(before); p.Kind == metrics.KindSum && p.Monotonic && since > 0 && grown >= 0 {
			s.Rate, s.HasRate = grown/since.Seconds(), true
		}
	}
}

// Float returns a number as a float.
func Float(n metrics.Number) float64 {
	if n.Integer {
		return float64(n.Int)
	}
	return n.Float
}

// Mean returns the mean of the measurements of a summary.
func (s *Series) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return s.Sum / float64(s.Count)
}

// Label returns the tags as text: k=v, k=v.
func (s *Series) Label() string { return s.label }

func labelOf(tags []span.Attribute) string {
	var b []byte
	for i := range tags {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = tags[i].Value.AppendText(append(append(b, tags[i].Key...), '='))
	}
	return string(b)
}

// Latest returns the time of the latest point.
func (t *Instruments) Latest() time.Time { return t.latest }

// Stale reports whether a series had no point in the latest interval: nothing was measured, or the instrument is gone.
func (t *Instruments) Stale(s *Series) bool {
	return s.interval > 0 && t.latest.Sub(s.Time) > s.interval+s.interval/2
}

// Rows returns the series that contain a text in their meter, name or tags, without regard to case, by meter, name and tags.
// The slice is valid until the next call of Add or Rows.
func (t *Instruments) Rows(filter string) []*Series {
	if t.sorted == nil {
		for _, s := range t.series {
			t.sorted = append(t.sorted, s)
		}
		slices.SortFunc(t.sorted, func(a, b *Series) int {
			return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Name, b.Name), cmp.Compare(a.label, b.label))
		})
	}
	if filter == "" {
		return t.sorted
	}
	var rows []*Series
	for _, s := range t.sorted {
		if Contains(s.Scope+" "+s.Name+" "+s.label, filter) {
			rows = append(rows, s)
		}
	}
	return rows
}

// Contains reports whether text has a part, without regard to case.
func Contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// Value formats the value of a series: the mean and the number of measurements of a summary.
func (s *Series) Value() string {
	if s.Kind == metrics.KindSummary {
		return Amount(s.Mean(), s.Unit)
	}
	return Amount(Float(s.Number), s.Unit)
}

// RateText formats the rate of a series, "" if it is not known.
func (s *Series) RateText() string {
	switch {
	case !s.HasRate:
		return ""
	case s.Kind == metrics.KindSummary:
		return message.Number(s.Rate) + "/s"
	}
	return Amount(s.Rate, s.Unit) + "/s"
}

// QuantileText formats the quantiles of a summary: p50 24ms, p95 46ms.
func (s *Series) QuantileText() string {
	var list []string
	for _, q := range s.Quantiles {
		name := fmt.Sprintf("p%g", 100*q.Quantile)
		switch q.Quantile {
		case 0:
			name = "min"
		case 1:
			name = "max"
		}
		list = append(list, name+" "+Amount(q.Value, s.Unit))
	}
	return strings.Join(list, ", ")
}

// Amount formats a number in a unit of UCUM, or of an event counter. An annotation such as {request} is no unit.
func Amount(x float64, unit string) string {
	switch unit {
	case "By", "B":
		return message.Quantity(x, "bytes")
	case "s":
		return message.Quantity(x, "seconds")
	case "ms":
		return message.Quantity(x, "milliseconds")
	case "us":
		return message.Quantity(x, "microseconds")
	case "ns":
		return message.Quantity(x, "nanoseconds")
	case "1":
		return message.Number(x)
	}
	if strings.HasPrefix(unit, "{") && strings.HasSuffix(unit, "}") {
		return message.Number(x)
	}
	return message.Line(message.Quantity(x, unit))
}
