package otlp

import (
	"bytes"
	"testing"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// TestMetrics writes the metrics of recordings in batches: the receiver's library reads all data points and would
// write as many bytes, and JSON has the same.
func TestMetrics(t *testing.T) {
	for _, name := range []string{"metrics", "counters", "metrics-limits"} {
		for _, items := range []int{0, 7} {
			o := &Options{Signals: SignalSet(Metrics), BatchItems: items}
			binary, text := new(bytes.Buffer), new(bytes.Buffer)
			src := recorded(t, name)
			sink := NewFile(binary, Protobuf, src.Info(), nil, o)
			writeAll(t, sink, src)
			src = recorded(t, name)
			writeAll(t, NewFile(text, JSONLines, src.Info(), nil, o), src)

			var whole metricspb.MetricsData
			if err := proto.Unmarshal(binary.Bytes(), &whole); err != nil {
				t.Fatal(err)
			}
			if n := proto.Size(&whole); n != binary.Len() && items == 0 {
				t.Errorf("%s: %d bytes, the library needs %d", name, binary.Len(), n)
			}
			merged := new(metricspb.MetricsData)
			for line := range bytes.Lines(text.Bytes()) {
				var part metricspb.MetricsData
				if err := protojson.Unmarshal(line, &part); err != nil {
					t.Fatalf("%s: %v in %s", name, err, line)
				}
				merged.ResourceMetrics = append(merged.ResourceMetrics, part.ResourceMetrics...)
			}
			if !proto.Equal(&whole, merged) {
				t.Errorf("%s: JSON and protobuf differ", name)
			}
			if n, sum := pointsOf(&whole), sink.Summary(); n != sum.Signals[Metrics].Sent || n < 4 || (sum.Problems != "") != (name == "metrics-limits") {
				t.Errorf("%s: %d data points, %+v", name, n, sum)
			}
		}
	}
}

// TestMetricsFromEvents counts events in metrics, but not in those that a counter of the trace measures.
func TestMetricsFromEvents(t *testing.T) {
	for name, metric := range map[string]string{"exceptions": "dotnet.exceptions", "metrics": "dotnet.gc.collections"} {
		for _, on := range []bool{false, true} {
			src, binary := recorded(t, name), new(bytes.Buffer)
			writeAll(t, NewFile(binary, Protobuf, src.Info(), nil, &Options{Signals: SignalSet(Metrics), MetricsFromEvents: on}), src)
			var data metricspb.MetricsData
			if err := proto.Unmarshal(binary.Bytes(), &data); err != nil {
				t.Fatal(err)
			}
			kinds := map[string]int{}
			for _, r := range data.ResourceMetrics {
				for _, s := range r.ScopeMetrics {
					for _, m := range s.Metrics {
						kinds[m.Name]++
					}
				}
			}
			if n := kinds[metric]; (n > 0) != (on || name == "metrics") || n > 1 {
				t.Errorf("%s, %v: %d metrics %s among %v", name, on, n, metric, kinds)
			}
		}
	}
}

// pointsOf returns the number of data points.
func pointsOf(data *metricspb.MetricsData) (n int64) {
	for _, r := range data.ResourceMetrics {
		for _, s := range r.ScopeMetrics {
			for _, m := range s.Metrics {
				n += int64(len(m.GetGauge().GetDataPoints()) + len(m.GetSum().GetDataPoints()) + len(m.GetSummary().GetDataPoints()))
			}
		}
	}
	return n
}

// BenchmarkMetrics measures the conversion of data points to a file.
func BenchmarkMetrics(b *testing.B) {
	benchmarkSignal(b, Metrics, "metrics", "CounterRateValuePublished")
}
