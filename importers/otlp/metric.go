package otlp

import (
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	metricdata "github.com/ntconv/ntconv/internal/span/metrics"
)

// A metricDecoder decodes messages Metric (metrics.proto). The items of one are its data points.
type metricDecoder struct {
	metric   metricdata.Metric
	metadata metricdata.Metadata
	points   []message // not decoded
	point    metricdata.Point
}

// Fields of Metric with data, which are a oneof: the last one counts.
var metricKinds = map[protowire.Number]metricdata.Kind{
	5: metricdata.KindGauge, 7: metricdata.KindSum, 9: metricdata.KindHistogram, 10: metricdata.KindExponentialHistogram, 11: metricdata.KindSummary,
}

// metricMessage decodes a Metric and returns the number of its points, 0 if it is invalid or has none, which it counts.
func (d *decoder) metricMessage(b []byte) int {
	c := &d.metrics
	c.metric, c.points, c.metadata.Attributes = metricdata.Metric{}, c.points[:0], c.metadata.Attributes[:0]
	m := newMessage(b)
	for m.next() {
		switch {
		case m.is(1, lenType):
			c.metric.Name = d.valid(m.str())
		case m.is(2, lenType):
			c.metric.Description = d.valid(m.str())
		case m.is(3, lenType):
			c.metric.Unit = d.valid(m.str())
		case m.is(12, lenType):
			c.metadata.Attributes = d.keyValue(c.metadata.Attributes, m.sub(), &m)
		case m.typ == lenType && metricKinds[m.num] != 0:
			c.data(d, metricKinds[m.num], m.sub(), &m)
		default:
			d.unknownField("Metric", &m)
		}
	}
	switch {
	case m.corrupt:
		d.skip("not a valid message")
		return 0
	case len(c.points) == 0:
		d.report.Note(ntconv.CodeNotCarried, 1, d.place.offset, "metrics without data points")
	}
	if len(c.metadata.Attributes) > 0 {
		c.metric.Metadata = &c.metadata
	}
	return len(c.points)
}

// data decodes a message Gauge, Sum, Histogram, ExponentialHistogram or Summary. The messages of one kind are merged.
func (c *metricDecoder) data(d *decoder, kind metricdata.Kind, m message, parent *message) {
	if c.metric.Kind != kind {
		c.metric.Kind, c.metric.Temporality, c.metric.Monotonic, c.points = kind, 0, false, c.points[:0]
	}
	temporality := kind == metricdata.KindSum || kind == metricdata.KindHistogram || kind == metricdata.KindExponentialHistogram
	for m.next() {
		switch {
		case m.is(1, lenType):
			c.points = append(c.points, m.sub())
		case m.is(2, varint) && temporality:
			c.metric.Temporality = metricdata.Temporality(m.n)
		case m.is(3, varint) && kind == metricdata.KindSum:
			c.metric.Monotonic = m.n != 0
		default:
			d.unknownField("Metric.data", &m)
		}
	}
	parent.corrupt = parent.corrupt || m.corrupt
}

// pointItem returns point i of the metric that was decoded last. A point that is not a valid message has what precedes the
// defect, which is counted.
func pointItem(d *decoder, i int, r *span.Resource, s *span.Scope) item {
	c := &d.metrics
	p := &c.point
	*p = metricdata.Point{
		Metric: c.metric, Number: metricdata.Number{Absent: true}, Quantiles: p.Quantiles[:0], Exemplars: p.Exemplars[:0], Attributes: p.Attributes[:0],
		Histogram: metricdata.Histogram{Counts: p.Histogram.Counts[:0], Bounds: p.Histogram.Bounds[:0], Negative: p.Histogram.Negative[:0]},
	}
	p.Resource, p.Scope = r, s
	d.begins()
	m := c.points[i]
	switch p.Kind {
	case metricdata.KindHistogram:
		d.histogram(p, &m)
	case metricdata.KindExponentialHistogram:
		d.exponentialHistogram(p, &m)
	case metricdata.KindSummary:
		d.summary(p, &m)
	default:
		d.numberPoint(p, &m)
	}
	if m.corrupt {
		d.corrupt(fmt.Sprintf("data point %d is not a valid message", i))
	}
	at := int64(min(p.Time, math.MaxInt64))
	return item{point: p, resource: r, attributes: p.Attributes, start: at, time: at}
}

// number decodes the current field if it is one of the two members of a value.
func number(n *metricdata.Number, m *message, double, integer protowire.Number) bool {
	switch {
	case m.is(double, fixed64):
		*n = metricdata.Number{Float: math.Float64frombits(m.n)}
	case m.is(integer, fixed64):
		*n = metricdata.Number{Integer: true, Int: int64(m.n)}
	default:
		return false
	}
	return true
}

