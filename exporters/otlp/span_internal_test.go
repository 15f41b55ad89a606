package otlp

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// shop is a process for tests.
var shop = &ntconv.Process{PID: 42}

// numbered returns the i-th of a sequence of ordinary spans: six string attributes, two scopes.
func numbered(i int, p *ntconv.Process) *span.Span {
	s := &span.Span{
		Name: fmt.Sprintf("GET /cart/%d", i%100), Kind: span.KindServer, Start: 1_700_000_000_000_000_000 + uint64(i)*1000,
		Flags: span.FlagSampled | span.FlagRemoteKnown, Scope: scopes[i/3%2], Process: p, Evidence: span.FromActivity,
		Attributes: []span.Attribute{
			{Key: "http.request.method", Value: span.String("GET")}, {Key: "url.path", Value: span.String("/cart")},
			{Key: "http.response.status_code", Value: span.String("200")}, {Key: "server.address", Value: span.String("shop.example")},
			{Key: "user.id", Value: span.String(fmt.Sprint(i))}, {Key: "items", Value: span.String("3")},
		},
	}
	s.End = s.Start + 500
	binary.BigEndian.PutUint64(s.TraceID[8:], uint64(i/10+1))
	binary.BigEndian.PutUint64(s.ID[:], uint64(i+1))
	return s
}

var scopes = [...]*span.Scope{{Name: "Shop.Stock"}, {Name: "Shop.Checkout", Version: "2.1"}}

// Generators of spans with every kind of value. Nil and empty lists are the same on the wire, so empty ones are nil.

func texts() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringN(0, 12, -1), rapid.SampledFrom([]string{"", "a\"b\\c", "\x00\x1f\x7f\n\r\t", "\u2028<&>\U0001F600"}))
}

func values(depth int) *rapid.Generator[span.Value] {
	return rapid.Custom(func(t *rapid.T) span.Value {
		kinds := 7
		if depth > 0 {
			kinds = 9
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return span.Empty()
		case 1:
			return span.String(texts().Draw(t, "string"))
		case 2:
			return span.Bool(rapid.Bool().Draw(t, "bool"))
		case 3:
			return span.Int(rapid.Int64().Draw(t, "int"))
		case 4:
			special := rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0.1, 1e300, 5e-324})
			return span.Float(rapid.OneOf(rapid.Float64(), special).Draw(t, "float"))
		case 5:
			return span.Bytes(string(rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "bytes")))
		case 6:
			return span.Int(rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64}).Draw(t, "edge"))
		case 7:
			return span.Array(orNil(rapid.SliceOfN(values(depth-1), 0, 3).Draw(t, "array")))
		}
		return span.Map(orNil(rapid.SliceOfN(attributes(depth-1), 0, 3).Draw(t, "map")))
	})
}

func attributes(depth int) *rapid.Generator[span.Attribute] {
	return rapid.Custom(func(t *rapid.T) span.Attribute {
		a := span.Attribute{Key: texts().Draw(t, "key")}
		if rapid.IntRange(0, 9).Draw(t, "absent") > 0 {
			a.Value = values(depth).Draw(t, "value")
		}
		return a
	})
}

func lists(t *rapid.T, label string) []span.Attribute {
	return orNil(rapid.SliceOfN(attributes(2), 0, 4).Draw(t, label))
}

func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

func contexts(t *rapid.T) (c span.Context) {
	copy(c.TraceID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "trace"))
	copy(c.ID[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "span"))
	return c
}

var counts = rapid.OneOf(rapid.Just(uint32(0)), rapid.Uint32())

func events(t *rapid.T) []span.Event {
	return orNil(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) span.Event {
		return span.Event{
			Time: rapid.Uint64().Draw(t, "time"), Name: texts().Draw(t, "name"), Attributes: lists(t, "attributes"),
			DroppedAttributes: counts.Draw(t, "dropped"),
		}
	}), 0, 3).Draw(t, "events"))
}

