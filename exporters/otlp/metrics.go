package otlp

import (
	"bytes"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/span/eventmetrics"
	"github.com/ntconv/ntconv/internal/span/metrics"
)

// newMetrics returns the reader of data points, nil if they are not written.
func (s *Sink) newMetrics(info *ntconv.Info) *metrics.Reader {
	if !s.o.Signals.Has(Metrics) {
		return nil
	}
	return metrics.NewReader(info, s.addPoint, &metrics.Options{Semantic: s.o.SemanticMetrics})
}

// newEventMetrics returns the reader of data points that count events, nil if they are not written.
func (s *Sink) newEventMetrics(info *ntconv.Info) *eventmetrics.Reader {
	if s.metrics == nil || !s.o.MetricsFromEvents {
		return nil
	}
	return eventmetrics.NewReader(info, s.addPoint, nil)
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
	switch m.Kind {
	case metrics.KindSum:
		t.varint(2, uint64(int64(m.Temporality)))
		if m.Monotonic {
			t.varint(3, 1)
		}
	case metrics.KindHistogram, metrics.KindExponentialHistogram:
		t.varint(2, uint64(int64(m.Temporality)))
	}
	data := &envelope{field: int(m.Kind), tail: bytes.Clone(t.b), size: len(t.b)}
	if t.metrics == nil {
		t.metrics = make(map[metrics.Metric]metricEnvelope)
	}
	found := metricEnvelope{metric, data}
	t.metrics[*m] = found
	return found
}

// point appends a data point as an element of the data of its metric (NumberDataPoint, SummaryDataPoint and those of
// histograms).
func (e *encoder) point(p *metrics.Point) {
	message := e.begin(fieldPoint)
	switch p.Kind {
	case metrics.KindHistogram:
		e.histogram(p)
	case metrics.KindExponentialHistogram:
		e.exponentialHistogram(p)
	case metrics.KindSummary:
		e.fixed64(2, p.Start)
		e.fixed64(3, p.Time)
		e.fixed64(4, p.Count)
		e.fixed64(5, math.Float64bits(p.Sum))
		for _, q := range p.Quantiles {
			own := e.begin(6)
			e.fixed64(1, math.Float64bits(q.Quantile))
			e.fixed64(2, math.Float64bits(q.Value))
			e.end(own)
		}
		e.attributes(7, p.Attributes)
		e.varint(8, uint64(p.Flags))
	default:
		e.fixed64(2, p.Start)
		e.fixed64(3, p.Time)
		e.value64(&p.Number, 4, 6)
		e.exemplars(5, p.Exemplars)
		e.attributes(7, p.Attributes)
		e.varint(8, uint64(p.Flags))
	}
	e.end(message)
}

// value64 appends a number as one of two fields, of which a message has one. It is written even if it is 0.
func (e *encoder) value64(n *metrics.Number, double, integer int) {
	switch {
	case n.Absent:
	case n.Integer:
		e.present64(integer, uint64(n.Int))
	default:
		e.present64(double, math.Float64bits(n.Float))
	}
}

// present64 appends a field of 8 bytes, even if it is 0.
func (e *encoder) present64(num int, bits uint64) {
	e.tag(num, wireFixed64)
	e.b = bin.AppendU64(e.b, bits)
}

// optional appends an optional field of a histogram.
func (e *encoder) optional(num int, h *metrics.Histogram, has metrics.HasFlags, v float64) {
	if h.Has&has != 0 {
		e.present64(num, math.Float64bits(v))
	}
}

func (e *encoder) histogram(p *metrics.Point) {
	h := &p.Histogram
	e.fixed64(2, p.Start)
	e.fixed64(3, p.Time)
	e.fixed64(4, p.Count)
	e.optional(5, h, metrics.HasSum, p.Sum)
	if len(h.Counts) > 0 {
		e.length(6, 8*len(h.Counts))
		for _, n := range h.Counts {
			e.b = bin.AppendU64(e.b, n)
		}
	}
	if len(h.Bounds) > 0 {
		e.length(7, 8*len(h.Bounds))
		for _, f := range h.Bounds {
			e.b = bin.AppendU64(e.b, math.Float64bits(f))
		}
	}
	e.exemplars(8, p.Exemplars)
	e.attributes(9, p.Attributes)
	e.varint(10, uint64(p.Flags))
	e.optional(11, h, metrics.HasMin, h.Min)
	e.optional(12, h, metrics.HasMax, h.Max)
}

func (e *encoder) exponentialHistogram(p *metrics.Point) {
	h := &p.Histogram
	e.attributes(1, p.Attributes)
	e.fixed64(2, p.Start)
	e.fixed64(3, p.Time)
	e.fixed64(4, p.Count)
	e.optional(5, h, metrics.HasSum, p.Sum)
	e.varint(6, zigzag(h.Scale))
	e.fixed64(7, h.ZeroCount)
	e.buckets(8, h.Has&metrics.HasPositive != 0, h.Offset, h.Counts)
	e.buckets(9, h.Has&metrics.HasNegative != 0, h.NegativeOffset, h.Negative)
	e.varint(10, uint64(p.Flags))
	e.exemplars(11, p.Exemplars)
	e.optional(12, h, metrics.HasMin, h.Min)
	e.optional(13, h, metrics.HasMax, h.Max)
	e.fixed64(14, math.Float64bits(h.ZeroThreshold))
}

func zigzag(n int32) uint64 { return uint64(uint32(n<<1) ^ uint32(n>>31)) }

// buckets appends the buckets of one sign.
func (e *encoder) buckets(num int, has bool, offset int32, counts []uint64) {
	if !has {
		return
	}
	message := e.begin(num)
	e.varint(1, zigzag(offset))
	if len(counts) > 0 {
		list := e.begin(2)
		for _, n := range counts {
			e.b = bin.AppendVaruint(e.b, n)
		}
		e.end(list)
	}
	e.end(message)
}

func (e *encoder) exemplars(num int, list []metrics.Exemplar) {
	for i := range list {
		x := &list[i]
		message := e.begin(num)
		e.fixed64(2, x.Time)
		e.value64(&x.Number, 3, 6)
		if !x.Context.ID.IsZero() {
			e.element(4, string(x.Context.ID[:]))
		}
		if !x.TraceID.IsZero() {
			e.element(5, string(x.TraceID[:]))
		}
		e.attributes(7, x.Attributes)
		e.end(message)
	}
}
