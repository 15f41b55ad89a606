package otlp

import (
	"encoding/hex"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// A jsonKind is how the value of a field of a metric or profile appears in JSON, and so how it is encoded as protobuf.
type jsonKind uint8

const (
	jsonString      jsonKind = iota
	jsonHex                  // bytes in hexadecimal
	jsonBase64               // bytes in base64
	jsonBool                 // varint
	jsonVarint               // a number or a string
	jsonFixed                // an unsigned number of 8 bytes
	jsonDouble               // a number of 8 bytes
	jsonVarints              // packed
	jsonFixeds               // packed
	jsonDoubles              // packed
	jsonSigned               // a signed number of 8 bytes
	jsonZigzag               // varint
	jsonTemporality          // a number or one of temporalityNames
	jsonMessage              // another message
)

// A jsonMember is a member of an object of OTLP/JSON, a field of a message of metrics.proto, profiles.proto or common.proto.
type jsonMember struct {
	name   string // in camelCase; snake_case is accepted, too
	number protowire.Number
	kind   jsonKind
	fields []jsonMember // of a message
	list   bool
}

func member(name string, number protowire.Number, kind jsonKind) jsonMember {
	return jsonMember{name: name, number: number, kind: kind}
}

func object(name string, number protowire.Number, fields []jsonMember) jsonMember {
	return jsonMember{name: name, number: number, kind: jsonMessage, fields: fields}
}

func objects(name string, number protowire.Number, fields []jsonMember) jsonMember {
	return jsonMember{name: name, number: number, kind: jsonMessage, fields: fields, list: true}
}

// jsonAnyValue and jsonKeyValue are the messages AnyValue and KeyValue of common.proto, which contain each other.
var jsonAnyValue, jsonKeyValue = func() (value, pair []jsonMember) {
	value = make([]jsonMember, 8)
	pair = []jsonMember{member("key", 1, jsonString), object("value", 2, value)}
	copy(value, []jsonMember{
		member("stringValue", 1, jsonString), member("boolValue", 2, jsonBool), member("intValue", 3, jsonVarint), member("doubleValue", 4, jsonDouble),
		object("arrayValue", 5, []jsonMember{objects("values", 1, value)}), object("kvlistValue", 6, []jsonMember{objects("values", 1, pair)}),
		member("bytesValue", 7, jsonBase64), member("stringValueStrindex", 8, jsonVarint),
	})
	return value, pair
}()

// messageJSON decodes an element of the current signal with the decoder of its protobuf form, so that one decoder knows what
// its fields mean. depth is that of the messages around an AnyValue. It returns the number of items, 0 if the element is
// invalid, which it counts.
func (d *decoder) messageJSON(text []byte, fields []jsonMember, depth int, decode func(*decoder, []byte) int) int {
	d.json.reset(text)
	b, ok := d.protoOf(nil, fields, messageNames[d.place.signal].element, d.limits.Depth+depth)
	if !ok {
		d.skip("not a valid object")
		return 0
	}
	return decode(d, b)
}

// protoOf appends an object as a message with the given fields. It returns false if a member is invalid. Members that are
// not known are counted.
func (d *decoder) protoOf(dst []byte, fields []jsonMember, name string, depth int) ([]byte, bool) {
	if depth == 0 {
		d.tooDeep()
		d.json.Skip()
		return dst, true
	}
	if d.json.null() {
		return dst, true
	}
	ok := d.json.members(func(key string) bool {
		for i := range fields {
			f := &fields[i]
			if key != f.name && (len(key) <= len(f.name) || strings.ReplaceAll(key, "_", "") != strings.ToLower(f.name)) {
				continue
			}
			var ok bool
			dst, ok = d.memberOf(dst, f, depth)
			return ok
		}
		return d.unknownJSON(name + "." + key)
	})
	return dst, ok
}

// memberOf appends the value of a member as a field.
func (d *decoder) memberOf(dst []byte, f *jsonMember, depth int) ([]byte, bool) {
	if d.json.null() {
		return dst, true
	}
	if !f.list {
		return d.fieldOf(dst, f, depth)
	}
	ok := d.json.elems(func() (ok bool) {
		dst, ok = d.fieldOf(dst, f, depth)
		return ok
	})
	return dst, ok
}

// fieldOf appends a value as a field.
func (d *decoder) fieldOf(dst []byte, f *jsonMember, depth int) ([]byte, bool) {
	var own []byte
	ok := true
	switch f.kind {
	case jsonVarint:
		n, valid := d.json.bits()
		if !valid {
			return dst, valid
		}
		return protowire.AppendVarint(protowire.AppendTag(dst, f.number, protowire.VarintType), n), true
	case jsonZigzag, jsonTemporality:
		n, valid := d.smallOf(f.kind)
		return protowire.AppendVarint(protowire.AppendTag(dst, f.number, protowire.VarintType), n), valid
	case jsonFixed, jsonDouble, jsonSigned:
		n, valid := d.fixedOf(f.kind)
		return protowire.AppendFixed64(protowire.AppendTag(dst, f.number, protowire.Fixed64Type), n), valid
	case jsonBool:
		v, valid := d.json.bool()
		return protowire.AppendVarint(protowire.AppendTag(dst, f.number, protowire.VarintType), protowire.EncodeBool(v)), valid
	case jsonString:
		var s string
		s, ok = d.json.str()
		own = []byte(d.valid(s))
	case jsonHex:
		var s string
		s, ok = d.json.str()
		if b, err := hex.DecodeString(s); err == nil {
			own = b
		} else {
			ok = false
		}
	case jsonBase64:
		var s string
		s, ok = d.json.base64()
		own = []byte(s)
	case jsonVarints:
		ok = d.json.elems(func() bool {
			n, ok := d.json.bits()
			own = protowire.AppendVarint(own, n)
			return ok
		})
	case jsonFixeds:
		ok = d.json.elems(func() bool {
			n, ok := d.json.uint()
			own = protowire.AppendFixed64(own, n)
			return ok
		})
	case jsonDoubles:
		ok = d.json.elems(func() bool {
			v, ok := d.json.float()
			own = protowire.AppendFixed64(own, math.Float64bits(v))
			return ok
		})
	case jsonMessage:
		own, ok = d.protoOf(nil, f.fields, f.name, depth-1)
	}
	return protowire.AppendBytes(protowire.AppendTag(dst, f.number, protowire.BytesType), own), ok
}

func (d *decoder) fixedOf(kind jsonKind) (uint64, bool) {
	switch kind {
	case jsonDouble:
		v, ok := d.json.float()
		return math.Float64bits(v), ok
	case jsonSigned:
		n, ok := d.json.int()
		return uint64(n), ok
	}
	return d.json.uint()
}

func (d *decoder) smallOf(kind jsonKind) (uint64, bool) {
	if kind == jsonTemporality {
		n, ok := d.enum(temporalityNames)
		return uint64(int64(n)), ok
	}
	n, ok := d.json.int()
	return protowire.EncodeZigZag(n), ok && int64(int32(n)) == n
}
