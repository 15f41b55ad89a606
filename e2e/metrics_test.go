package e2e

import (
	"encoding/json"
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

// A collector receives the metrics of a file for every way of sending them, and reads those of files.
func TestCollectorReceivesMetrics(t *testing.T) {
	signalAtCollector(t, &sentSignal{
		name: "metrics", first: `{"resourceMetrics"`, least: 90, file: func(c *collector) string { return c.metrics },
		traces: []string{shared(t, "own", "metrics.nettrace.zst"), shared(t, "own", "counters.nettrace.zst"), shared(t, "otel", "otel-metrics.nettrace.zst")},
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
