package otlp

import (
	"strings"
	"unicode/utf8"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ntconv/ntconv/internal/span"
)

// A converter builds span messages. It returns the encoded size of each message without its own tag and length: sizes
// are needed before a message is complete, and proto.Size would visit every span twice.
type converter struct {
	arena
	repaired uint64 // strings that were not valid UTF-8, which protobuf does not allow
}

// span converts a span and returns its message and encoded size. extra holds attributes in addition to those of the
// span.
func (c *converter) span(s *span.Span, extra []span.Attribute) (*tracepb.Span, int) {
	n := c.spans.take()
	n.trace, n.id = s.TraceID, s.ID
	pb := &n.pb
	pb.TraceId, pb.SpanId = n.trace[:], n.id[:]
	size := sizeMessage(1, len(pb.TraceId)) + sizeMessage(2, len(pb.SpanId))
	if !s.ParentID.IsZero() {
		n.parent = s.ParentID
		pb.ParentSpanId = n.parent[:]
		size += sizeMessage(4, len(pb.ParentSpanId))
	}
	pb.TraceState, pb.Name = c.text(s.TraceState), c.text(s.Name)
	pb.Kind, pb.Flags = tracepb.Span_SpanKind(s.Kind), s.Flags
	pb.StartTimeUnixNano, pb.EndTimeUnixNano = s.Start, s.End
	pb.DroppedAttributesCount, pb.DroppedEventsCount, pb.DroppedLinksCount = s.DroppedAttributes, s.DroppedEvents, s.DroppedLinks
	size += sizeText(3, pb.TraceState) + sizeText(5, pb.Name) + sizeEnum(6, int32(pb.Kind)) +
		sizeFixed(7, 8, pb.StartTimeUnixNano) + sizeFixed(8, 8, pb.EndTimeUnixNano) +
		sizeUint(10, pb.DroppedAttributesCount) + sizeUint(12, pb.DroppedEventsCount) +
		sizeUint(14, pb.DroppedLinksCount) + sizeFixed(16, 4, uint64(pb.Flags))

	pb.Attributes = c.attrLists.slice(len(s.Attributes) + len(extra))
	size += c.attributes(pb.Attributes, 9, s.Attributes) + c.attributes(pb.Attributes[len(s.Attributes):], 9, extra)
	pb.Events = c.eventList.slice(len(s.Events))
	for i := range s.Events {
		var own int
		pb.Events[i], own = c.event(&s.Events[i])
		size += sizeMessage(11, own)
	}
	pb.Links = c.linkList.slice(len(s.Links))
	for i := range s.Links {
		var own int
		pb.Links[i], own = c.link(&s.Links[i])
		size += sizeMessage(13, own)
	}
	if s.HasStatus || s.Status != span.StatusUnset || s.StatusMessage != "" {
		n.status.Message, n.status.Code = c.text(s.StatusMessage), tracepb.Status_StatusCode(s.Status)
		pb.Status = &n.status
		size += sizeMessage(15, sizeText(2, n.status.Message)+sizeEnum(3, int32(n.status.Code)))
	}
	return pb, size
}

func (c *converter) event(e *span.Event) (*tracepb.Span_Event, int) {
	pb := c.events.take()
	pb.TimeUnixNano, pb.Name, pb.DroppedAttributesCount = e.Time, c.text(e.Name), e.DroppedAttributes
	pb.Attributes = c.attrLists.slice(len(e.Attributes))
	size := sizeFixed(1, 8, e.Time) + sizeText(2, pb.Name) + c.attributes(pb.Attributes, 3, e.Attributes) +
		sizeUint(4, e.DroppedAttributes)
	return pb, size
}

// link converts a link. It writes zero IDs, too, as SDKs do for a link to an empty context.
func (c *converter) link(l *span.Link) (*tracepb.Span_Link, int) {
	n := c.links.take()
	n.trace, n.id = l.TraceID, l.ID
	pb := &n.pb
	pb.TraceId, pb.SpanId = n.trace[:], n.id[:]
	pb.TraceState, pb.DroppedAttributesCount, pb.Flags = c.text(l.TraceState), l.DroppedAttributes, l.Flags
	pb.Attributes = c.attrLists.slice(len(l.Attributes))
	size := sizeMessage(1, len(pb.TraceId)) + sizeMessage(2, len(pb.SpanId)) + sizeText(3, pb.TraceState) +
		c.attributes(pb.Attributes, 4, l.Attributes) + sizeUint(5, l.DroppedAttributes) + sizeFixed(6, 4, uint64(l.Flags))
	return pb, size
}

