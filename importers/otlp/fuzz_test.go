package otlp

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
	"github.com/ntconv/ntconv/internal/span"
	logdata "github.com/ntconv/ntconv/internal/span/logs"
	metricdata "github.com/ntconv/ntconv/internal/span/metrics"
	profiledata "github.com/ntconv/ntconv/internal/span/profiles"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collect returns copies of the items that a decoder yields, and the error that ends them if that is not io.EOF.
func collect(r itemReader) (spans []*span.Span, records []*logdata.Record, err error) {
	for {
		one, err := r.next()
		switch {
		case err == io.EOF:
			return spans, records, nil
		case err != nil:
			return spans, records, err
		case one.record != nil:
			records = append(records, spangen.CloneRecord(one.record))
		case one.span != nil:
			spans = append(spans, spangen.Clone(one.span))
		}
	}
}

// seeds returns small messages.
func seeds() (list []*tracepb.TracesData) {
	for i := range 5 {
		list = append(list, spangen.Proto(spangen.Spans().Example(i)))
	}
	return list
}

// isOf reports whether an item is certainly of a signal.
func isOf(s signal, item []byte) bool {
	got, ok := signalOf(item)
	return got == s && ok
}

// FuzzLogs: whatever google.golang.org/protobuf decodes as logs is decoded to the same records, as protobuf and as JSON.
func FuzzLogs(f *testing.F) {
	for i := range 5 {
		b, err := proto.Marshal(spangen.LogsProto(spangen.Records().Example(i)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		d := &decoder{limits: Limits{Depth: span.MaxDepth, Message: 1 << 20}.Defaults(), report: new(ntconv.Report)}
		_, got, err := collect(newProtoReader(bufio.NewReader(bytes.NewReader(input)), formProto, d))
		data := new(logspb.LogsData)
		if proto.Unmarshal(input, data) != nil {
			return
		}
		for _, rl := range data.ResourceLogs {
			for _, sl := range rl.ScopeLogs {
				if len(sl.LogRecords) > 0 {
					if first, err := proto.Marshal(sl.LogRecords[0]); err != nil || !isOf(logs, first) {
						return // refused, or decoded as what it merely may be
					}
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := spangen.EqualRecords(spangen.RecordsFromProto(data), got); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzJSON: no text makes the decoder panic, and records and spans that it yields pass through an event.
func FuzzJSON(f *testing.F) {
	for i := range 3 {
		f.Add(spangen.JSON(spangen.LogsProto(spangen.Records().Example(i)), spangen.Style{}))
		f.Add(spangen.JSON(spangen.Proto(spangen.Spans().Example(i)), spangen.Style{Snake: true}))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		src, err := New(bytes.NewReader(input), nil)
		if err != nil {
			return
		}
		records, spans := stored.NewDecoder(logdata.Stored, nil), stored.NewDecoder(stored.Spans, nil)
		for e, err := range ntconv.Events(src) {
			if err != nil {
				return
			}
			switch {
			case logdata.Stored.Has(e.Type):
				records.Decode(e)
			case stored.Spans.Has(e.Type):
				spans.Decode(e)
			}
		}
		if n := records.Invalid() + spans.Invalid(); n > 0 {
			t.Fatalf("%d events cannot be decoded", n)
		}
	})
}

// FuzzMetrics: whatever google.golang.org/protobuf decodes as metrics is decoded to the same points.
func FuzzMetrics(f *testing.F) {
	for _, data := range []*metricspb.Metric{
		{Name: "sixteen.letters.", Unit: "s", Data: &metricspb.Metric_Sum{Sum: &metricspb.Sum{IsMonotonic: true, AggregationTemporality: 1, DataPoints: []*metricspb.NumberDataPoint{
			{TimeUnixNano: 1, Value: &metricspb.NumberDataPoint_AsInt{AsInt: 3}, Exemplars: []*metricspb.Exemplar{{TimeUnixNano: 1}}}, {TimeUnixNano: 2},
		}}}},
		{Name: "h", Data: &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{AggregationTemporality: 2, DataPoints: []*metricspb.HistogramDataPoint{
			{TimeUnixNano: 1, Count: 3, BucketCounts: []uint64{1, 2}, ExplicitBounds: []float64{0.5}},
		}}}},
		{Name: "e", Data: &metricspb.Metric_ExponentialHistogram{ExponentialHistogram: &metricspb.ExponentialHistogram{AggregationTemporality: 2, DataPoints: []*metricspb.ExponentialHistogramDataPoint{
			{TimeUnixNano: 1, Scale: -3, Positive: &metricspb.ExponentialHistogramDataPoint_Buckets{Offset: -1, BucketCounts: []uint64{1, 300}}},
		}}}},
		{Name: "q", Data: &metricspb.Metric_Summary{Summary: &metricspb.Summary{DataPoints: []*metricspb.SummaryDataPoint{
			{TimeUnixNano: 1, Count: 2, Sum: 3, QuantileValues: []*metricspb.SummaryDataPoint_ValueAtQuantile{{Quantile: 0.5, Value: 1}}},
		}}}},
	} {
		b, err := proto.Marshal(&metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{ScopeMetrics: []*metricspb.ScopeMetrics{{Metrics: []*metricspb.Metric{data}}}}}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		data := new(metricspb.MetricsData)
		valid := proto.Unmarshal(input, data) == nil
		want := 0
		for _, r := range data.ResourceMetrics {
			for _, s := range r.ScopeMetrics {
				for i, m := range s.Metrics {
					if i == 0 {
						first, err := proto.Marshal(m)
						valid = valid && err == nil && isOf(metrics, first)
					}
					want += len(m.GetGauge().GetDataPoints()) + len(m.GetSum().GetDataPoints()) + len(m.GetHistogram().GetDataPoints()) +
						len(m.GetExponentialHistogram().GetDataPoints()) + len(m.GetSummary().GetDataPoints())
				}
			}
		}
		var report ntconv.Report
		src, err := New(bytes.NewReader(input), &Options{Limits: Limits{Depth: span.MaxDepth, Message: 1 << 20}, Report: &report})
		if err != nil {
			return
		}
		decoder, got := stored.NewDecoder(metricdata.Stored, nil), 0
		for e, err := range ntconv.Events(src) {
			if err != nil {
				valid = false
				break
			}
			if metricdata.Stored.Has(e.Type) {
				if _, ok := decoder.Decode(e); ok {
					got++
				}
			}
		}
		if n := decoder.Invalid(); n > 0 {
			t.Fatalf("%d events cannot be decoded", n)
		}
		if valid && report.Count(ntconv.CodeCorrupt)+report.Count(ntconv.CodeRowSkipped) == 0 && got != want {
			t.Fatalf("%d points, want %d", got, want)
		}
	})
}

// FuzzProfiles: no message makes the decoder panic, and every event that it yields can be decoded.
func FuzzProfiles(f *testing.F) {
	whole, err := os.ReadFile("testdata/cpu-v6.profiles.binpb")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	for _, name := range []string{`{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sampleType":{"typeStrindex":1},"samples":[{"stackIndex":1,"values":["3"],"timestampsUnixNano":[5]}]}]}]}],`, "{"} {
		f.Add([]byte(name + `"dictionary":{"stringTable":["","cpu"],"stackTable":[{},{"locationIndices":[1]}],"locationTable":[{},{"address":"9","lines":[{"functionIndex":1}]}],"functionTable":[{},{"nameStrindex":1}]}}`))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		src, err := New(bytes.NewReader(input), &Options{Limits: Limits{Message: 1 << 20}, Report: new(ntconv.Report)})
		if err != nil {
			return
		}
		decoder := stored.NewDecoder(profiledata.Stored, nil)
		for e, err := range ntconv.Events(src) {
			if err != nil {
				return
			}
			switch {
			case profiledata.Stored.Has(e.Type):
				decoder.Decode(e)
			case imported.ColumnsOf(e.Type) != nil:
				n := 0
				for range e.Fields() {
					n++
				}
				if n != 2 || e.Stack != nil && len(e.Stack.Frames) == 0 {
					t.Fatalf("%d fields, stack %v", n, e.Stack)
				}
			}
		}
		if n := decoder.Invalid(); n > 0 {
			t.Fatalf("%d events cannot be decoded", n)
		}
	})
}

// FuzzProtobuf: whatever google.golang.org/protobuf decodes is decoded to the same spans, and nothing else panics.
func FuzzProtobuf(f *testing.F) {
	for _, data := range seeds() {
		b, err := proto.Marshal(data)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		Recognize(input)
		var report ntconv.Report
		d := &decoder{limits: Limits{Depth: span.MaxDepth, Message: 1 << 20}.Defaults(), report: &report}
		got, records, err := collect(newProtoReader(bufio.NewReader(bytes.NewReader(input)), formProto, d))
		data := new(tracepb.TracesData)
		if proto.Unmarshal(input, data) != nil {
			return
		}
		for _, rs := range data.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				if len(ss.Spans) > 0 {
					if first, err := proto.Marshal(ss.Spans[0]); err != nil || !isOf(traces, first) {
						return // refused, or decoded as what it merely may be
					}
				}
			}
		}
		if err != nil || len(records) > 0 {
			t.Fatal(err, len(records))
		}
		want := spangen.FromProto(data)
		if len(got) != len(want) {
			t.Fatalf("want %d spans, got %d", len(want), len(got))
		}
		for i := range want {
			if err := spangen.Equal(want[i], got[i]); err != nil {
				t.Fatal(err)
			}
		}
	})
}
