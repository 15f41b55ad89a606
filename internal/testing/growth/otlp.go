package growth

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/ntconv/ntconv/internal/testing/spangen"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// otlpInput returns two generators of spans: as protobuf and as JSON.
func otlpInput(name string, n int, fill func(n int) []*tracepb.ResourceSpans) []Input {
	return []Input{
		{Name: "otlp-" + name, Ext: "binpb", N: n, Write: func(w io.Writer, n int) error {
			b, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: fill(n)})
			if err == nil {
				_, err = w.Write(b)
			}
			return err
		}},
		{Name: "otlp-json-" + name, Ext: "json", N: n, Write: func(w io.Writer, n int) error {
			_, err := w.Write(spangen.JSON(&tracepb.TracesData{ResourceSpans: fill(n)}, spangen.Style{}))
			return err
		}},
	}
}

// otlpInputs returns generators of span files.
func otlpInputs() (list []Input) {
	add := func(inputs []Input) { list = append(list, inputs...) }
	spans := func(name string, n int, change func(s *tracepb.Span, i, n int)) {
		add(otlpInput(name, n, func(n int) []*tracepb.ResourceSpans {
			ss := &tracepb.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: "scope"}}
			for i := range n {
				s := otlpSpan(uint64(i + 1))
				s.StartTimeUnixNano, s.EndTimeUnixNano = 1e18+uint64(i)*100, 1e18+uint64(i)*100+50
				change(s, i, n)
				ss.Spans = append(ss.Spans, s)
			}
			return []*tracepb.ResourceSpans{{Resource: &resourcepb.Resource{Attributes: attributes(1, numbered)}, ScopeSpans: []*tracepb.ScopeSpans{ss}}}
		}))
	}
	one := func(name string, n int, change func(s *tracepb.Span, n int)) {
		add(otlpInput(name, n, func(n int) []*tracepb.ResourceSpans {
			s := otlpSpan(1)
			change(s, n)
			return []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{s, otlpSpan(2)}}}}}
		}))
	}
	spans("spans", 300, func(*tracepb.Span, int, int) {})
	spans("chain", 300, func(s *tracepb.Span, i, _ int) { s.ParentSpanId = spanID(uint64(i)) })
	spans("cycle", 300, func(s *tracepb.Span, i, n int) { s.ParentSpanId = spanID(uint64((i+1)%n + 1)) })
	spans("missing-parents", 300, func(s *tracepb.Span, i, _ int) { s.ParentSpanId = spanID(uint64(i+1) << 32) })
	spans("same-id", 300, func(s *tracepb.Span, _, _ int) { s.SpanId = spanID(1) })
	spans("traces", 300, func(s *tracepb.Span, i, _ int) { s.TraceId = append(spanID(uint64(i+1)), spanID(1)...) })
	spans("names", 300, func(s *tracepb.Span, i, _ int) { s.Name = fmt.Sprint("name", i) })
	spans("crossing", 300, func(s *tracepb.Span, _, n int) { s.EndTimeUnixNano += uint64(n) * 100 })
	spans("nested", 300, func(s *tracepb.Span, i, n int) { s.EndTimeUnixNano = 1e18 + uint64(3*n-i)*100 })
	spans("reverse", 300, func(s *tracepb.Span, i, n int) {
		s.StartTimeUnixNano, s.EndTimeUnixNano = 1e18+uint64(n-i)*100, 1e18+uint64(n-i)*100+50
	})
	spans("keys", 300, func(s *tracepb.Span, i, _ int) { s.Attributes[0].Key = fmt.Sprint("key", i) })
	spans("links", 300, func(s *tracepb.Span, i, n int) {
		s.Links = []*tracepb.Span_Link{{TraceId: s.TraceId, SpanId: spanID(uint64(n - i))}}
	})
	one("attributes", 500, func(s *tracepb.Span, n int) { s.Attributes = attributes(n, numbered) })
	one("attributes-same-key",
		500, func(s *tracepb.Span, n int) { s.Attributes = attributes(n, func(int) string { return "key" }) })
	one("attributes-colliding", 500, func(s *tracepb.Span, n int) {
		s.Attributes = attributes(n, func(i int) string {
			if i < n/2 {
				return fmt.Sprint("a_", i+n/2+2)
			}
			return "a"
		})
	})
	one("attributes-list", 1000, func(s *tracepb.Span, n int) {
		list := &commonpb.ArrayValue{}
		for i := range n {
			list.Values = append(list.Values, stringValue(fmt.Sprint("v", i)))
		}
		s.Attributes[0].Value = &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: list}}
	})
	one("attributes-map", 500, func(s *tracepb.Span, n int) {
		s.Attributes[0].Value = &commonpb.AnyValue{
			Value: &commonpb.AnyValue_KvlistValue{
				KvlistValue: &commonpb.KeyValueList{Values: attributes(n, func(int) string { return "key" })},
			},
		}
	})
	one("attributes-deep", 40, func(s *tracepb.Span, n int) { s.Attributes[0].Value = nestedValue(n) })
	one("events", 500, func(s *tracepb.Span, n int) {
		for i := range n {
			s.Events = append(s.Events, &tracepb.Span_Event{Name: fmt.Sprint("e", i), TimeUnixNano: 1e18 + uint64(n-i), Attributes: attributes(1, numbered)})
		}
	})
	one("links-of-one", 500, func(s *tracepb.Span, n int) {
		for i := range n {
			s.Links = append(s.Links, &tracepb.Span_Link{TraceId: s.TraceId, SpanId: spanID(uint64(i + 1))})
		}
	})
	add(otlpInput("resources", 300, func(n int) (list []*tracepb.ResourceSpans) {
		for i := range n {
			r := &resourcepb.Resource{
				Attributes: attributes(
					3,
					func(k int) string { return [...]string{"service.name", "host.name", "process.pid"}[k] },
				),
			}
			r.Attributes[0].Value, r.Attributes[1].Value = stringValue(fmt.Sprint("service", i)), stringValue(fmt.Sprint("host", i%10))
			list = append(list, &tracepb.ResourceSpans{Resource: r, ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{otlpSpan(uint64(i + 1))}}}})
		}
		return list
	}))
	add(otlpInput("resources-equal", 300, func(n int) (list []*tracepb.ResourceSpans) {
		for i := range n {
			r := &resourcepb.Resource{Attributes: attributes(3, numbered)}
			list = append(list, &tracepb.ResourceSpans{Resource: r, ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{otlpSpan(uint64(i + 1))}}}})
		}
		return list
	}))
	add(otlpInput("resource-attributes", 500, func(n int) []*tracepb.ResourceSpans {
		r := &resourcepb.Resource{Attributes: attributes(n, numbered)}
		return []*tracepb.ResourceSpans{{Resource: r, ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{otlpSpan(1), otlpSpan(2)}}}}}
	}))
	add(otlpInput("scopes", 300, func(n int) []*tracepb.ResourceSpans {
		rs := &tracepb.ResourceSpans{}
		for i := range n {
			scope := &commonpb.InstrumentationScope{Name: fmt.Sprint("scope", i), Version: "1", Attributes: attributes(1, numbered)}
			rs.ScopeSpans = append(rs.ScopeSpans, &tracepb.ScopeSpans{Scope: scope, Spans: []*tracepb.Span{otlpSpan(uint64(i + 1))}})
		}
		return []*tracepb.ResourceSpans{rs}
	}))
	return list
}

func spanID(i uint64) []byte { return binary.BigEndian.AppendUint64(nil, i) }

func otlpSpan(i uint64) *tracepb.Span {
	return &tracepb.Span{
		TraceId: append(spanID(7), spanID(7)...), SpanId: spanID(i), Name: "span", StartTimeUnixNano: 1e18, EndTimeUnixNano: 1e18 + 1000,
		Attributes: attributes(1, numbered),
	}
}

func numbered(i int) string { return fmt.Sprint("key", i) }

func stringValue(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
}

func attributes(n int, key func(i int) string) (list []*commonpb.KeyValue) {
	for i := range n {
		list = append(list, &commonpb.KeyValue{Key: key(i), Value: stringValue("value")})
	}
	return list
}

// nestedValue returns a value inside n nested lists and maps.
func nestedValue(n int) *commonpb.AnyValue {
	v := stringValue("value")
	for i := range n {
		if i%2 == 0 {
			v = &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: []*commonpb.AnyValue{v, v}[:1]}}}
		} else {
			v = &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{Values: []*commonpb.KeyValue{{Key: "k", Value: v}}}}}
		}
	}
	return v
}
