package otlp

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/span"
)

// An encoder appends messages of OTLP as protobuf, with fields in the order of their numbers. It appends most nested
// messages before their length is known and reserves one byte for the length, which is usually enough; end moves the
// message if its length needs more bytes.
type encoder struct {
	b        []byte
	repaired uint64 // strings that were not valid UTF-8, which protobuf does not allow
}

// Wire types of protobuf.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// tag appends the tag of a field. All fields of OTLP but one have numbers below 16, whose tags have one byte.
func (e *encoder) tag(num, wire int) { e.b = append(e.b, byte(num<<3|wire)) }

// length appends the tag and the length of a field of n bytes.
func (e *encoder) length(num, n int) {
	e.tag(num, wireBytes)
	if n < 1<<7 {
		e.b = append(e.b, byte(n))
		return
	}
	e.b = bin.AppendVaruint(e.b, uint64(n))
}

// sizeField returns the size of a field of n bytes with its tag and length.
func sizeField(n int) int {
	size := 2 + n
	for n >= 1<<7 {
		n >>= 7
		size++
	}
	return size
}

// begin begins a nested message and returns its start for end.
func (e *encoder) begin(num int) int {
	e.length(num, 0)
	return len(e.b)
}

// end sets the length of the nested message that begins at start.
func (e *encoder) end(start int) {
	n := uint64(len(e.b) - start)
	if n < 1<<7 {
		e.b[start-1] = byte(n)
		return
	}
	var length [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(length[:], n)
	e.b = append(e.b, length[1:size]...) // makes room
	copy(e.b[start-1+size:], e.b[start:start+int(n)])
	copy(e.b[start-1:], length[:size])
}

// element appends a string or bytes field, also if it is empty.
func (e *encoder) element(num int, s string) {
	e.length(num, len(s))
	e.b = append(e.b, s...)
}

// valid returns s with U+FFFD in place of invalid UTF-8, and counts such strings.
func (e *encoder) valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	e.repaired++
	return strings.ToValidUTF8(s, "\uFFFD")
}

// The following methods append a scalar field, unless it has its default value.

func (e *encoder) text(num int, s string) {
	if s != "" {
		e.element(num, e.valid(s))
	}
}

func (e *encoder) varint(num int, n uint64) {
	if n != 0 {
		e.tag(num, wireVarint)
		e.b = bin.AppendVaruint(e.b, n)
	}
}

func (e *encoder) fixed64(num int, n uint64) {
	if n != 0 {
		e.tag(num, wireFixed64)
		e.b = bin.AppendU64(e.b, n)
	}
}

// ids appends the two IDs of a span or a link. Zero IDs are written, too, as SDKs do for a link to an empty context.
func (e *encoder) ids(c *span.Context) {
	e.length(1, len(c.TraceID))
	e.b = append(e.b, c.TraceID[:]...)
	e.length(2, len(c.ID))
	e.b = append(e.b, c.ID[:]...)
}

// span appends a span as an element of a ScopeSpans message. extra holds attributes in addition to those of the span.
func (e *encoder) span(s *span.Span, extra []span.Attribute) {
	message := e.begin(2)
	e.ids(&s.Context)
	e.text(3, s.TraceState)
	if !s.ParentID.IsZero() {
		e.length(4, len(s.ParentID))
		e.b = append(e.b, s.ParentID[:]...)
	}
	e.text(5, s.Name)
	e.varint(6, uint64(int64(s.Kind)))
	e.fixed64(7, s.Start)
	e.fixed64(8, s.End)
	e.attributes(9, s.Attributes)
	e.attributes(9, extra)
	e.varint(10, uint64(s.DroppedAttributes))
	for i := range s.Events {
		event := &s.Events[i]
		own := e.begin(11)
		e.fixed64(1, event.Time)
		e.text(2, event.Name)
		e.attributes(3, event.Attributes)
		e.varint(4, uint64(event.DroppedAttributes))
		e.end(own)
	}
	e.varint(12, uint64(s.DroppedEvents))
	for i := range s.Links {
		l := &s.Links[i]
		own := e.begin(13)
		e.ids(&l.Context)
		e.text(3, l.TraceState)
		e.attributes(4, l.Attributes)
		e.varint(5, uint64(l.DroppedAttributes))
		if l.Flags != 0 {
			e.tag(6, wireFixed32)
			e.b = bin.AppendU32(e.b, l.Flags)
		}
		e.end(own)
	}
	e.varint(14, uint64(s.DroppedLinks))
	if s.HasStatus || s.Status != span.StatusUnset || s.StatusMessage != "" {
		own := e.begin(15)
		e.text(2, s.StatusMessage)
		e.varint(3, uint64(int64(s.Status)))
		e.end(own)
	}
	if s.Flags != 0 {
		const flags = 16
		e.b = bin.AppendU32(bin.AppendVaruint(e.b, flags<<3|wireFixed32), s.Flags)
	}
	e.end(message)
}