func links(t *rapid.T) []span.Link {
	return orNil(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) span.Link {
		return span.Link{
			Context: contexts(t), TraceState: texts().Draw(t, "state"), Attributes: lists(t, "attributes"),
			DroppedAttributes: counts.Draw(t, "dropped"), Flags: counts.Draw(t, "flags"),
		}
	}), 0, 3).Draw(t, "links"))
}

func scopeGen(t *rapid.T) *span.Scope {
	if rapid.IntRange(0, 5).Draw(t, "absent") == 0 {
		return &span.Scope{Absent: true, SchemaURL: texts().Draw(t, "schema")}
	}
	return &span.Scope{
		Name: texts().Draw(t, "name"), Version: texts().Draw(t, "version"), Attributes: lists(t, "attributes"),
		DroppedAttributes: counts.Draw(t, "dropped"), SchemaURL: texts().Draw(t, "schema"),
	}
}

func resourceGen(t *rapid.T) *span.Resource {
	if rapid.IntRange(0, 5).Draw(t, "absent") == 0 {
		return &span.Resource{Absent: true, SchemaURL: texts().Draw(t, "schema")}
	}
	keys := rapid.SliceOfN(texts(), 0, 2)
	return &span.Resource{
		Attributes: lists(t, "attributes"), DroppedAttributes: counts.Draw(t, "dropped"), SchemaURL: texts().Draw(t, "schema"),
		Entities: orNil(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) span.Entity {
			return span.Entity{
				SchemaURL: texts().Draw(t, "schema"), Type: texts().Draw(t, "type"),
				IDKeys: orNil(keys.Draw(t, "ids")), DescriptionKeys: orNil(keys.Draw(t, "descriptions")),
			}
		}), 0, 2).Draw(t, "entities")),
	}
}

// imported generates spans as an importer decodes them.
func imported() *rapid.Generator[*span.Span] {
	return rapid.Custom(func(t *rapid.T) *span.Span {
		s := &span.Span{
			Context: contexts(t), TraceState: texts().Draw(t, "state"), Flags: counts.Draw(t, "flags"), Name: texts().Draw(t, "name"),
			Kind: span.Kind(rapid.Int32Range(-1, 7).Draw(t, "kind")), Start: rapid.Uint64().Draw(t, "start"), End: rapid.Uint64().Draw(t, "end"),
			Attributes: lists(t, "attributes"), Events: events(t), Links: links(t), DroppedAttributes: counts.Draw(t, "dropped attributes"),
			DroppedEvents: counts.Draw(t, "dropped events"), DroppedLinks: counts.Draw(t, "dropped links"),
			Scope: scopeGen(t), Resource: resourceGen(t), Evidence: span.FromOTLP,
		}
		if rapid.Bool().Draw(t, "child") {
			s.ParentID = contexts(t).ID
		}
		if s.HasStatus = rapid.Bool().Draw(t, "status"); s.HasStatus {
			s.Status, s.StatusMessage = span.StatusCode(rapid.Int32Range(-1, 4).Draw(t, "code")), texts().Draw(t, "message")
		}
		return s
	})
}

// The reverse of the conversion, without anything that it uses.

