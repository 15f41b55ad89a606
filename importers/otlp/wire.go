package otlp

import (
	"google.golang.org/protobuf/encoding/protowire"
)

// A message is an encoded protobuf message that is read field by field. Its strings are substrings of text, so that a
// span needs one string instead of one per attribute.
type message struct {
	b        []byte
	text     string // same content as b, or "" if no string is needed
	pos, end int
	corrupt  bool // a field is invalid, or exceeds the message

	// The current field.
	num      protowire.Number
	typ      protowire.Type
	n        uint64 // for VarintType, Fixed32Type and Fixed64Type
	from, to int    // for BytesType: range of the value
	start    int    // offset of the tag
}

// newMessage returns a message over all of b.
func newMessage(b []byte) message { return message{b: b, text: string(b), end: len(b)} }

// next reads the next field. It returns false at the end of the message or if the message is corrupt.
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

// is reports whether the current field has this number and type. Like every protobuf decoder, this one treats a field
// with another wire type as unknown.
func (m *message) is(num protowire.Number, typ protowire.Type) bool {
	return m.num == num && m.typ == typ
}

// sub returns the message in the current field.
func (m *message) sub() message { return message{b: m.b, text: m.text, pos: m.from, end: m.to} }

// bytes returns the value of the current field. It aliases b.
func (m *message) bytes() []byte { return m.b[m.from:m.to] }

// str returns the value of the current field as a string.
func (m *message) str() string { return m.text[m.from:m.to] }
