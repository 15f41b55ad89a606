package otlp

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// A message is a part of an encoded message that is read field by field. Its strings are substrings of text, so that a
// span costs one string and not one per attribute.
type message struct {
	b        []byte
	text     string // the same bytes, or "" if no string is needed
	pos, end int
	corrupt  bool // a field is not valid, or does not end before the message does

	// The field at hand.
	num      protowire.Number
	typ      protowire.Type
	n        uint64 // VarintType, Fixed32Type, Fixed64Type
	from, to int    // BytesType: range of the value
	start    int    // of the tag
}

// newMessage returns the fields of a whole message.
func newMessage(b []byte) message { return message{b: b, text: string(b), end: len(b)} }

// next reads a field, and returns false at the end of the message or if it is corrupt.
func (m *message) next() bool {
	if m.pos >= m.end || m.corrupt {
		return false
	}
	m.start = m.pos
	b := m.b[m.pos:m.end]
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		m.corrupt = true
		return false
	}
	m.num, m.typ = num, typ
	m.pos += n
	b = b[n:]
	switch typ {
	case protowire.VarintType:
		m.n, n = protowire.ConsumeVarint(b)
	case protowire.Fixed64Type:
		m.n, n = protowire.ConsumeFixed64(b)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(b)
		m.n = uint64(v)
	case protowire.BytesType:
		var v []byte
		v, n = protowire.ConsumeBytes(b)
		m.to = m.pos + n
		m.from = m.to - len(v)
	default:
		n = protowire.ConsumeFieldValue(num, typ, b)
	}
	if n < 0 {
		m.corrupt = true
		return false
	}
	m.pos += n
	return true
}

// is reports whether the field at hand has a number and a type. Like any protobuf decoder, this one treats a field with
// another type as unknown.
func (m *message) is(num protowire.Number, typ protowire.Type) bool {
	return m.num == num && m.typ == typ
}

// sub returns the message that is the value of the field at hand.
func (m *message) sub() message { return message{b: m.b, text: m.text, pos: m.from, end: m.to} }

// bytes returns the value of the field at hand.
func (m *message) bytes() []byte { return m.b[m.from:m.to] }

// str returns the value of the field at hand.
func (m *message) str() string { return m.text[m.from:m.to] }
