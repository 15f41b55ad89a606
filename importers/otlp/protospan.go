package otlp

import (
	"strconv"

	"github.com/ntconv/ntconv/internal/span"
	"google.golang.org/protobuf/encoding/protowire"
)

// Short names of the wire types, for the tables below.
const (
	varint  = protowire.VarintType
	fixed32 = protowire.Fixed32Type
	fixed64 = protowire.Fixed64Type
	lenType = protowire.BytesType
)

// unknownField counts the current field of a message with this name.
func (d *decoder) unknownField(name string, m *message) {
	d.unknown(name + "." + strconv.Itoa(int(m.num)))
}

// span decodes a Span (trace.proto) into d.s. It returns false and counts the span if it is invalid.
func (d *decoder) span(b []byte) bool {
	m := newMessage(b)
	var ids idLengths
	s := &d.s
	for m.next() {
		switch {
		case m.is(1, lenType):
			ids.trace = fill(s.TraceID[:], m.bytes())
		case m.is(2, lenType):
			ids.span = fill(s.ID[:], m.bytes())
		case m.is(3, lenType):
			s.TraceState = d.valid(m.str())
		case m.is(4, lenType):
			ids.parent = fill(s.ParentID[:], m.bytes())
		case m.is(5, lenType):
			s.Name = d.valid(m.str())
		case m.is(6, varint):
			s.Kind = span.Kind(m.n)
		case m.is(7, fixed64):
			s.Start = m.n
		case m.is(8, fixed64):
			s.End = m.n
		case m.is(9, lenType):
			d.own = d.keyValue(d.own, m.sub(), &m)
		case m.is(10, varint):
			s.DroppedAttributes = uint32(m.n)
		case m.is(12, varint):
			s.DroppedEvents = uint32(m.n)
		case m.is(14, varint):
			s.DroppedLinks = uint32(m.n)
		case m.is(16, fixed32):
			s.Flags = uint32(m.n)
		default:
			d.spanMessage(&m)
		}
	}
	if m.corrupt {
		d.skip("not a valid message")
		return false
	}
	return d.finish(ids)
}

// spanMessage decodes the fields of a Span that are messages, and counts unknown fields.
func (d *decoder) spanMessage(m *message) {
	sub := m.sub()
	switch {
	case m.is(11, lenType):
		d.event(&sub)
	case m.is(13, lenType):
		d.spanLink(&sub)
	case m.is(15, lenType):
		d.status(&sub)
	default:
		d.unknownField("Span", m)
		return
	}
	m.corrupt = m.corrupt || sub.corrupt
}

// fill copies an ID and returns the length of src. It clears dst if the lengths differ.
func fill(dst, src []byte) int {
	clear(dst)
	if len(src) == len(dst) {
		copy(dst, src)
	}
	return len(src)
}

func (d *decoder) status(m *message) {
	s := &d.s
	s.HasStatus = true
	for m.next() {
		switch {
		case m.is(2, lenType):
			s.StatusMessage = d.valid(m.str())
		case m.is(3, varint):
			s.Status = span.StatusCode(m.n)
		default:
			d.unknownField("Status", m)
		}
	}
}

// event decodes a Span.Event. Its attributes share the slice d.attributes with those of other events and links.
func (d *decoder) event(m *message) {
	if !d.room() {
		return
	}
	var e span.Event
	from := len(d.attributes)
	for m.next() {
		switch {
		case m.is(1, fixed64):
			e.Time = m.n
		case m.is(2, lenType):
			e.Name = d.valid(m.str())
		case m.is(3, lenType):
			d.attributes = d.keyValue(d.attributes, m.sub(), m)
		case m.is(4, varint):
			e.DroppedAttributes = uint32(m.n)
		default:
			d.unknownField("Span.Event", m)
		}
	}
	e.Attributes = d.attributes[from:len(d.attributes):len(d.attributes)]
	d.s.Events = append(d.s.Events, e)
}

func (d *decoder) spanLink(m *message) {
	if !d.room() {
		return
	}
	var l span.Link
	var ids idLengths
	from := len(d.attributes)
	for m.next() {
		switch {
		case m.is(1, lenType):
			ids.trace = fill(l.TraceID[:], m.bytes())
		case m.is(2, lenType):
			ids.span = fill(l.ID[:], m.bytes())
		case m.is(3, lenType):
			l.TraceState = d.valid(m.str())
		case m.is(4, lenType):
			d.attributes = d.keyValue(d.attributes, m.sub(), m)
		case m.is(5, varint):
			l.DroppedAttributes = uint32(m.n)
		case m.is(6, fixed32):
			l.Flags = uint32(m.n)
		default:
			d.unknownField("Span.Link", m)
		}
	}
	l.Attributes = d.attributes[from:len(d.attributes):len(d.attributes)]
	d.link(l, ids)
}

// keyValue appends a KeyValue (common.proto). If m is corrupt, it marks parent as corrupt.
func (d *decoder) keyValue(dst []span.Attribute, m message, parent *message) []span.Attribute {
	if !d.room() {
		return dst
	}
	dst = append(dst, d.attribute(&m, d.limits.Depth))
	parent.corrupt = parent.corrupt || m.corrupt
	return dst
}

