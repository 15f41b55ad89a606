package agreement

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// A message is the fields of a protobuf message by number.
type message map[protowire.Number][]field

// A field is the number of a varint or fixed64, or the bytes of anything that has a length.
type field struct {
	number uint64
	bytes  []byte
}

func parseMessage(b []byte) (message, error) {
	m := message{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		b = b[n:]
		var f field
		switch kind {
		case protowire.VarintType:
			f.number, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			f.number, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		default:
			return nil, fmt.Errorf("field %d has the wire type %d", number, kind)
		}
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		m[number] = append(m[number], f)
		b = b[n:]
	}
	return m, nil
}

func (m message) has(n protowire.Number) bool { return len(m[n]) > 0 }

func (m message) number(n protowire.Number) uint64 {
	if !m.has(n) {
		return 0
	}
	return m[n][len(m[n])-1].number
}

func (m message) text(n protowire.Number) string {
	if !m.has(n) {
		return ""
	}
	return string(m[n][len(m[n])-1].bytes)
}

// sub returns the message in a field, or an empty one if it is absent or invalid.
func (m message) sub(n protowire.Number) message {
	if !m.has(n) {
		return nil
	}
	sub, _ := parseMessage(m[n][len(m[n])-1].bytes)
	return sub
}

// subs returns the messages in a repeated field.
func (m message) subs(n protowire.Number) (list []message) {
	for _, f := range m[n] {
		sub, _ := parseMessage(f.bytes)
		list = append(list, sub)
	}
	return list
}
