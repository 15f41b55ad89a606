package otlp

import (
	"encoding/binary"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// A shape describes a message precisely enough to recognize it.
type shape struct {
	fields map[protowire.Number]shapeField
	any    bool // fields that are not listed are permitted
	leaf   bool // a message of this shape confirms that the input is OTLP
}

// A shapeField describes a field of a shape.
type shapeField struct {
	typ  protowire.Type
	msg  *shape // for lenType: nil means a string or bytes
	text bool   // for lenType: must be UTF-8
}

// otlpShape returns the shape of TracesData and its counterparts for other signals.
func otlpShape() *shape {
	str := shapeField{typ: lenType, text: true}
	number := shapeField{typ: varint}
	in := func(s *shape) shapeField { return shapeField{typ: lenType, msg: s} }
	value := &shape{}
	keyValue := &shape{leaf: true, fields: map[protowire.Number]shapeField{1: str, 2: in(value), 3: number}}
	value.fields = map[protowire.Number]shapeField{
		1: str, 2: number, 3: number, 4: {typ: fixed64},
		5: in(&shape{fields: map[protowire.Number]shapeField{1: in(value)}}), 6: in(&shape{fields: map[protowire.Number]shapeField{1: in(keyValue)}}),
		7: {typ: lenType}, 8: number,
	}
	entity := &shape{fields: map[protowire.Number]shapeField{1: str, 2: str, 3: str, 4: str}}
	resource := &shape{fields: map[protowire.Number]shapeField{1: in(keyValue), 2: number, 3: in(entity)}}
	scope := &shape{fields: map[protowire.Number]shapeField{1: str, 2: str, 3: in(keyValue), 4: number}}
	item := &shape{leaf: true, any: true}
	scopes := &shape{fields: map[protowire.Number]shapeField{1: in(scope), 2: in(item), 3: str}}
	resources := &shape{fields: map[protowire.Number]shapeField{1: in(resource), 2: in(scopes), 3: str}}
	row := shapeField{typ: lenType}
	dictionary := &shape{leaf: true, fields: map[protowire.Number]shapeField{1: row, 2: row, 3: row, 4: row, 5: str, 6: row, 7: row}}
	return &shape{fields: map[protowire.Number]shapeField{1: in(resources), 2: in(dictionary)}}
}

// begins reports whether a message can begin with b: with field 1, or with the dictionary of profiles, whose first row of
// a table is empty.
func begins(b []byte) bool {
	if len(b) > 0 && b[0] == 1<<3|2 {
		return true
	}
	if len(b) == 0 || b[0] != 2<<3|2 {
		return false
	}
	_, n := binary.Uvarint(b[1:])
	if n <= 0 || len(b) < n+3 {
		return false
	}
	tag := b[n+1]
	return tag&7 == 2 && tag>>3 >= 1 && tag>>3 <= 7 && b[n+2] == 0
}

// probe returns the protobuf form of an input that begins with head, or formNone if that is uncertain. The forms
// exclude each other: a message begins with 10, the tag of field 1; the 4-byte length of at most maxMessage begins with
// a smaller byte; and the message after a varint must end with a field exactly where the varint says.
func probe(head []byte) form {
	if len(head) < 2 {
		return formNone
	}
	top := otlpShape()
	matches := func(b []byte, size uint64) bool {
		n := int(min(uint64(len(b)), size))
		p := prober{budget: 1 << 16}
		return n > 0 && begins(b) && p.match(b[:n], size > uint64(n), top, 64) && p.leaves > 0
	}
	if matches(head, 1<<62) {
		return formProto
	}
	if len(head) > 4 && head[0] < 1<<3|2 {
		if n := uint64(binary.BigEndian.Uint32(head)); matches(head[4:], n) {
			return formDelimited
		}
	}
	if n, size := binary.Uvarint(head); size > 0 && matches(head[size:], n) {
		return formVarint
	}
	return formNone
}

// A prober matches the beginning of a message against a shape.
type prober struct {
	leaves int
	budget int // total number of bytes to examine
}

// match reports whether b can be a message of shape s. open means that the message may continue past b.
func (p *prober) match(b []byte, open bool, s *shape, depth int) bool {
	if depth == 0 {
		return true
	}
	for len(b) > 0 && p.budget > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return open && len(b) < binary.MaxVarintLen32
		}
		f, known := s.fields[num]
		if known && f.typ != typ || !known && !s.any || typ == protowire.StartGroupType ||
			typ == protowire.EndGroupType ||
			typ > fixed32 {
			return false
		}
		p.budget -= n
		b = b[n:]
		if typ != lenType {
			n = protowire.ConsumeFieldValue(num, typ, b)
			if n < 0 {
				return open && len(b) < binary.MaxVarintLen64
			}
			p.budget -= n
			b = b[n:]
			continue
		}
		size, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return open && len(b) < binary.MaxVarintLen64
		}
		b = b[n:]
		have := int(min(size, uint64(len(b))))
		if !open && uint64(have) < size || !p.value(b[:have], uint64(have) < size, f, depth-1) {
			return false
		}
		b = b[have:]
	}
	return true
}

// enough is the number of bytes that confirm a message whose end head does not contain.
const enough = 64

// value matches the value of a length-delimited field.
func (p *prober) value(b []byte, open bool, f shapeField, depth int) bool {
	switch {
	case f.msg != nil:
		if len(b) > 0 && !p.match(b, open, f.msg, depth) {
			return false
		}
		if f.msg.leaf && len(b) > 0 && (!open || len(b) >= enough) {
			p.leaves++
		}
	case f.text:
		p.budget -= len(b)
		for open && len(b) > 0 && !utf8.Valid(b) { // the last character may be truncated
			r, n := utf8.DecodeRune(b)
			if r == utf8.RuneError && n == 1 {
				return !utf8.FullRune(b)
			}
			b = b[n:]
		}
		return utf8.Valid(b)
	}
	return true
}