func (d *decoder) attribute(m *message, depth int) (a span.Attribute) {
	for m.next() {
		switch {
		case m.is(1, lenType):
			a.Key = d.valid(m.str())
		case m.is(2, lenType):
			sub := m.sub()
			a.Value = d.anyValue(a.Value, &sub, depth)
			m.corrupt = m.corrupt || sub.corrupt
		case m.is(3, varint) && d.profiles.dict != nil:
			a.Key = d.profiles.dict.reference(m.n)
		default:
			d.unknownField("KeyValue", m)
		}
	}
	return a
}

// anyValue decodes an AnyValue (common.proto) with at most depth levels of arrays and key-value lists. Like every
// protobuf decoder, it merges a repeated message into v.
func (d *decoder) anyValue(v span.Value, m *message, depth int) span.Value {
	if v.Kind() == span.ValueAbsent {
		v = span.Empty()
	}
	for m.next() {
		switch {
		case m.is(1, lenType):
			v = span.String(d.valid(m.str()))
		case m.is(2, varint):
			v = span.Bool(m.n != 0)
		case m.is(3, varint):
			v = span.Int(int64(m.n))
		case m.is(4, fixed64):
			v = span.FloatBits(m.n)
		case m.is(7, lenType):
			v = span.Bytes(m.str())
		case m.is(8, varint) && d.profiles.dict != nil:
			v = span.String(d.profiles.dict.reference(m.n))
		case m.is(8, varint): // refers to a table that only profiles have
			v = span.Empty()
			d.unknownField("AnyValue", m)
		case m.is(5, lenType) && depth > 0:
			sub := m.sub()
			v = span.Array(d.elems(v.Elems(), &sub, depth-1))
			m.corrupt = m.corrupt || sub.corrupt
		case m.is(6, lenType) && depth > 0:
			sub := m.sub()
			v = span.Map(d.members(v.Members(), &sub, depth-1))
			m.corrupt = m.corrupt || sub.corrupt
		case m.is(5, lenType), m.is(6, lenType):
			v = d.tooDeep()
		default:
			d.unknownField("AnyValue", m)
		}
	}
	return v
}

func (d *decoder) elems(elems []span.Value, m *message, depth int) []span.Value {
	for m.next() {
		if !m.is(1, lenType) {
			d.unknownField("ArrayValue", m)
			continue
		}
		if !d.room() {
			continue
		}
		sub := m.sub()
		elems = append(elems, d.anyValue(span.Empty(), &sub, depth))
		m.corrupt = m.corrupt || sub.corrupt
	}
	return elems
}

func (d *decoder) members(members []span.Attribute, m *message, depth int) []span.Attribute {
	for m.next() {
		if !m.is(1, lenType) {
			d.unknownField("KeyValueList", m)
			continue
		}
		if !d.room() {
			continue
		}
		sub := m.sub()
		members = append(members, d.attribute(&sub, depth))
		m.corrupt = m.corrupt || sub.corrupt
	}
	return members
}

// resource merges a Resource (resource.proto) into r.
func (d *decoder) resource(r *span.Resource, b []byte) (ok bool) {
	r.Absent = false
	d.begins()
	m := newMessage(b)
	for m.next() {
		switch {
		case m.is(1, lenType):
			r.Attributes = d.keyValue(r.Attributes, m.sub(), &m)
		case m.is(2, varint):
			r.DroppedAttributes = uint32(m.n)
		case m.is(3, lenType):
			sub := m.sub()
			if !d.room() {
				continue
			}
			r.Entities = append(r.Entities, d.entity(&sub))
			m.corrupt = m.corrupt || sub.corrupt
		default:
			d.unknownField("Resource", &m)
		}
	}
	return !m.corrupt
}

func (d *decoder) entity(m *message) (e span.Entity) {
	for m.next() {
		switch {
		case m.is(1, lenType):
			e.SchemaURL = d.valid(m.str())
		case m.is(2, lenType):
			e.Type = d.valid(m.str())
		case m.is(3, lenType):
			e.IDKeys = append(e.IDKeys, d.valid(m.str()))
		case m.is(4, lenType):
			e.DescriptionKeys = append(e.DescriptionKeys, d.valid(m.str()))
		default:
			d.unknownField("EntityRef", m)
		}
	}
	return e
}

// scope merges an InstrumentationScope (common.proto) into s.
func (d *decoder) scope(s *span.Scope, b []byte) (ok bool) {
	s.Absent = false
	d.begins()
	m := newMessage(b)
	for m.next() {
		switch {
		case m.is(1, lenType):
			s.Name = d.valid(m.str())
		case m.is(2, lenType):
			s.Version = d.valid(m.str())
		case m.is(3, lenType):
			s.Attributes = d.keyValue(s.Attributes, m.sub(), &m)
		case m.is(4, varint):
			s.DroppedAttributes = uint32(m.n)
		default:
			d.unknownField("InstrumentationScope", &m)
		}
	}
	return !m.corrupt
}
