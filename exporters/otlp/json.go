package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"github.com/ntconv/ntconv/internal/jsonio"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// A jsonEncoder appends OTLP/JSON (OTLP specification, "JSON Protobuf Encoding"). It differs from protojson in two
// ways: IDs are hexadecimal, and enumerations are numbers. As in protojson, 64-bit integers are strings, and fields
// with their default value are absent.
type jsonEncoder struct {
	b     []byte
	comma bool // the current object or array already has a member or element
}

// appendJSON appends a TracesData object. It has no line break.
func appendJSON(b []byte, spans []*tracepb.ResourceSpans) []byte {
	e := jsonEncoder{b: b}
	e.open('{')
	e.key("resourceSpans")
	e.open('[')
	for _, r := range spans {
		e.resourceSpans(r)
	}
	e.close(']')
	e.close('}')
	return e.b
}

// separate appends a comma unless the next element is the first.
func (e *jsonEncoder) separate() {
	if e.comma {
		e.b = append(e.b, ',')
	}
	e.comma = true
}

// open begins an object or array: an element within an array, a value after a key.
func (e *jsonEncoder) open(c byte) {
	e.b = append(e.b, c)
	e.comma = false
}

func (e *jsonEncoder) close(c byte) {
	e.b = append(e.b, c)
	e.comma = true
}

// element begins an object that is an element of an array.
func (e *jsonEncoder) element() {
	e.separate()
	e.open('{')
}

// key begins a member. name must not need escapes.
func (e *jsonEncoder) key(name string) {
	e.separate()
	e.b = append(append(append(e.b, '"'), name...), '"', ':')
}

func (e *jsonEncoder) text(name, s string) {
	if s != "" {
		e.key(name)
		e.quoted(s)
	}
}

func (e *jsonEncoder) number(name string, n int64) {
	if n != 0 {
		e.key(name)
		e.b = strconv.AppendInt(e.b, n, 10)
	}
}

// nanos appends a fixed64 time.
func (e *jsonEncoder) nanos(name string, n uint64) {
	if n != 0 {
		e.key(name)
		e.b = append(strconv.AppendUint(append(e.b, '"'), n, 10), '"')
	}
}

func (e *jsonEncoder) id(name string, id []byte) {
	if len(id) > 0 {
		e.key(name)
		e.b = append(hex.AppendEncode(append(e.b, '"'), id), '"')
	}
}

func (e *jsonEncoder) resourceSpans(r *tracepb.ResourceSpans) {
	e.element()
	if r.Resource != nil {
		e.key("resource")
		e.resource(r.Resource)
	}
	e.key("scopeSpans")
	e.open('[')
	for _, s := range r.ScopeSpans {
		e.element()
		if s.Scope != nil {
			e.key("scope")
			e.open('{')
			e.text("name", s.Scope.Name)
			e.text("version", s.Scope.Version)
			e.attributes(s.Scope.Attributes, s.Scope.DroppedAttributesCount)
			e.close('}')
		}
		e.key("spans")
		e.open('[')
		for _, span := range s.Spans {
			e.span(span)
		}
		e.close(']')
		e.text("schemaUrl", s.SchemaUrl)
		e.close('}')
	}
	e.close(']')
	e.text("schemaUrl", r.SchemaUrl)
	e.close('}')
}

func (e *jsonEncoder) resource(r *resourcepb.Resource) {
	e.open('{')
	e.attributes(r.Attributes, r.DroppedAttributesCount)
	if len(r.EntityRefs) > 0 {
		e.key("entityRefs")
		e.open('[')
		for _, ref := range r.EntityRefs {
			e.element()
			e.text("schemaUrl", ref.SchemaUrl)
			e.text("type", ref.Type)
			e.stringList("idKeys", ref.IdKeys)
			e.stringList("descriptionKeys", ref.DescriptionKeys)
			e.close('}')
		}
		e.close(']')
	}
	e.close('}')
}

func (e *jsonEncoder) stringList(name string, list []string) {
	if len(list) == 0 {
		return
	}
	e.key(name)
	e.open('[')
	for _, s := range list {
		e.separate()
		e.quoted(s)
	}
	e.close(']')
}

