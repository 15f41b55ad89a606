package eventgen

import (
	"fmt"
	"math"
	"time"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
)

// Codes selects the type codes that Fields may use.
type Codes uint8

const (
	// WireCodes are the codes that a nettrace file can contain.
	WireCodes Codes = iota
	// AllCodes adds the codes of manifests: pointers, 8-bit strings, padding, arrays counted by an earlier field, and
	// trailing bytes.
	AllCodes
)

var scalarCodes = []ntconv.TypeCode{
	ntconv.TypeBool32, ntconv.TypeUTF16Unit, ntconv.TypeInt8, ntconv.TypeUint8, ntconv.TypeInt16, ntconv.TypeUint16,
	ntconv.TypeInt32, ntconv.TypeUint32, ntconv.TypeInt64, ntconv.TypeUint64, ntconv.TypeFloat32, ntconv.TypeFloat64,
	ntconv.TypeDecimal, ntconv.TypeDateTime, ntconv.TypeGUID, ntconv.TypeUTF8Unit, ntconv.TypeBool8,
}

const maxDepth = 3

// Fields generates the fields of a type: every allowed code, nested objects, arrays of arrays and locations. Elements
// of locations have a fixed size, and elements of arrays have at least one byte, as the format requires.
func Fields(codes Codes) *rapid.Generator[[]ntconv.Field] {
	return rapid.Custom(func(t *rapid.T) []ntconv.Field {
		g := fieldGen{t, codes}
		out := g.fields(0, 6, maxDepth, false)
		if codes == AllCodes && !hasLocation(out) && rapid.IntRange(0, 7).Draw(t, "rest") == 0 {
			out = append(out, ntconv.Field{Name: "Rest", Type: ntconv.FieldType{Code: ntconv.TypeRest}})
		}
		return out
	})
}

// hasLocation reports whether a payload with these fields has bytes after the last field, which TypeRest would include.
func hasLocation(fields []ntconv.Field) bool {
	for i := range fields {
		for t := &fields[i].Type; t != nil; t = t.Elem {
			if t.Code == ntconv.TypeRelLoc || t.Code == ntconv.TypeDataLoc || hasLocation(t.Fields) {
				return true
			}
		}
	}
	return false
}

type fieldGen struct {
	t     *rapid.T
	codes Codes
}

// fields generates between least and limit fields. If fixed is set, all of them have a fixed size of at least one byte.
func (g fieldGen) fields(least, limit, depth int, fixed bool) (out []ntconv.Field) {
	for i := range rapid.IntRange(least, limit).Draw(g.t, "fields") {
		f := ntconv.Field{Name: fmt.Sprintf("F%d", i)}
		if rapid.IntRange(0, 7).Draw(g.t, "odd name") == 0 {
			f.Name = Text(12).Draw(g.t, "name")
		}
		f.Type = g.fieldType(depth, fixed)
		if g.codes == AllCodes && !fixed {
			f.Type = g.manifestType(out, f.Type, depth)
		}
		out = append(out, f)
	}
	return out
}

func (g fieldGen) fieldType(depth int, fixed bool) ntconv.FieldType {
	kinds := 1
	switch {
	case depth > 0 && fixed:
		kinds = 5
	case depth > 0:
		kinds = 8
	}
	switch rapid.IntRange(0, kinds-1).Draw(g.t, "kind") {
	case 1:
		return ntconv.FieldType{Code: ntconv.TypeObject, Fields: g.fields(1, 3, depth-1, fixed)}
	case 2:
		n := rapid.IntRange(1, 4).Draw(g.t, "count")
		return ntconv.FieldType{Code: ntconv.TypeFixedArray, Elem: g.elem(depth, fixed), Count: uint16(n)}
	case 3:
		return ntconv.FieldType{Code: ntconv.TypeRelLoc, Elem: g.elem(depth, true)}
	case 4:
		return ntconv.FieldType{Code: ntconv.TypeDataLoc, Elem: g.elem(depth, true)}
	case 5:
		return ntconv.FieldType{Code: ntconv.TypeArray, Elem: g.elem(depth, false)}
	case 6:
		return ntconv.FieldType{Code: ntconv.TypeUTF16String}
	case 7:
		return ntconv.FieldType{
			Code: rapid.SampledFrom([]ntconv.TypeCode{ntconv.TypeVarInt, ntconv.TypeVarUint}).Draw(g.t, "code"),
		}
	}
	return ntconv.FieldType{Code: rapid.SampledFrom(scalarCodes).Draw(g.t, "code")}
}

func (g fieldGen) elem(depth int, fixed bool) *ntconv.FieldType {
	e := g.fieldType(depth-1, fixed)
	return &e
}

// manifestType returns t or one of the codes that files cannot contain. before are the earlier fields of the object.
func (g fieldGen) manifestType(before []ntconv.Field, t ntconv.FieldType, depth int) ntconv.FieldType {
	switch kind := rapid.IntRange(0, 9).Draw(g.t, "manifest"); {
	case kind == 0:
		return ntconv.FieldType{Code: ntconv.TypePointer}
	case kind == 1:
		return ntconv.FieldType{Code: ntconv.TypeANSIString}
	case kind == 2 && depth == maxDepth: // in an array it would be an element without a size
		return ntconv.FieldType{Code: ntconv.TypePad64}
	case kind == 3:
		for i := range before {
			if before[i].Type.Code == ntconv.TypeUint8 {
				return ntconv.FieldType{Code: ntconv.TypeCounted, Elem: g.elem(max(depth, 1), false), Count: uint16(i)}
			}
		}
	}
	return t
}

