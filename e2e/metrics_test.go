package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

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
						add(p.StartTimestamp(), p.Timestamp(), p.ValueType(), p.IntValue(), p.DoubleValue(), p.Attributes().AsRaw())
					}
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// metricLines returns the data points of a file of JSON lines.
func metricLines(t *testing.T, name string) []string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var all []pmetric.Metrics
	for line := range bytes.Lines(b) {
		if bytes.HasPrefix(line, []byte(`{"resourceMetrics"`)) && bytes.HasSuffix(line, []byte("\n")) {
			data, err := new(pmetric.JSONUnmarshaler).UnmarshalMetrics(line)
			must(t, err)
			all = append(all, data)
		}
	}
	return dataPoints(t, all...)
}

// A collector receives the metrics of a file for every way of sending them, and reads those of files.
func TestCollectorReceivesMetrics(t *testing.T) {
	c := newCollector(t)
	for _, trace := range []string{shared(t, "own", "metrics.nettrace.zst"), shared(t, "own", "counters.nettrace.zst"), shared(t, "otel", "otel-metrics.nettrace.zst")} {
		file := filepath.Join(t.TempDir(), "a.binpb")
		if r := run(t, command, "to", "otlp", trace, "--signals", "metrics", "-o", file); r.code != 0 {
			t.Fatalf("%s: %s", trace, r.stderr)
		}
		b, err := os.ReadFile(file)
		must(t, err)
		data, err := new(pmetric.ProtoUnmarshaler).UnmarshalMetrics(b)
		must(t, err)
		want := dataPoints(t, data)
		if len(want) < 90 {
			t.Fatalf("%s: %d data points", trace, len(want))
		}
		text := filepath.Join(t.TempDir(), "a.jsonl")
		if r := run(t, command, "to", "otlp", trace, "-o", text); r.code != 0 || !slices.Equal(metricLines(t, text), want) {
			t.Errorf("%s: JSON lines differ from protobuf: %s", trace, r.stderr)
		}
		for _, args := range [][]string{
			{"--endpoint", c.grpc}, {"--endpoint", c.grpc, "--compression", "gzip", "--batch", "3"}, {"--endpoint", c.http},
			{"--endpoint", c.http, "--protocol", "http/json", "--batch-bytes", "1KiB"},
		} {
			if r := run(t, command, append([]string{"to", "otlp", trace}, args...)...); r.code != 0 {
				t.Fatalf("%s %s: exit code %d: %s", trace, args, r.code, r.stderr)
			}
			eventually(t, "the collector has all data points", func() bool { return len(metricLines(t, c.metrics)) >= len(want) })
			if got := metricLines(t, c.metrics); !slices.Equal(got, want) {
				t.Errorf("%s %s: received %d data points, want %d:\n%s\n%s", trace, args, len(got), len(want), got[0], want[0])
			}
			must(t, os.Truncate(c.metrics, 0))
		}
	}
}
