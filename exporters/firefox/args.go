package firefox

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/timeline"
)

// A format states how the Firefox Profiler formats a field of a marker (MarkerFormatType in its src/types/markers.ts).
type format uint8

const (
	formatString format = iota
	formatInteger
	formatDecimal
	formatHexadecimal
	formatList
	numFormats
)

var formatNames = [numFormats]string{"string", "integer", "decimal", "hexadecimal", "list"}

// A field is a key of marker data together with a format. Its ID is its index in argEncoder.fields.
type field struct {
	key    uint32
	format format
}

// Limits of the tables that last for the whole trace. Members with further keys are dropped and counted; objects with
// further shapes contain their list of fields themselves.
const (
	maxKeys   = 1 << 16
	maxShapes = 1 << 16
)

// An argEncoder encodes args as members of a JSON object that follow other members:
//
//	uvarint number of the shape, ",\"key\":value,\"key\":value"
//
// A shape is the ordered list of the fields of an object; marker schemas are built from shapes. Shape 0 means that the
// list follows: uvarint number of fields, uvarint ID of each field.
//
// The timeline calls it during Write. encode resets ids, body and last and increments object for each object; all other
// fields only grow.
type argEncoder struct {
	keys   []key
	byText map[string]uint32
	fields []field
	shapes map[string]uint32
	lists  [][]uint32 // fields by shape

	object   uint64   // number of the current object, from 1
	ids      []uint32 // IDs of its fields
	body     []byte   // its members
	nested   []byte   // scratch for values that are encoded as a string
	json     timeline.JSON
	list     []byte // scratch: ids in their encoding
	last     uint32 // key of the latest member
	replaced uint64 // strings that are not valid Unicode
	dropped  uint64 // members beyond maxKeys
}

func newArgEncoder() *argEncoder {
	a := &argEncoder{byText: map[string]uint32{}, shapes: map[string]uint32{}, lists: make([][]uint32, 1)}
	a.json = timeline.JSON{Text: a.quote, Key: jsonio.AppendQuoted[string], Int: appendInt, Uint: appendUint, Float: jsonio.AppendDouble}
	for _, text := range reservedKeys {
		a.key(text)
	}
	return a
}

// encode implements timeline.Options.Args.
func (a *argEncoder) encode(dst []byte, s *timeline.Source) []byte {
	a.object++
	a.ids, a.body, a.last = a.ids[:0], a.body[:0], 0
	for name, v := range s.Args(true) {
		a.arg(a.following(name), v)
	}
	if len(a.ids) == 0 {
		return dst
	}
	return append(a.appendShape(dst), a.body...)
}

// exact is the limit up to which JavaScript represents all integers exactly.
const exact = 1 << 53

// arg adds an arg with key n. A value that JavaScript cannot represent is a string. So is one with nested values, which
// no marker format shows: the string contains its JSON.
func (a *argEncoder) arg(n uint32, v *timeline.Value) {
	f := formatString
	switch v.Kind {
	case timeline.IntValue:
		if i := v.Int(); -exact <= i && i <= exact {
			f = formatInteger
		}
	case timeline.UintValue:
		switch {
		case v.Uint() > exact:
		case v.Pointer:
			f = formatHexadecimal
		default:
			f = formatInteger
		}
	case timeline.FloatValue:
		if x := v.Float(); x-x == 0 { // finite
			f = formatDecimal
		}
	case timeline.ListValue:
		if !v.Nests {
			f = formatList
			break
		}
		fallthrough
	case timeline.ObjectValue:
		a.nested = a.json.Append(a.nested[:0], v)
		if a.begin(n, f) {
			a.body = jsonio.AppendQuoted(a.body, a.nested)
		}
		return
	}
	if a.begin(n, f) {
		a.body = a.json.Append(a.body, v)
	}
}

// quote appends a string as JSON and counts it if it is not valid Unicode.
func (a *argEncoder) quote(dst, text []byte) []byte {
	dst, exact := jsonio.AppendString(dst, text)
	if !exact {
		a.replaced++
	}
	return dst
}

// begin appends the name of a member. It returns false if the member must be dropped, because the table of keys is
// full.
func (a *argEncoder) begin(n uint32, f format) bool {
	n = a.free(n)
	if n >= maxKeys {
		a.dropped++
		return false
	}
	k := &a.keys[n]
	k.mark = a.object
	if k.ids[f] == 0 {
		a.fields = append(a.fields, field{n, f})
		k.ids[f] = uint32(len(a.fields))
	}
	a.ids = append(a.ids, k.ids[f]-1)
	a.body = append(append(a.body, ','), k.json...)
	return true
}

// appendShape appends the number of the object's shape, or shape 0 and the list of fields if the table is full.
func (a *argEncoder) appendShape(dst []byte) []byte {
	a.list = a.list[:0]
	for _, id := range a.ids {
		a.list = binary.AppendUvarint(a.list, uint64(id))
	}
	shape, ok := a.shapes[string(a.list)]
	if !ok && len(a.lists) < maxShapes {
		shape, ok = uint32(len(a.lists)), true
		a.shapes[string(a.list)] = shape
		a.lists = append(a.lists, append([]uint32(nil), a.ids...))
	}
	if ok {
		return binary.AppendUvarint(dst, uint64(shape))
	}
	dst = binary.AppendUvarint(append(dst, 0), uint64(len(a.ids)))
	return append(dst, a.list...)
}

// decode is the inverse of encode. It returns the shape, its fields and the members. For shape 0 the fields are those
// of the object itself. All results are empty if the item has no args.
func (a *argEncoder) decode(encoded []byte) (shape uint32, fields []uint32, members []byte) {
	if len(encoded) == 0 {
		return 0, nil, nil
	}
	n, size := binary.Uvarint(encoded)
	encoded = encoded[size:]
	if n != 0 {
		return uint32(n), a.lists[n], encoded
	}
	n, size = binary.Uvarint(encoded)
	encoded = encoded[size:]
	for range n {
		id, size := binary.Uvarint(encoded)
		fields, encoded = append(fields, uint32(id)), encoded[size:]
	}
	return 0, fields, encoded
}

// appendInt appends an integer, as a string if JavaScript cannot represent it exactly.
func appendInt(dst []byte, n int64) []byte {
	if n > exact || n < -exact {
		return append(strconv.AppendInt(append(dst, '"'), n, 10), '"')
	}
	return strconv.AppendInt(dst, n, 10)
}

// appendUint is appendInt for unsigned numbers.
func appendUint(dst []byte, n uint64) []byte {
	if n > exact {
		return append(strconv.AppendUint(append(dst, '"'), n, 10), '"')
	}
	return strconv.AppendUint(dst, n, 10)
}

// appendMillis appends nanoseconds as milliseconds without loss of digits.
func appendMillis(dst []byte, nanos int64) []byte {
	if nanos < 0 {
		nanos = max(nanos, -math.MaxInt64)
		return appendMillis(append(dst, '-'), -nanos)
	}
	dst = strconv.AppendInt(dst, nanos/1e6, 10)
	rest := nanos % 1e6
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.', byte('0'+rest/1e5), byte('0'+rest/1e4%10), byte('0'+rest/1e3%10), byte('0'+rest/100%10),
		byte('0'+rest/10%10), byte('0'+rest%10))
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}