func (e *jsonEncoder) span(s *tracepb.Span) {
	e.element()
	e.id("traceId", s.TraceId)
	e.id("spanId", s.SpanId)
	e.text("traceState", s.TraceState)
	e.id("parentSpanId", s.ParentSpanId)
	e.number("flags", int64(s.Flags))
	e.text("name", s.Name)
	e.number("kind", int64(s.Kind))
	e.nanos("startTimeUnixNano", s.StartTimeUnixNano)
	e.nanos("endTimeUnixNano", s.EndTimeUnixNano)
	e.attributes(s.Attributes, s.DroppedAttributesCount)
	if len(s.Events) > 0 {
		e.key("events")
		e.open('[')
		for _, event := range s.Events {
			e.element()
			e.nanos("timeUnixNano", event.TimeUnixNano)
			e.text("name", event.Name)
			e.attributes(event.Attributes, event.DroppedAttributesCount)
			e.close('}')
		}
		e.close(']')
	}
	e.number("droppedEventsCount", int64(s.DroppedEventsCount))
	e.links(s.Links)
	e.number("droppedLinksCount", int64(s.DroppedLinksCount))
	if s.Status != nil {
		e.key("status")
		e.open('{')
		e.text("message", s.Status.Message)
		e.number("code", int64(s.Status.Code))
		e.close('}')
	}
	e.close('}')
}

func (e *jsonEncoder) links(links []*tracepb.Span_Link) {
	if len(links) == 0 {
		return
	}
	e.key("links")
	e.open('[')
	for _, l := range links {
		e.element()
		e.id("traceId", l.TraceId)
		e.id("spanId", l.SpanId)
		e.text("traceState", l.TraceState)
		e.attributes(l.Attributes, l.DroppedAttributesCount)
		e.number("flags", int64(l.Flags))
		e.close('}')
	}
	e.close(']')
}

func (e *jsonEncoder) attributes(list []*commonpb.KeyValue, dropped uint32) {
	if len(list) > 0 {
		e.key("attributes")
		e.keyValues(list)
	}
	e.number("droppedAttributesCount", int64(dropped))
}

func (e *jsonEncoder) keyValues(list []*commonpb.KeyValue) {
	e.open('[')
	for _, kv := range list {
		e.element()
		e.text("key", kv.Key)
		if kv.Value != nil {
			e.key("value")
			e.value(kv.Value)
		}
		e.close('}')
	}
	e.close(']')
}

// value appends an AnyValue. A member of a oneof is written even if it has its default value.
func (e *jsonEncoder) value(v *commonpb.AnyValue) {
	e.open('{')
	switch v := v.Value.(type) {
	case *commonpb.AnyValue_StringValue:
		e.key("stringValue")
		e.quoted(v.StringValue)
	case *commonpb.AnyValue_BoolValue:
		e.key("boolValue")
		e.b = strconv.AppendBool(e.b, v.BoolValue)
	case *commonpb.AnyValue_IntValue:
		e.key("intValue")
		e.b = append(strconv.AppendInt(append(e.b, '"'), v.IntValue, 10), '"')
	case *commonpb.AnyValue_DoubleValue:
		e.key("doubleValue")
		e.b = jsonio.AppendDouble(e.b, v.DoubleValue)
	case *commonpb.AnyValue_BytesValue:
		e.key("bytesValue")
		e.b = append(base64.StdEncoding.AppendEncode(append(e.b, '"'), v.BytesValue), '"')
	case *commonpb.AnyValue_ArrayValue:
		e.key("arrayValue")
		e.open('{')
		if list := v.ArrayValue.Values; len(list) > 0 {
			e.key("values")
			e.open('[')
			for _, elem := range list {
				e.separate()
				e.value(elem)
			}
			e.close(']')
		}
		e.close('}')
	case *commonpb.AnyValue_KvlistValue:
		e.key("kvlistValue")
		e.open('{')
		if list := v.KvlistValue.Values; len(list) > 0 {
			e.key("values")
			e.keyValues(list)
		}
		e.close('}')
	}
	e.close('}')
}

// quoted appends a string, which must be valid UTF-8: converter.text ensures that.
func (e *jsonEncoder) quoted(s string) { e.b = jsonio.AppendQuoted(e.b, s) }