// resource appends the resource of a ResourceSpans message, unless the imported message had none.
func (e *encoder) resource(r *span.Resource) {
	if r.Absent {
		return
	}
	message := e.begin(1)
	e.attributes(1, r.Attributes)
	e.varint(2, uint64(r.DroppedAttributes))
	for i := range r.Entities {
		ref := &r.Entities[i]
		own := e.begin(3)
		e.text(1, ref.SchemaURL)
		e.text(2, ref.Type)
		for _, key := range ref.IDKeys {
			e.element(3, e.valid(key))
		}
		for _, key := range ref.DescriptionKeys {
			e.element(4, e.valid(key))
		}
		e.end(own)
	}
	e.end(message)
}

// scope appends the scope of a ScopeSpans message, unless the imported message had none.
func (e *encoder) scope(s *span.Scope) {
	if s.Absent {
		return
	}
	message := e.begin(1)
	e.text(1, s.Name)
	e.text(2, s.Version)
	e.attributes(3, s.Attributes)
	e.varint(4, uint64(s.DroppedAttributes))
	e.end(message)
}

// attributes appends the repeated field num of KeyValue messages.
func (e *encoder) attributes(num int, list []span.Attribute) {
	for i := range list {
		key, v := e.valid(list[i].Key), &list[i].Value
		if key != "" && v.Kind() == span.ValueString { // fast path: all lengths are known
			text := e.valid(v.Str())
			own := sizeField(len(text))
			e.length(num, sizeField(len(key))+sizeField(own))
			e.element(1, key)
			e.length(2, own)
			e.element(1, text)
			continue
		}
		message := e.begin(num)
		if key != "" {
			e.element(1, key)
		}
		if v.Kind() != span.ValueAbsent {
			own := e.begin(2)
			e.value(v)
			e.end(own)
		}
		e.end(message)
	}
}

// value appends the fields of an AnyValue. A member of a oneof is written even if it has its default value.
func (e *encoder) value(v *span.Value) {
	switch v.Kind() {
	case span.ValueString:
		e.element(1, e.valid(v.Str()))
	case span.ValueBool:
		e.tag(2, wireVarint)
		e.b = append(e.b, 0)
		if v.Bool() {
			e.b[len(e.b)-1] = 1
		}
	case span.ValueInt:
		e.tag(3, wireVarint)
		e.b = bin.AppendVaruint(e.b, uint64(v.Int()))
	case span.ValueFloat:
		e.tag(4, wireFixed64)
		e.b = bin.AppendU64(e.b, math.Float64bits(v.Float()))
	case span.ValueArray:
		list := e.begin(5)
		elems := v.Elems()
		for i := range elems {
			own := e.begin(1)
			e.value(&elems[i])
			e.end(own)
		}
		e.end(list)
	case span.ValueMap:
		list := e.begin(6)
		e.attributes(1, v.Members())
		e.end(list)
	case span.ValueBytes:
		e.element(7, v.Str())
	}
}
