package agreement

import (
	"encoding/hex"
	"strconv"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

const runtimeScope = "Microsoft-Windows-DotNETRuntime"

// OTLP returns the answer of spans as one protobuf message, as the types of OpenTelemetry read it.
func OTLP(data []byte) (*Answer, error) {
	var traces tracepb.TracesData
	if err := proto.Unmarshal(data, &traces); err != nil {
		return nil, err
	}
	a := NewAnswer("otlp")
	a.stateSlices(append([]operation{spanOperation}, operations...))
	collections := map[string]map[string]string{}
	eachSpan(&traces, func(scope string, s *tracepb.Span) {
		if scope == runtimeScope && s.Name == "GC" {
			collections[hex.EncodeToString(s.SpanId)] = attributes(s.Attributes)
		}
	})
	eachSpan(&traces, func(scope string, s *tracepb.Span) {
		v := slice{name: s.Name, ns: int64(s.EndTimeUnixNano - s.StartTimeUnixNano), attributes: attributes(s.Attributes)}
		v.isSpan = scope != runtimeScope && scope != "System.Diagnostics.Eventing.FrameworkEventSource"
		v.open = v.attributes["ntconv.unfinished"] != ""
		if gc := collections[hex.EncodeToString(s.ParentSpanId)]; gc != nil && v.name == "GC pause" {
			for key, value := range gc {
				v.attributes[key] = value
			}
		}
		a.slice(&v)
	})
	return a, nil
}

func eachSpan(traces *tracepb.TracesData, f func(scope string, s *tracepb.Span)) {
	for _, r := range traces.ResourceSpans {
		for _, s := range r.ScopeSpans {
			for _, span := range s.Spans {
				f(s.GetScope().GetName(), span)
			}
		}
	}
}

func attributes(list []*commonpb.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range list {
		switch v := kv.Value.GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			m[kv.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			m[kv.Key] = strconv.FormatInt(v.IntValue, 10)
		case *commonpb.AnyValue_BoolValue:
			m[kv.Key] = strconv.FormatBool(v.BoolValue)
		}
	}
	return m
}
