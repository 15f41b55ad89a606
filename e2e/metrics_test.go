package e2e

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// dataPoints returns the data points of OTLP data as sorted texts of JSON, with what is around each.
func dataPoints(t *testing.T, all ...pmetric.Metrics) (list []string) {
	t.Helper()
	for _, data := range all {
		for _, r := range data.ResourceMetrics().All() {
			for _, s := range r.ScopeMetrics().All() {
				for _, m := range s.Metrics().All() {
					around := []any{
						r.Resource().Attributes().AsRaw(), s.Scope().Name(), s.Scope().Version(), s.Scope().Attributes().AsRaw(), m.Name(), m.Description(), m.Unit(), m.Type(),
						m.Metadata().AsRaw(),
					}
					add := func(values ...any) {
						text, err := json.Marshal(append(slices.Clone(around), values...))
						must(t, err)
						list = append(list, string(text))
					}
					points := pmetric.NewNumberDataPointSlice()
					switch m.Type() {
					case pmetric.MetricTypeGauge:
						points = m.Gauge().DataPoints()
					case pmetric.MetricTypeSum:
						around = append(around, m.Sum().AggregationTemporality(), m.Sum().IsMonotonic())
						points = m.Sum().DataPoints()
					case pmetric.MetricTypeHistogram:
						around = append(around, m.Histogram().AggregationTemporality())
						for _, p := range m.Histogram().DataPoints().All() {
							add(p.StartTimestamp(), p.Timestamp(), p.Count(), p.HasSum(), p.Sum(), p.HasMin(), p.Min(), p.HasMax(), p.Max(), p.BucketCounts().AsRaw(),
								p.ExplicitBounds().AsRaw(), p.Flags(), exemplarTexts(p.Exemplars()), p.Attributes().AsRaw())
						}
					case pmetric.MetricTypeExponentialHistogram:
						around = append(around, m.ExponentialHistogram().AggregationTemporality())
						for _, p := range m.ExponentialHistogram().DataPoints().All() {
							add(p.StartTimestamp(), p.Timestamp(), p.Count(), p.HasSum(), p.Sum(), p.HasMin(), p.Min(), p.HasMax(), p.Max(), p.Scale(), p.ZeroCount(), p.ZeroThreshold(),
								p.Positive().Offset(), p.Positive().BucketCounts().AsRaw(), p.Negative().Offset(), p.Negative().BucketCounts().AsRaw(),
								p.Flags(), exemplarTexts(p.Exemplars()), p.Attributes().AsRaw())
						}
					case pmetric.MetricTypeSummary:
						for _, p := range m.Summary().DataPoints().All() {
							var quantiles []float64
							for _, q := range p.QuantileValues().All() {
								quantiles = append(quantiles, q.Quantile(), q.Value())
							}
							add(p.StartTimestamp(), p.Timestamp(), p.Count(), p.Sum(), quantiles, p.Attributes().AsRaw())
						}
					}
					for _, p := range points.All() {
						add(p.StartTimestamp(), p.Timestamp(), p.ValueType(), p.IntValue(), p.DoubleValue(), p.Flags(), exemplarTexts(p.Exemplars()), p.Attributes().AsRaw())
					}
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// exemplarTexts returns exemplars as texts.
func exemplarTexts(list pmetric.ExemplarSlice) (texts []string) {
	for _, x := range list.All() {
		texts = append(texts, fmt.Sprint(x.Timestamp(), x.ValueType(), x.IntValue(), x.DoubleValue(), x.TraceID(), x.SpanID(), x.FilteredAttributes().AsRaw()))
	}
	return texts
}

// histograms returns metrics with both kinds of histograms, and a point that is larger than an event of a trace.
func histograms() pmetric.Metrics {
	data := pmetric.NewMetrics()
	r := data.ResourceMetrics().AppendEmpty()
	r.Resource().Attributes().PutStr("service.name", "shop")
	s := r.ScopeMetrics().AppendEmpty()
	s.Scope().SetName("till")
	for i := range 3 {
		m := s.Metrics().AppendEmpty()
		m.SetName(fmt.Sprint("exponential", i))
		m.Metadata().PutStr("team", "shop")
		m.SetEmptyExponentialHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
		p := m.ExponentialHistogram().DataPoints().AppendEmpty()
		p.SetTimestamp(1_800_000_000_000_000_000)
		p.SetCount(7)
		p.SetScale(int32(3 - 2*i))
		p.SetZeroCount(1)
		p.SetZeroThreshold(1e-9)
		p.Positive().SetOffset(-5)
		p.Positive().BucketCounts().Append(1, 0, 1<<40)
		if i > 0 {
			p.SetSum(-0.5)
			p.SetMin(-1)
			p.SetMax(3)
			p.Negative().BucketCounts().Append(2)
			x := p.Exemplars().AppendEmpty()
			x.SetDoubleValue(0.25)
			x.SetTraceID(pcommon.TraceID{1})
			x.SetSpanID(pcommon.SpanID{2})
			x.FilteredAttributes().PutInt("n", 1)
		}
		if i == 2 {
			for range 50_000 {
				p.Positive().BucketCounts().Append(300)
			}
		}
		m = s.Metrics().AppendEmpty()
		m.SetName(fmt.Sprint("explicit", i))
		m.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		h := m.Histogram().DataPoints().AppendEmpty()
		h.SetTimestamp(1_800_000_000_000_000_001)
		h.SetStartTimestamp(1_800_000_000_000_000_000)
		h.SetCount(3)
		h.ExplicitBounds().Append(0, 0.5)
		h.BucketCounts().Append(1, 2, 0)
		h.Attributes().PutBool("b", true)
		if i > 0 {
			h.SetMax(9)
			h.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
		}
	}
	return data
}

// Metrics that are converted to a trace and back have the same contents, according to the Collector's own package, and
// TraceEvent reads the trace without an error: those that the OpenTelemetry SDK of .NET sent, and others.
func TestOTLPMetricsRoundTrip(t *testing.T) {
	dir := t.TempDir()
	b, err := new(pmetric.ProtoMarshaler).MarshalMetrics(histograms())
	must(t, err)
	text, err := new(pmetric.JSONMarshaler).MarshalMetrics(histograms())
	must(t, err)
	inputs := map[string][]byte{"a.binpb": b, "a.json": text, "sdk.binpb": nil}
	inputs["sdk.binpb"], err = os.ReadFile(shared(t, "data", "otel", "otel-metrics.otlp.binpb"))
	must(t, err)
	for name, input := range inputs {
		want := dataPoints(t, histograms())
		if name == "sdk.binpb" {
			want = nil
			for rest := input; len(rest) > 0; {
				n := binary.BigEndian.Uint32(rest)
				data, err := new(pmetric.ProtoUnmarshaler).UnmarshalMetrics(rest[4:][:n])
				must(t, err)
				want = append(want, dataPoints(t, data)...)
				rest = rest[4+n:]
			}
			slices.Sort(want)
		}
		path, trace, out := filepath.Join(dir, name), filepath.Join(dir, name+".nettrace"), filepath.Join(dir, name+".b.binpb")
		must(t, os.WriteFile(path, input, 0o600))
		succeed(t, "to", "nettrace", path, "-o", trace)
		succeed(t, "to", "otlp", "--signals", "metrics", trace, "-o", out)
		written, err := os.ReadFile(out)
		must(t, err)
		data, err := new(pmetric.ProtoUnmarshaler).UnmarshalMetrics(written)
		must(t, err)
		if got := dataPoints(t, data); len(want) < 6 || !slices.Equal(got, want) {
			t.Errorf("%s: got %d points\n%.2000q\nwant %d\n%.2000q", name, len(got), got, len(want), want)
		}
		checkTraceEvent(t, trace, 1)
	}
}

// A collector receives the metrics of a file for every way of sending them, and reads those of files.
func TestCollectorReceivesMetrics(t *testing.T) {
	signalAtCollector(t, &sentSignal{
		name: "metrics", first: `{"resourceMetrics"`, least: 90, file: func(c *collector) string { return c.metrics },
		traces: []string{shared(t, "data", "own", "metrics.nettrace.zst"), shared(t, "data", "own", "counters.nettrace.zst"), shared(t, "data", "otel", "otel-metrics.nettrace.zst")},
		proto: func(b []byte) []string {
			data, err := new(pmetric.ProtoUnmarshaler).UnmarshalMetrics(b)
			must(t, err)
			return dataPoints(t, data)
		},
		json: func(line []byte) []string {
			data, err := new(pmetric.JSONUnmarshaler).UnmarshalMetrics(line)
			must(t, err)
			return dataPoints(t, data)
		},
	})
}
