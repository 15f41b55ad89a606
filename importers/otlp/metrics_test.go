package otlp_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	sending "github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/testing/spangen"
)

// pairs returns attributes.
func pairs(t *rapid.T) (list []*commonpb.KeyValue) {
	for i := range rapid.IntRange(0, 3).Draw(t, "attributes") {
		v := &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: rapid.String().Draw(t, "value")}}
		if rapid.Bool().Draw(t, "integer") {
			v.Value = &commonpb.AnyValue_IntValue{IntValue: rapid.Int64().Draw(t, "number")}
		}
		list = append(list, &commonpb.KeyValue{Key: string(rune('a' + i)), Value: v})
	}
	return list
}

// double returns a number of any kind but NaN, whose JSON form has no bits.
func double(t *rapid.T) float64 {
	f := rapid.Float64().Draw(t, "double")
	if math.IsNaN(f) {
		return math.Inf(1)
	}
	return f
}

func maybe(t *rapid.T) *float64 {
	if !rapid.Bool().Draw(t, "optional") {
		return nil
	}
	f := double(t)
	return &f
}

func counts(t *rapid.T) []uint64 {
	return rapid.SliceOfN(rapid.Uint64(), 0, 5).Draw(t, "counts")
}

func exemplars(t *rapid.T) (list []*metricspb.Exemplar) {
	for range rapid.IntRange(0, 2).Draw(t, "exemplars") {
		x := &metricspb.Exemplar{TimeUnixNano: rapid.Uint64().Draw(t, "time"), FilteredAttributes: pairs(t)}
		switch rapid.IntRange(0, 2).Draw(t, "value") {
		case 0:
			x.Value = &metricspb.Exemplar_AsInt{AsInt: rapid.Int64().Draw(t, "number")}
		case 1:
			x.Value = &metricspb.Exemplar_AsDouble{AsDouble: double(t)}
		}
		if rapid.Bool().Draw(t, "ids") {
			x.TraceId, x.SpanId = []byte("sixteen.letters."), []byte("8letters")
		}
		list = append(list, x)
	}
	return list
}

// times returns a start and a time.
func times(t *rapid.T) (start, at uint64) {
	return rapid.Uint64Range(0, 2e18).Draw(t, "start"), rapid.Uint64Range(0, 2e18).Draw(t, "at")
}

func numberPoints(t *rapid.T) (list []*metricspb.NumberDataPoint) {
	for range rapid.IntRange(1, 3).Draw(t, "points") {
		p := &metricspb.NumberDataPoint{Attributes: pairs(t), Flags: rapid.Uint32Range(0, 1).Draw(t, "flags"), Exemplars: exemplars(t)}
		p.StartTimeUnixNano, p.TimeUnixNano = times(t)
		switch rapid.IntRange(0, 2).Draw(t, "value") {
		case 0:
			p.Value = &metricspb.NumberDataPoint_AsInt{AsInt: rapid.Int64().Draw(t, "number")}
		case 1:
			p.Value = &metricspb.NumberDataPoint_AsDouble{AsDouble: double(t)}
		}
		list = append(list, p)
	}
	return list
}

// metric returns a metric of any kind.
func metric(t *rapid.T) *metricspb.Metric {
	m := &metricspb.Metric{
		Name: rapid.StringN(1, 8, -1).Draw(t, "name"), Description: rapid.StringN(0, 8, -1).Draw(t, "description"), Unit: rapid.StringN(0, 3, -1).Draw(t, "unit"), Metadata: pairs(t),
	}
	temporality := metricspb.AggregationTemporality(rapid.IntRange(0, 2).Draw(t, "temporality"))
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		m.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: numberPoints(t)}}
	case 1:
		m.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{DataPoints: numberPoints(t), AggregationTemporality: temporality, IsMonotonic: rapid.Bool().Draw(t, "monotonic")}}
	case 2:
		p := &metricspb.HistogramDataPoint{
			Attributes: pairs(t), Count: rapid.Uint64().Draw(t, "count"), Sum: maybe(t), Min: maybe(t), Max: maybe(t), BucketCounts: counts(t), Exemplars: exemplars(t),
			ExplicitBounds: rapid.SliceOfN(rapid.Float64Range(-10, 10), 0, 4).Draw(t, "bounds"), Flags: 1,
		}
		p.StartTimeUnixNano, p.TimeUnixNano = times(t)
		m.Data = &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{AggregationTemporality: temporality, DataPoints: []*metricspb.HistogramDataPoint{p}}}
	case 3:
		p := &metricspb.ExponentialHistogramDataPoint{
			Attributes: pairs(t), Count: rapid.Uint64().Draw(t, "count"), Sum: maybe(t), Min: maybe(t), Max: maybe(t), Exemplars: exemplars(t),
			Scale: rapid.Int32().Draw(t, "scale"), ZeroCount: rapid.Uint64().Draw(t, "zero"), ZeroThreshold: double(t),
		}
		p.StartTimeUnixNano, p.TimeUnixNano = times(t)
		for _, side := range []**metricspb.ExponentialHistogramDataPoint_Buckets{&p.Positive, &p.Negative} {
			if rapid.Bool().Draw(t, "buckets") {
				*side = &metricspb.ExponentialHistogramDataPoint_Buckets{Offset: rapid.Int32().Draw(t, "offset"), BucketCounts: counts(t)}
			}
		}
		m.Data = &metricspb.Metric_ExponentialHistogram{ExponentialHistogram: &metricspb.ExponentialHistogram{AggregationTemporality: temporality, DataPoints: []*metricspb.ExponentialHistogramDataPoint{p}}}
	default:
		p := &metricspb.SummaryDataPoint{Attributes: pairs(t), Count: rapid.Uint64().Draw(t, "count"), Sum: double(t)}
		p.StartTimeUnixNano, p.TimeUnixNano = times(t)
		for range rapid.IntRange(0, 3).Draw(t, "quantiles") {
			p.QuantileValues = append(p.QuantileValues, &metricspb.SummaryDataPoint_ValueAtQuantile{Quantile: rapid.Float64Range(0, 1).Draw(t, "quantile"), Value: double(t)})
		}
		m.Data = &metricspb.Metric_Summary{Summary: &metricspb.Summary{DataPoints: []*metricspb.SummaryDataPoint{p}}}
	}
	return m
}

