package spangen

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// A Style is a variant of OTLP/JSON.
type Style struct {
	Snake   bool // names in snake_case
	Upper   bool // hexadecimal digits in upper case
	Numbers bool // 64-bit integers as numbers, not strings
	Names   bool // enum values by name if they have one
	Nulls   bool // absent fields as null
	Indent  string
}

// JSON returns a message as OTLP/JSON, encoded by encoding/json.
func JSON(data *tracepb.TracesData, s Style) []byte {
	var list []any
	for _, rs := range data.ResourceSpans {
		list = append(list, s.resourceSpans(rs))
	}
	b, err := json.Marshal(s.object("resourceSpans", list))
	if s.Indent != "" {
		b, err = json.MarshalIndent(s.object("resourceSpans", list), "", s.Indent)
	}
	if err != nil {
		panic(err) // the object contains only types that encoding/json supports
	}
	return b
}

// object returns an object with names and values. It omits zero values, as protobuf does.
func (s Style) object(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i].(string)
		if s.Snake {
			name = snake(name)
		}
		switch v := pairs[i+1].(type) {
		case nil:
		case []any:
			if len(v) > 0 {
				m[name] = v
			}
		default:
			if v != "" && v != uint32(0) && v != any(int32(0)) {
				m[name] = v
			}
		}
		if _, ok := m[name]; !ok && s.Nulls {
			m[name] = nil
		}
	}
	return m
}

func snake(name string) string {
	var b strings.Builder
	for _, c := range name {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

func (s Style) id(b []byte) string {
	if s.Upper {
		return strings.ToUpper(hex.EncodeToString(b))
	}
	return hex.EncodeToString(b)
}

func (s Style) int64(n int64) any {
	if s.Numbers {
		return n
	}
	return strconv.FormatInt(n, 10)
}

func (s Style) uint64(n uint64) any {
	if s.Numbers {
		return n
	}
	return strconv.FormatUint(n, 10)
}

func (s Style) enum(n int32, names map[int32]string) any {
	if name, ok := names[n]; ok && s.Names {
		return name
	}
	return n
}

func (s Style) resourceSpans(rs *tracepb.ResourceSpans) any {
	var resource any
	if r := rs.Resource; r != nil {
		var entities []any
		for _, e := range r.EntityRefs {
			entities = append(
				entities,
				s.object(
					"schemaUrl",
					e.SchemaUrl,
					"type",
					e.Type,
					"idKeys",
					anys(e.IdKeys),
					"descriptionKeys",
					anys(e.DescriptionKeys),
				),
			)
		}
		resource = s.object("attributes",
			s.keyValues(r.Attributes), "droppedAttributesCount", r.DroppedAttributesCount, "entityRefs", entities)
	}
	var list []any
	for _, ss := range rs.ScopeSpans {
		var scope any
		if p := ss.Scope; p != nil {
			scope = s.object(
				"name",
				p.Name,
				"version",
				p.Version,
				"attributes",
				s.keyValues(p.Attributes),
				"droppedAttributesCount",
				p.DroppedAttributesCount,
			)
		}
		var spans []any
		for _, p := range ss.Spans {
			spans = append(spans, s.span(p))
		}
		m := s.object("schemaUrl", ss.SchemaUrl, "spans", spans)
		m["scope"] = scope
		list = append(list, m)
	}
	m := s.object("scopeSpans", list, "schemaUrl", rs.SchemaUrl)
	m["resource"] = resource
	return m
}

func anys(list []string) (out []any) {
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

func (s Style) span(p *tracepb.Span) any {
	var events, links []any
	for _, e := range p.Events {
		events = append(events, s.object("timeUnixNano", s.uint64(e.TimeUnixNano), "name", e.Name,
			"attributes", s.keyValues(e.Attributes), "droppedAttributesCount", e.DroppedAttributesCount))
	}
	for _, l := range p.Links {
		links = append(
			links,
			s.object("traceId", s.id(l.TraceId), "spanId", s.id(l.SpanId), "traceState", l.TraceState, "flags", l.Flags,
				"attributes", s.keyValues(l.Attributes), "droppedAttributesCount", l.DroppedAttributesCount),
		)
	}
	m := s.object(
		"traceId",
		s.id(p.TraceId),
		"spanId",
		s.id(p.SpanId),
		"traceState",
		p.TraceState,
		"parentSpanId",
		s.id(p.ParentSpanId),
		"name",
		p.Name,
		"kind",
		s.enum(int32(p.Kind), tracepb.Span_SpanKind_name),
		"startTimeUnixNano",
		s.uint64(p.StartTimeUnixNano),
		"endTimeUnixNano",
		s.uint64(p.EndTimeUnixNano),
		"attributes",
		s.keyValues(p.Attributes),
		"droppedAttributesCount",
		p.DroppedAttributesCount,
		"events",
		events,
		"droppedEventsCount",
		p.DroppedEventsCount,
		"links",
		links,
		"droppedLinksCount",
		p.DroppedLinksCount,
		"flags",
		p.Flags,
	)
	if p.Status != nil {
		m["status"] = s.object("message",
			p.Status.Message, "code", s.enum(int32(p.Status.Code), tracepb.Status_StatusCode_name))
	}
	return m
}

func (s Style) keyValues(list []*commonpb.KeyValue) (out []any) {
	for _, kv := range list {
		m := s.object("key", kv.Key)
		if kv.Value != nil {
			m["value"] = s.anyValue(kv.Value)
		}
		out = append(out, m)
	}
	return out
}

func (s Style) anyValue(p *commonpb.AnyValue) any {
	name, value := "", any(nil)
	switch v := p.Value.(type) {
	case *commonpb.AnyValue_StringValue:
		name, value = "stringValue", v.StringValue
	case *commonpb.AnyValue_BoolValue:
		name, value = "boolValue", v.BoolValue
	case *commonpb.AnyValue_IntValue:
		name, value = "intValue", s.int64(v.IntValue)
	case *commonpb.AnyValue_DoubleValue:
		name, value = "doubleValue", double(v.DoubleValue)
	case *commonpb.AnyValue_BytesValue:
		name, value = "bytesValue", base64.StdEncoding.EncodeToString(v.BytesValue)
		if s.Snake {
			value = base64.RawURLEncoding.EncodeToString(v.BytesValue)
		}
	case *commonpb.AnyValue_ArrayValue:
		var list []any
		for _, e := range v.ArrayValue.GetValues() {
			list = append(list, s.anyValue(e))
		}
		name, value = "arrayValue", s.object("values", list)
	case *commonpb.AnyValue_KvlistValue:
		name, value = "kvlistValue", s.object("values", s.keyValues(v.KvlistValue.GetValues()))
	default:
		return map[string]any{}
	}
	if s.Snake {
		name = snake(name)
	}
	return map[string]any{name: value}
}

func double(f float64) any {
	switch {
	case f != f:
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0 && math.Signbit(f):
		return json.Number("-0")
	}
	return f
}