// common decodes a field that points of all kinds have: times, attributes and flags.
func (d *decoder) common(p *metricdata.Point, m *message, attributes, flags protowire.Number) bool {
	switch {
	case m.is(2, fixed64):
		p.Start = m.n
	case m.is(3, fixed64):
		p.Time = m.n
	case m.is(attributes, lenType):
		p.Attributes = d.keyValue(p.Attributes, m.sub(), m)
	case m.is(flags, varint):
		p.Flags = uint32(m.n)
	default:
		return false
	}
	return true
}

func (d *decoder) numberPoint(p *metricdata.Point, m *message) {
	for m.next() {
		switch {
		case d.common(p, m, 7, 8), number(&p.Number, m, 4, 6):
		case m.is(5, lenType):
			d.exemplar(p, m)
		default:
			d.unknownField("NumberDataPoint", m)
		}
	}
}

func (d *decoder) summary(p *metricdata.Point, m *message) {
	for m.next() {
		switch {
		case d.common(p, m, 7, 8):
		case m.is(4, fixed64):
			p.Count = m.n
		case m.is(5, fixed64):
			p.Sum = math.Float64frombits(m.n)
		case m.is(6, lenType):
			if !d.room() {
				continue
			}
			var q metricdata.Quantile
			sub := m.sub()
			for sub.next() {
				switch {
				case sub.is(1, fixed64):
					q.Quantile = math.Float64frombits(sub.n)
				case sub.is(2, fixed64):
					q.Value = math.Float64frombits(sub.n)
				default:
					d.unknownField("ValueAtQuantile", &sub)
				}
			}
			m.corrupt = m.corrupt || sub.corrupt
			p.Quantiles = append(p.Quantiles, q)
		default:
			d.unknownField("SummaryDataPoint", m)
		}
	}
}

// optional decodes the current field if it is an optional number of a histogram.
func optional(p *metricdata.Point, m *message, num protowire.Number, dst *float64, has metricdata.HasFlags) bool {
	if !m.is(num, fixed64) {
		return false
	}
	*dst = math.Float64frombits(m.n)
	p.Histogram.Has |= has
	return true
}

func (d *decoder) histogram(p *metricdata.Point, m *message) {
	h := &p.Histogram
	for m.next() {
		switch {
		case d.common(p, m, 9, 10), optional(p, m, 5, &p.Sum, metricdata.HasSum),
			optional(p, m, 11, &h.Min, metricdata.HasMin), optional(p, m, 12, &h.Max, metricdata.HasMax):
		case m.is(4, fixed64):
			p.Count = m.n
		case m.is(6, lenType), m.is(6, fixed64):
			h.Counts = d.limited(m.fixedList(h.Counts))
		case m.is(7, lenType), m.is(7, fixed64):
			for _, bits := range d.limited(m.fixedList(nil)) {
				h.Bounds = append(h.Bounds, math.Float64frombits(bits))
			}
		case m.is(8, lenType):
			d.exemplar(p, m)
		default:
			d.unknownField("HistogramDataPoint", m)
		}
	}
}

func (d *decoder) exponentialHistogram(p *metricdata.Point, m *message) {
	h := &p.Histogram
	for m.next() {
		switch {
		case d.common(p, m, 1, 10), optional(p, m, 5, &p.Sum, metricdata.HasSum),
			optional(p, m, 12, &h.Min, metricdata.HasMin), optional(p, m, 13, &h.Max, metricdata.HasMax):
		case m.is(4, fixed64):
			p.Count = m.n
		case m.is(6, varint):
			h.Scale = int32(protowire.DecodeZigZag(m.n & math.MaxUint32))
		case m.is(7, fixed64):
			h.ZeroCount = m.n
		case m.is(8, lenType):
			h.Has |= metricdata.HasPositive
			d.buckets(m, &h.Offset, &h.Counts)
		case m.is(9, lenType):
			h.Has |= metricdata.HasNegative
			d.buckets(m, &h.NegativeOffset, &h.Negative)
		case m.is(11, lenType):
			d.exemplar(p, m)
		case m.is(14, fixed64):
			h.ZeroThreshold = math.Float64frombits(m.n)
		default:
			d.unknownField("ExponentialHistogramDataPoint", m)
		}
	}
}

// buckets decodes the current field, a message Buckets.
func (d *decoder) buckets(m *message, offset *int32, counts *[]uint64) {
	sub := m.sub()
	for sub.next() {
		switch {
		case sub.is(1, varint):
			*offset = int32(protowire.DecodeZigZag(sub.n & math.MaxUint32))
		case sub.isList(2):
			*counts = d.limited(sub.list(*counts))
		default:
			d.unknownField("Buckets", &sub)
		}
	}
	m.corrupt = m.corrupt || sub.corrupt
}

// limited returns the elements of a list of numbers within Limits.Elements, and counts the others.
func (d *decoder) limited(list []uint64) []uint64 {
	if most := d.limits.Elements; len(list) > most {
		d.report.Note(ntconv.CodeNotCarried, uint64(len(list)-most), d.place.offset, "buckets of a histogram after the first "+fmt.Sprint(most))
		list = list[:most]
	}
	return list
}

