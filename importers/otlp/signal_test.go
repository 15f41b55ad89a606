package otlp_test

import (
	"bytes"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/otlp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func oneMetric(m *metricspb.Metric) proto.Message {
	return &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{ScopeMetrics: []*metricspb.ScopeMetrics{{
		Scope: &commonpb.InstrumentationScope{Name: "s"}, Metrics: []*metricspb.Metric{m},
	}}}}}
}

func oneLog(l *logspb.LogRecord) proto.Message {
	return &logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{ScopeLogs: []*logspb.ScopeLogs{{LogRecords: []*logspb.LogRecord{l}}}}}}
}

func oneSpan(s *tracepb.Span) proto.Message {
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{s}}}}}}
}

// profile returns ProfilesData with one profile of the given fields (profiles/v1development, which has no released Go
// package).
func profile(fields ...[]byte) []byte {
	item := bytes.Join(fields, nil)
	scope := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), item)
	resource := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), scope)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), resource)
}

func bytesField(num protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), b)
}

// Every signal is recognized by the contents of its items, even if their names have the lengths of IDs.
func TestSignals(t *testing.T) {
	point := []*metricspb.NumberDataPoint{{TimeUnixNano: 1, Value: &metricspb.NumberDataPoint_AsInt{AsInt: 3}}}
	metric := func(change func(*metricspb.Metric)) []byte {
		m := &metricspb.Metric{Name: "sixteen.letters.", Description: "8letters", Unit: "s"}
		change(m)
		return marshal(t, oneMetric(m))
	}
	text := &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: "x"}}
	tests := []struct {
		signal string
		input  []byte
	}{
		{"metrics", metric(func(m *metricspb.Metric) {
			m.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: point}}
		})},
		{"metrics", metric(func(m *metricspb.Metric) { m.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{DataPoints: point}} })},
		{"metrics", metric(func(m *metricspb.Metric) {
			m.Data = &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{AggregationTemporality: 2, DataPoints: []*metricspb.HistogramDataPoint{{Count: 1}}}}
		})},
		{"metrics", metric(func(m *metricspb.Metric) {
			m.Data = &metricspb.Metric_ExponentialHistogram{ExponentialHistogram: &metricspb.ExponentialHistogram{AggregationTemporality: 1}}
		})},
		{"metrics", metric(func(m *metricspb.Metric) {
			m.Data = &metricspb.Metric_Summary{Summary: &metricspb.Summary{DataPoints: []*metricspb.SummaryDataPoint{{Count: 1}}}}
		})},
		{"logs", marshal(t, oneLog(&logspb.LogRecord{TimeUnixNano: 1, Body: text}))},
		{"logs", marshal(t, oneLog(&logspb.LogRecord{ObservedTimeUnixNano: 1, TraceId: make([]byte, 16), SpanId: make([]byte, 8)}))},
		{"logs", marshal(t, oneLog(&logspb.LogRecord{SeverityNumber: 9, SeverityText: "INFO", Body: text}))},
		{"profiles", profile(bytesField(1, []byte{8, 1, 16, 2}), protowire.AppendFixed64(protowire.AppendTag(nil, 3, protowire.Fixed64Type), 1))},
		{"profiles", profile(bytesField(1, []byte{8, 1, 16, 2}), bytesField(2, []byte{8, 1}), protowire.AppendVarint(protowire.AppendTag(nil, 6, protowire.VarintType), 1))},
		{"metrics", []byte(`{"resourceMetrics":[]}`)},
		{"logs", marshal(t, oneLog(&logspb.LogRecord{Body: text}))},
		{"logs", marshal(t, oneLog(&logspb.LogRecord{EventName: "sixteen.letters."}))},
		{"logs", []byte(`{"x":[{"resourceSpans":1}],"resource_logs":[{"scope_logs":[{"log_records":[{}]}]}]}`)},
		{"profiles", []byte(`[{"resourceProfiles":[]}]`)},
	}
	for i, test := range tests {
		forms := [][]byte{test.input}
		if test.input[0] == 10 {
			forms = append(forms, delimited(test.input), varintDelimited(test.input))
		}
		for _, input := range forms {
			src, err := otlp.New(bytes.NewReader(input), nil)
			if test.signal == "logs" {
				if records, err := recordsOf(src, err); err != nil || len(records) != 1 {
					t.Errorf("%d: %d log records, %v", i, len(records), err)
				}
				continue
			}
			if got := signalsIn(src, err); err != nil || got != test.signal && got != "" {
				t.Errorf("%d: want %s, got %q, %v", i, test.signal, got, err)
			}
		}
	}
}

// signalsIn returns the signal of the first event of a source, "" if it has none.
func signalsIn(src ntconv.Source, err error) string {
	if err != nil {
		return ""
	}
	e, err := src.Next()
	if err != nil || e.Type == nil {
		return ""
	}
	return map[string]string{"Span": "traces", "LogRecord": "logs", "DataPoint": "metrics", "Profile": "profiles"}[e.Type.Name]
}

// Spans with few fields are recognized as spans, regardless of their names.
func TestSpansAreNotOtherSignals(t *testing.T) {
	id, trace := []byte("8letters"), []byte("sixteen.letters.")
	attributes := []*commonpb.KeyValue{{Key: "k"}, {Value: &commonpb.AnyValue{}}}
	for i, s := range []*tracepb.Span{
		{TraceId: trace, SpanId: id},
		{TraceId: trace, SpanId: id, Name: "GET", TraceState: "s"},
		{TraceId: trace, SpanId: id, Name: "\n\x04\b\x01\x10\x02", Attributes: attributes},
		{TraceId: trace, SpanId: id, ParentSpanId: id, Kind: 1},
		{TraceId: trace, SpanId: id, Events: []*tracepb.Span_Event{{TimeUnixNano: 1, Name: "e"}}},
		{TraceId: trace, SpanId: id, Links: []*tracepb.Span_Link{{}}},
		{TraceId: trace, SpanId: id, Status: &tracepb.Status{}},
		{TraceId: trace, SpanId: id, StartTimeUnixNano: 1, EndTimeUnixNano: 2, Flags: 1},
	} {
		got, err := read(bytes.NewReader(marshal(t, oneSpan(s))), nil)
		if err != nil || len(got) != 1 {
			t.Errorf("%d: %d spans, %v", i, len(got), err)
		}
	}
}