func spanOf(r *tracepb.ResourceSpans, s *tracepb.ScopeSpans, pb *tracepb.Span) *span.Span {
	out := &span.Span{
		TraceState: pb.GetTraceState(), Flags: pb.GetFlags(), Name: pb.GetName(), Kind: span.Kind(pb.GetKind()),
		Start: pb.GetStartTimeUnixNano(), End: pb.GetEndTimeUnixNano(), Attributes: attributesOf(pb.GetAttributes()),
		DroppedAttributes: pb.GetDroppedAttributesCount(), DroppedEvents: pb.GetDroppedEventsCount(), DroppedLinks: pb.GetDroppedLinksCount(),
		HasStatus: pb.Status != nil, Status: span.StatusCode(pb.GetStatus().GetCode()), StatusMessage: pb.GetStatus().GetMessage(),
		Scope: &span.Scope{SchemaURL: s.GetSchemaUrl(), Absent: s.Scope == nil}, Resource: resourceOf(r.Resource),
	}
	out.Context = contextOf(pb.TraceId, pb.SpanId)
	copy(out.ParentID[:], pb.ParentSpanId)
	out.Resource.SchemaURL = r.GetSchemaUrl()
	out.Scope.Name, out.Scope.Version = s.Scope.GetName(), s.Scope.GetVersion()
	out.Scope.Attributes, out.Scope.DroppedAttributes = attributesOf(s.Scope.GetAttributes()), s.Scope.GetDroppedAttributesCount()
	for _, e := range pb.Events {
		out.Events = append(out.Events, span.Event{
			Time: e.TimeUnixNano, Name: e.Name, Attributes: attributesOf(e.Attributes), DroppedAttributes: e.DroppedAttributesCount,
		})
	}
	for _, l := range pb.Links {
		out.Links = append(out.Links, span.Link{
			Context: contextOf(l.TraceId, l.SpanId), TraceState: l.TraceState, Attributes: attributesOf(l.Attributes),
			DroppedAttributes: l.DroppedAttributesCount, Flags: l.Flags,
		})
	}
	return out
}

func contextOf(trace, id []byte) (c span.Context) {
	if len(trace) != 16 || len(id) != 8 {
		panic(fmt.Sprintf("IDs of %d and %d bytes", len(trace), len(id)))
	}
	return span.Context{TraceID: span.TraceID(trace), ID: span.ID(id)}
}

func resourceOf(pb *resourcepb.Resource) *span.Resource {
	out := &span.Resource{Absent: pb == nil, Attributes: attributesOf(pb.GetAttributes()), DroppedAttributes: pb.GetDroppedAttributesCount()}
	for _, e := range pb.GetEntityRefs() {
		out.Entities = append(out.Entities, span.Entity{
			SchemaURL: e.SchemaUrl, Type: e.Type, IDKeys: orNil(e.IdKeys), DescriptionKeys: orNil(e.DescriptionKeys),
		})
	}
	return out
}

func attributesOf(list []*commonpb.KeyValue) (out []span.Attribute) {
	for _, kv := range list {
		a := span.Attribute{Key: kv.Key}
		if kv.Value != nil {
			a.Value = valueOf(kv.Value)
		}
		out = append(out, a)
	}
	return out
}

func valueOf(pb *commonpb.AnyValue) span.Value {
	switch v := pb.Value.(type) {
	case *commonpb.AnyValue_StringValue:
		return span.String(v.StringValue)
	case *commonpb.AnyValue_BoolValue:
		return span.Bool(v.BoolValue)
	case *commonpb.AnyValue_IntValue:
		return span.Int(v.IntValue)
	case *commonpb.AnyValue_DoubleValue:
		return span.Float(v.DoubleValue)
	case *commonpb.AnyValue_BytesValue:
		return span.Bytes(string(v.BytesValue))
	case *commonpb.AnyValue_ArrayValue:
		var elems []span.Value
		for _, elem := range v.ArrayValue.GetValues() {
			elems = append(elems, valueOf(elem))
		}
		return span.Array(elems)
	case *commonpb.AnyValue_KvlistValue:
		return span.Map(attributesOf(v.KvlistValue.GetValues()))
	}
	return span.Empty()
}

// spansOf returns all spans of a request in its order.
func spansOf(list []*tracepb.ResourceSpans) (all []*span.Span) {
	for _, r := range list {
		for _, s := range r.ScopeSpans {
			for _, pb := range s.Spans {
				all = append(all, spanOf(r, s, pb))
			}
		}
	}
	return all
}

// namesOf returns the names of all spans of a request, sorted.
func namesOf(list []*tracepb.ResourceSpans) string {
	var names []string
	for _, s := range spansOf(list) {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
