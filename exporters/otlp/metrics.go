package otlp

import (
	"bytes"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/span/metrics"
)

// newMetrics returns the reader of data points, nil if they are not written.
func (s *Sink) newMetrics(info *ntconv.Info) *metrics.Reader {
	if !s.o.Signals.Has(Metrics) {
		return nil
	}
	return metrics.NewReader(info, s.addPoint, &metrics.Options{Semantic: s.o.SemanticMetrics})
}

// addPoint adds a data point.
func (s *Sink) addPoint(p *metrics.Point) {
	s.put(Metrics, p.Time, origin{resource: p.Resource, process: p.Process, scope: p.Scope, metric: &p.Metric}, func(e *encoder) { e.point(p) })
}

// Numbers of the fields of a metric in its scope and of the points in a metric's data, for all kinds of data.
const (
	fieldMetric = 2
	fieldPoint  = 1
)

// A metricEnvelope has the envelopes of a metric and of its data.
type metricEnvelope struct{ metric, data *envelope }

// metricOf returns the envelopes of a metric (metrics.proto, Metric).
func (t *table) metricOf(m *metrics.Metric) metricEnvelope {
	if found, ok := t.metrics[*m]; ok {
		return found
	}
	t.b = t.b[:0]
	t.text(1, m.Name)
	t.text(2, m.Description)
	t.text(3, m.Unit)
	head := len(t.b)
	if m.Metadata != nil {
		t.attributes(12, m.Metadata.Attributes)
	}
	b := bytes.Clone(t.b)
	metric := &envelope{field: fieldMetric, head: b[:head], tail: b[head:], size: len(b)}
	t.b = t.b[:0]
	if m.Kind == metrics.KindSum {
		t.varint(2, uint64(m.Temporality))
		if m.Monotonic {
			t.varint(3, 1)
		}
	}
	data := &envelope{field: int(m.Kind), tail: bytes.Clone(t.b), size: len(t.b)}
	if t.metrics == nil {
		t.metrics = make(map[metrics.Metric]metricEnvelope)
	}
	found := metricEnvelope{metric, data}
	t.metrics[*m] = found
	return found
}

// point appends a data point as an element of the data of its metric (NumberDataPoint, SummaryDataPoint).
func (e *encoder) point(p *metrics.Point) {
	message := e.begin(fieldPoint)
	e.fixed64(2, p.Start)
	e.fixed64(3, p.Time)
	switch {
	case p.Kind == metrics.KindSummary:
		e.fixed64(4, p.Count)
		e.fixed64(5, math.Float64bits(p.Sum))
		for _, q := range p.Quantiles {
			own := e.begin(6)
			e.fixed64(1, math.Float64bits(q.Quantile))
			e.fixed64(2, math.Float64bits(q.Value))
			e.end(own)
		}
	case p.Integer: // a member of a oneof is written even if it is 0
		e.tag(6, wireFixed64)
		e.b = bin.AppendU64(e.b, uint64(p.Int))
	default:
		e.tag(4, wireFixed64)
		e.b = bin.AppendU64(e.b, math.Float64bits(p.Float))
	}
	e.attributes(7, p.Attributes)
	e.end(message)
}
