package e2e

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// A promSample is a sample as Prometheus reads it.
type promSample struct {
	labels labels.Labels
	time   int64 // milliseconds
	value  float64
}

// promSamples parses OpenMetrics with the parser of Prometheus and checks what the backfilling requires: each sample has a
// time, and those of a time series are in order. It returns the samples and the types of the families.
func promSamples(t *testing.T, text []byte) (list []promSample, types map[string]string) {
	t.Helper()
	types = map[string]string{}
	latest := map[string]int64{}
	p := textparse.NewOpenMetricsParser(text, labels.NewSymbolTable())
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return list, types
		}
		must(t, err)
		switch entry {
		case textparse.EntryType:
			name, typ := p.Type()
			if types[string(name)] != "" {
				t.Errorf("two families %s", name)
			}
			types[string(name)] = string(typ)
		case textparse.EntrySeries:
			var l labels.Labels
			p.Labels(&l)
			_, at, value := p.Series()
			if at == nil {
				t.Fatalf("%s has no time", l)
			}
			if before, known := latest[l.String()]; known && before >= *at {
				t.Errorf("%s: %d after %d", l, *at, before)
			}
			latest[l.String()] = *at
			list = append(list, promSample{l, *at, value})
		}
	}
}

// The parser of Prometheus finds the same values and times as a reader of OTLP. Values that cover an interval are compared by
// their sum.
func TestPrometheusReadsMetrics(t *testing.T) {
	compared := 0
	for _, tr := range append(ownTraces(t), sharedTraces(t)...) {
		named := strings.Contains(tr.name, "metrics") || strings.Contains(tr.name, "counters")
		if !named && os.Getenv("NTCONV_NIGHTLY") == "" {
			continue
		}
		dir := t.TempDir()
		out, ref := filepath.Join(dir, "x.prom"), filepath.Join(dir, "x.binpb")
		if r := run(t, command, "to", "otlp", "--signals", "metrics", tr.path, "-o", ref); r.code != complete && r.code != incomplete {
			continue
		}
		compared++
		if r := run(t, command, "to", "prometheus", tr.path, "-o", out); r.code != complete && r.code != incomplete {
			t.Errorf("%s: %s", tr.name, r.stderr)
			continue
		}
		samples, types := promSamples(t, contentAt(t, out))
		data, err := new(pmetric.ProtoUnmarshaler).UnmarshalMetrics(contentAt(t, ref))
		must(t, err)
		comparePoints(t, tr.name, data, samples, types)
	}
	if compared < 3 {
		t.Errorf("only %d traces with metrics", compared)
	}
}

// comparePoints compares the values by time, and the numbers of points by type.
func comparePoints(t *testing.T, name string, data pmetric.Metrics, samples []promSample, types map[string]string) {
	t.Helper()
	var want, got []string
	sums, totals := 0.0, 0.0 // of deltas, and of the latest value of each of their series
	deltas := map[string]bool{}
	eachMetric(data, func(m pmetric.Metric) {
		switch m.Type() {
		case pmetric.MetricTypeGauge:
			want = append(want, numbers(m.Gauge().DataPoints())...)
		case pmetric.MetricTypeSum:
			if m.Sum().AggregationTemporality() == pmetric.AggregationTemporalityCumulative {
				want = append(want, numbers(m.Sum().DataPoints())...)
				return
			}
			deltas[strings.NewReplacer(".", "_", "-", "_").Replace(m.Name())] = true
			for i := range m.Sum().DataPoints().Len() {
				sums += valueOf(m.Sum().DataPoints().At(i))
			}
		case pmetric.MetricTypeSummary:
			for i := range m.Summary().DataPoints().Len() {
				p := m.Summary().DataPoints().At(i)
				for j := range p.QuantileValues().Len() {
					want = append(want, fmt.Sprint(int64(p.Timestamp()/1e6), p.QuantileValues().At(j).Value()))
				}
			}
		}
	})
	latest := map[string]float64{}
	for _, s := range samples {
		family := s.labels.Get("__name__")
		isDelta := slices.ContainsFunc(slices.Collect(maps.Keys(deltas)), func(d string) bool { return strings.HasPrefix(family, d) }) && strings.HasSuffix(family, "_total")
		switch {
		case strings.HasSuffix(family, "_sum") && types[strings.TrimSuffix(family, "_sum")] == "summary",
			strings.HasSuffix(family, "_count") && types[strings.TrimSuffix(family, "_count")] == "summary", family == "target_info":
		case isDelta:
			latest[s.labels.String()] = s.value
		default:
			got = append(got, fmt.Sprint(s.time, s.value))
		}
	}
	for _, v := range latest {
		totals += v
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d values %.300q, want %d %.300q", name, len(got), got, len(want), want)
	}
	if math.Abs(sums-totals) > 1e-6*math.Abs(sums) {
		t.Errorf("%s: totals of intervals %g, want %g", name, totals, sums)
	}
}

func eachMetric(data pmetric.Metrics, f func(pmetric.Metric)) {
	for i := range data.ResourceMetrics().Len() {
		scopes := data.ResourceMetrics().At(i).ScopeMetrics()
		for j := range scopes.Len() {
			for k := range scopes.At(j).Metrics().Len() {
				f(scopes.At(j).Metrics().At(k))
			}
		}
	}
}

func valueOf(p pmetric.NumberDataPoint) float64 {
	if p.ValueType() == pmetric.NumberDataPointValueTypeInt {
		return float64(p.IntValue())
	}
	return p.DoubleValue()
}

func numbers(list pmetric.NumberDataPointSlice) (text []string) {
	for i := range list.Len() {
		text = append(text, fmt.Sprint(int64(list.At(i).Timestamp()/1e6), valueOf(list.At(i))))
	}
	return text
}