// Values generates one value per field, such that AppendFields can write them.
func Values(fields []ntconv.Field, pointerSize int) *rapid.Generator[[]ntconv.Value] {
	if len(fields) == 0 {
		return rapid.Just[[]ntconv.Value](nil)
	}
	return rapid.Custom(func(t *rapid.T) []ntconv.Value {
		rapid.Bool().Draw(t, "some") // fields may have only one value, but a generator must draw something
		return valueGen{t, pointerSize}.members(fields)
	})
}

type valueGen struct {
	t   *rapid.T
	ptr int
}

func (g valueGen) members(fields []ntconv.Field) (out []ntconv.Value) {
	for i := range fields {
		t := &fields[i].Type
		if t.Code == ntconv.TypeCounted {
			out = append(out, g.list(t.Elem, int(out[t.Count].Uint())))
			continue
		}
		v := g.value(t)
		if t.Code == ntconv.TypeUint8 { // a later field may use it as its count
			v = ntconv.UintValue(v.Uint() % 5)
		}
		out = append(out, v)
	}
	return out
}

func (g valueGen) value(t *ntconv.FieldType) ntconv.Value {
	switch t.Code {
	case ntconv.TypeObject:
		return ntconv.ObjectValue(g.members(t.Fields)...)
	case ntconv.TypeFixedArray:
		return g.list(t.Elem, int(t.Count))
	case ntconv.TypeArray, ntconv.TypeRelLoc, ntconv.TypeDataLoc:
		return g.list(t.Elem, rapid.IntRange(0, 3).Draw(g.t, "elements"))
	case ntconv.TypePad64:
		return ntconv.Value{}
	case ntconv.TypeRest:
		return ntconv.BytesValue(rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(g.t, "rest"))
	}
	return g.scalar(t.Code)
}

func (g valueGen) scalar(c ntconv.TypeCode) ntconv.Value {
	t := g.t
	switch c {
	case ntconv.TypeBool8, ntconv.TypeBool32:
		return ntconv.BoolValue(rapid.Bool().Draw(t, "bool"))
	case ntconv.TypeUTF8Unit:
		return ntconv.StringValue(string(rune(rapid.Byte().Draw(t, "unit"))))
	case ntconv.TypeUTF16Unit:
		return ntconv.StringValue(string(rapid.RuneFrom([]rune{0, 'a', 'é', '€', 0xffff}).Draw(t, "unit")))
	case ntconv.TypeFloat32:
		return ntconv.FloatValue(float64(rapid.Float32().Draw(t, "float")))
	case ntconv.TypeFloat64:
		return ntconv.FloatValue(rapid.Float64().Draw(t, "float"))
	case ntconv.TypeDecimal:
		return ntconv.BytesValue(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "decimal"))
	case ntconv.TypeDateTime:
		return ntconv.TimeValue(
			time.Unix(rapid.Int64Range(-1e10, 1e10).Draw(t, "seconds"), rapid.Int64Range(0, 1e7-1).Draw(t, "fraction")*100),
		)
	case ntconv.TypeGUID:
		return ntconv.GUIDValue(ntconv.GUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "guid")))
	case ntconv.TypeUTF16String:
		return ntconv.StringValue(rapid.StringOfN(rapid.RuneFrom([]rune("aZ é€𝄞")), 0, 8, -1).Draw(t, "text"))
	case ntconv.TypeANSIString:
		return ntconv.StringValue(rapid.StringOfN(rapid.RuneFrom([]rune("aZ é\u00ff")), 0, 8, -1).Draw(t, "text"))
	}
	return g.integer(c)
}

func (g valueGen) integer(c ntconv.TypeCode) ntconv.Value {
	signed := func(bits int) ntconv.Value {
		return ntconv.IntValue(rapid.Int64Range(math.MinInt64>>(64-bits), math.MaxInt64>>(64-bits)).Draw(g.t, "int"))
	}
	unsigned := func(bits int) ntconv.Value {
		return ntconv.UintValue(rapid.Uint64Range(0, math.MaxUint64>>(64-bits)).Draw(g.t, "uint"))
	}
	switch c {
	case ntconv.TypeInt8:
		return signed(8)
	case ntconv.TypeInt16:
		return signed(16)
	case ntconv.TypeInt32:
		return signed(32)
	case ntconv.TypeInt64, ntconv.TypeVarInt:
		return signed(64)
	case ntconv.TypeUint8:
		return unsigned(8)
	case ntconv.TypeUint16:
		return unsigned(16)
	case ntconv.TypeUint32:
		return unsigned(32)
	case ntconv.TypePointer:
		return unsigned(8 * g.ptr)
	}
	return unsigned(64)
}

// list generates n elements in the form in which they are decoded: a string for code units, bytes for unsigned bytes.
func (g valueGen) list(elem *ntconv.FieldType, n int) ntconv.Value {
	switch elem.Code {
	case ntconv.TypeUTF8Unit, ntconv.TypeUTF16Unit:
		return ntconv.StringValue(rapid.StringOfN(rapid.RuneFrom([]rune("\x00aZ~")), n, n, -1).Draw(g.t, "text"))
	case ntconv.TypeUint8:
		return ntconv.BytesValue(rapid.SliceOfN(rapid.Byte(), n, n).Draw(g.t, "bytes"))
	}
	out := make([]ntconv.Value, 0, n)
	for range n {
		out = append(out, g.value(elem))
	}
	return ntconv.ListValue(out...)
}

// Text generates valid UTF-8 of at most limit characters from several planes, including NUL and line ends.
func Text(limit int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune("aB9 -./=é€ß漢𝄞\x00\n\"")), 0, limit, -1)
}