// attributes converts list into dst, which must be at least as long, and returns the encoded size of the repeated field
// num.
func (c *converter) attributes(dst []*commonpb.KeyValue, num protowire.Number, list []span.Attribute) (size int) {
	for i := range list {
		n := c.attrs.take()
		n.pb.Key = c.text(list[i].Key)
		own := sizeText(1, n.pb.Key)
		if list[i].Value.Kind() != span.ValueAbsent {
			own += sizeMessage(2, c.value(n, list[i].Value))
			n.pb.Value = &n.value
		}
		dst[i] = &n.pb
		size += sizeMessage(num, own)
	}
	return size
}

// value sets the value of a node and returns its encoded size. Members of a oneof are encoded even if they are zero.
func (c *converter) value(n *attrNode, v span.Value) (size int) {
	switch v.Kind() {
	case span.ValueString:
		n.text.StringValue = c.text(v.Str())
		n.value.Value = &n.text
		return sizeMessage(1, len(n.text.StringValue))
	case span.ValueBool:
		x := c.bools.take()
		x.BoolValue = v.Bool()
		n.value.Value = x
		return 2
	case span.ValueInt:
		x := c.ints.take()
		x.IntValue = v.Int()
		n.value.Value = x
		return 1 + protowire.SizeVarint(uint64(x.IntValue))
	case span.ValueFloat:
		x := c.floats.take()
		x.DoubleValue = v.Float()
		n.value.Value = x
		return 9
	case span.ValueBytes:
		n.value.Value = &commonpb.AnyValue_BytesValue{BytesValue: []byte(v.Str())}
		return sizeMessage(7, len(v.Str()))
	case span.ValueArray:
		list := &commonpb.ArrayValue{}
		for _, elem := range v.Elems() {
			m := c.attrs.take()
			size += sizeMessage(1, c.value(m, elem))
			list.Values = append(list.Values, &m.value)
		}
		n.value.Value = &commonpb.AnyValue_ArrayValue{ArrayValue: list}
		return sizeMessage(5, size)
	case span.ValueMap:
		list := &commonpb.KeyValueList{Values: c.attrLists.slice(len(v.Members()))}
		size = c.attributes(list.Values, 1, v.Members())
		n.value.Value = &commonpb.AnyValue_KvlistValue{KvlistValue: list}
		return sizeMessage(6, size)
	}
	return 0
}

// resource converts a resource. It returns nil if the imported message had no resource.
func (c *converter) resource(r *span.Resource) *resourcepb.Resource {
	if r.Absent {
		return nil
	}
	pb := &resourcepb.Resource{
		DroppedAttributesCount: r.DroppedAttributes,
		Attributes:             c.attrLists.slice(len(r.Attributes)),
	}
	c.attributes(pb.Attributes, 1, r.Attributes)
	for i := range r.Entities {
		e := &r.Entities[i]
		ref := &commonpb.EntityRef{SchemaUrl: c.text(e.SchemaURL), Type: c.text(e.Type)}
		for _, key := range e.IDKeys {
			ref.IdKeys = append(ref.IdKeys, c.text(key))
		}
		for _, key := range e.DescriptionKeys {
			ref.DescriptionKeys = append(ref.DescriptionKeys, c.text(key))
		}
		pb.EntityRefs = append(pb.EntityRefs, ref)
	}
	return pb
}

// scope converts a scope. It returns nil if the imported message had no scope.
func (c *converter) scope(s *span.Scope) *commonpb.InstrumentationScope {
	if s.Absent {
		return nil
	}
	pb := &commonpb.InstrumentationScope{
		Name: c.text(s.Name), Version: c.text(s.Version), DroppedAttributesCount: s.DroppedAttributes,
		Attributes: c.attrLists.slice(len(s.Attributes)),
	}
	c.attributes(pb.Attributes, 3, s.Attributes)
	return pb
}

// text returns s with U+FFFD in place of invalid UTF-8, which protobuf does not allow, and counts such strings.
func (c *converter) text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	c.repaired++
	return strings.ToValidUTF8(s, "\uFFFD")
}

// The following functions return the encoded size of a field with its tag. A scalar field with the value zero is not
// encoded.

// sizeMessage returns the size of a message, bytes or string field with n bytes, which is encoded even if it is empty.
func sizeMessage(num protowire.Number, n int) int {
	return protowire.SizeTag(num) + protowire.SizeBytes(n)
}

func sizeText(num protowire.Number, s string) int {
	if s == "" {
		return 0
	}
	return sizeMessage(num, len(s))
}

func sizeUint(num protowire.Number, n uint32) int {
	if n == 0 {
		return 0
	}
	return protowire.SizeTag(num) + protowire.SizeVarint(uint64(n))
}

func sizeEnum(num protowire.Number, n int32) int {
	if n == 0 {
		return 0
	}
	return protowire.SizeTag(num) + protowire.SizeVarint(uint64(int64(n)))
}

func sizeFixed(num protowire.Number, width int, n uint64) int {
	if n == 0 {
		return 0
	}
	return protowire.SizeTag(num) + width
}