// metrics returns metrics of several resources.
func metrics(t *rapid.T) *metricspb.MetricsData {
	data := new(metricspb.MetricsData)
	for range rapid.IntRange(1, 2).Draw(t, "resources") {
		r := &metricspb.ResourceMetrics{Resource: &resourcepb.Resource{Attributes: pairs(t)}, SchemaUrl: rapid.SampledFrom([]string{"", "u"}).Draw(t, "schema")}
		for range rapid.IntRange(1, 2).Draw(t, "scopes") {
			s := &metricspb.ScopeMetrics{Scope: &commonpb.InstrumentationScope{Name: rapid.StringN(0, 3, -1).Draw(t, "scope")}}
			for range rapid.IntRange(1, 3).Draw(t, "metrics") {
				s.Metrics = append(s.Metrics, metric(t))
			}
			r.ScopeMetrics = append(r.ScopeMetrics, s)
		}
		data.ResourceMetrics = append(data.ResourceMetrics, r)
	}
	return data
}

// flat returns a message per data point with all that is around it, sorted, as text.
func flat(data *metricspb.MetricsData) (list []string) {
	for _, r := range data.ResourceMetrics {
		for _, s := range r.ScopeMetrics {
			for _, m := range s.Metrics {
				around := func(change func(*metricspb.Metric)) {
					one := &metricspb.Metric{Name: m.Name, Description: m.Description, Unit: m.Unit, Metadata: m.Metadata}
					change(one)
					whole := &metricspb.ResourceMetrics{Resource: r.Resource, SchemaUrl: r.SchemaUrl, ScopeMetrics: []*metricspb.ScopeMetrics{
						{Scope: s.Scope, SchemaUrl: s.SchemaUrl, Metrics: []*metricspb.Metric{one}},
					}}
					b, err := proto.MarshalOptions{Deterministic: true}.Marshal(whole)
					if err != nil {
						panic(err) // a test
					}
					list = append(list, string(b))
				}
				for _, p := range m.GetGauge().GetDataPoints() {
					around(func(one *metricspb.Metric) {
						one.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: []*metricspb.NumberDataPoint{p}}}
					})
				}
				for _, p := range m.GetSum().GetDataPoints() {
					around(func(one *metricspb.Metric) {
						one.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{
							AggregationTemporality: m.GetSum().AggregationTemporality, IsMonotonic: m.GetSum().IsMonotonic, DataPoints: []*metricspb.NumberDataPoint{p},
						}}
					})
				}
				if m.GetHistogram() != nil || m.GetExponentialHistogram() != nil || m.GetSummary() != nil { // one point each
					around(func(one *metricspb.Metric) { one.Data = m.Data })
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// metricsThrough converts metrics to a trace and back.
func metricsThrough(t *rapid.T, input []byte) *metricspb.MetricsData {
	var report ntconv.Report
	src, err := throughNettrace(otlp.New(bytes.NewReader(input), &otlp.Options{Report: &report}))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	sink := sending.NewFile(&out, sending.Protobuf, src.Info(), nil, &sending.Options{Signals: sending.SignalSet(sending.Metrics), Report: &report})
	if _, err := ntconv.Copy(sink, src); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	data := new(metricspb.MetricsData)
	if err := proto.Unmarshal(out.Bytes(), data); err != nil {
		t.Fatal(err)
	}
	wantClean(t, &report)
	return data
}

// Metrics of every kind, in every form of protobuf and in every style of JSON, pass through a nettrace file unchanged.
func TestMetrics(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		data := metrics(rt)
		want := flat(data)
		b := marshal(rt, data)
		for name, input := range map[string][]byte{
			"message": b, "delimited": delimited(b), "varint": varintDelimited(b), "JSON": spangen.JSON(data, styles().Draw(rt, "style")),
		} {
			got := flat(metricsThrough(rt, input))
			if !slices.Equal(got, want) {
				rt.Fatalf("%s: %d points, want %d\n%s", name, len(got), len(want), prototext.Format(data))
			}
		}
	})
}