// exemplar appends the exemplar in the current field.
func (d *decoder) exemplar(p *metricdata.Point, m *message) {
	if !d.room() {
		return
	}
	x := metricdata.Exemplar{Number: metricdata.Number{Absent: true}}
	sub := m.sub()
	for sub.next() {
		switch {
		case number(&x.Number, &sub, 3, 6):
		case sub.is(2, fixed64):
			x.Time = sub.n
		case sub.is(4, lenType) && (sub.to-sub.from == len(x.Context.ID) || sub.to == sub.from):
			copy(x.Context.ID[:], sub.bytes())
		case sub.is(5, lenType) && (sub.to-sub.from == len(x.TraceID) || sub.to == sub.from):
			copy(x.TraceID[:], sub.bytes())
		case sub.is(7, lenType):
			x.Attributes = d.keyValue(x.Attributes, sub.sub(), &sub)
		case sub.is(4, lenType), sub.is(5, lenType):
			d.report.Note(ntconv.CodeNotCarried, 1, d.place.offset, "exemplars with IDs of other than 16 and 8 bytes")
		default:
			d.unknownField("Exemplar", &sub)
		}
	}
	m.corrupt = m.corrupt || sub.corrupt
	p.Exemplars = append(p.Exemplars, x)
}

// temporalityNames are the names of AggregationTemporality in metrics.proto.
var temporalityNames = []string{
	"AGGREGATION_TEMPORALITY_UNSPECIFIED", "AGGREGATION_TEMPORALITY_DELTA", "AGGREGATION_TEMPORALITY_CUMULATIVE",
}

// jsonMetric are the members of a Metric in OTLP/JSON.
var jsonMetric = func() []jsonMember {
	exemplar := []jsonMember{
		member("timeUnixNano", 2, jsonFixed), member("asDouble", 3, jsonDouble), member("spanId", 4, jsonHex), member("traceId", 5, jsonHex),
		member("asInt", 6, jsonSigned), objects("filteredAttributes", 7, jsonKeyValue),
	}
	buckets := []jsonMember{member("offset", 1, jsonZigzag), member("bucketCounts", 2, jsonVarints)}
	times := []jsonMember{member("startTimeUnixNano", 2, jsonFixed), member("timeUnixNano", 3, jsonFixed)}
	numbers := slices.Concat(times, []jsonMember{
		member("asDouble", 4, jsonDouble), objects("exemplars", 5, exemplar), member("asInt", 6, jsonSigned), objects("attributes", 7, jsonKeyValue),
		member("flags", 8, jsonVarint),
	})
	temporality := member("aggregationTemporality", 2, jsonTemporality)
	return []jsonMember{
		member("name", 1, jsonString), member("description", 2, jsonString), member("unit", 3, jsonString),
		object("gauge", 5, []jsonMember{objects("dataPoints", 1, numbers)}),
		object("sum", 7, []jsonMember{objects("dataPoints", 1, numbers), temporality, member("isMonotonic", 3, jsonBool)}),
		object("histogram", 9, []jsonMember{temporality, objects("dataPoints", 1, slices.Concat(times, []jsonMember{
			member("count", 4, jsonFixed), member("sum", 5, jsonDouble), member("bucketCounts", 6, jsonFixeds), member("explicitBounds", 7, jsonDoubles),
			objects("exemplars", 8, exemplar), objects("attributes", 9, jsonKeyValue), member("flags", 10, jsonVarint), member("min", 11, jsonDouble),
			member("max", 12, jsonDouble),
		}))}),
		object("exponentialHistogram", 10, []jsonMember{temporality, objects("dataPoints", 1, slices.Concat(times, []jsonMember{
			objects("attributes", 1, jsonKeyValue), member("count", 4, jsonFixed), member("sum", 5, jsonDouble), member("scale", 6, jsonZigzag),
			member("zeroCount", 7, jsonFixed), object("positive", 8, buckets), object("negative", 9, buckets), member("flags", 10, jsonVarint),
			objects("exemplars", 11, exemplar), member("min", 12, jsonDouble), member("max", 13, jsonDouble), member("zeroThreshold", 14, jsonDouble),
		}))}),
		object("summary", 11, []jsonMember{objects("dataPoints", 1, slices.Concat(times, []jsonMember{
			member("count", 4, jsonFixed), member("sum", 5, jsonDouble),
			objects("quantileValues", 6, []jsonMember{member("quantile", 1, jsonDouble), member("value", 2, jsonDouble)}),
			objects("attributes", 7, jsonKeyValue), member("flags", 8, jsonVarint),
		}))}),
		objects("metadata", 12, jsonKeyValue),
	}
}()

// metricJSON decodes an element of metrics and returns the number of its points, as metricMessage does.
func (d *decoder) metricJSON(text []byte) int {
	return d.messageJSON(text, jsonMetric, metricDepth, (*decoder).metricMessage)
}

// metricDepth is the depth of messages around an AnyValue in a Metric.
const metricDepth = 6
