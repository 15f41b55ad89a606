package ntconv_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
)

// The tests of payloads describe values as text: describe(v) is a JSON-like rendering that shows the kind of every
// value.

func describe(v ntconv.Value) string {
	switch v.Kind() {
	case ntconv.ValueNull:
		return "null"
	case ntconv.ValueInt:
		return fmt.Sprintf("i%d", v.Int())
	case ntconv.ValueUint:
		return fmt.Sprintf("u%d", v.Uint())
	case ntconv.ValueFloat:
		return fmt.Sprintf("f%v", v.Float())
	case ntconv.ValueString:
		return fmt.Sprintf("%q", v.String())
	case ntconv.ValueBytes:
		return fmt.Sprintf("x%x", v.Bytes())
	case ntconv.ValueList:
		var elems []string
		for e := range v.Elems() {
			elems = append(elems, describe(e))
		}
		return "[" + strings.Join(elems, " ") + "]"
	case ntconv.ValueObject:
		var members []string
		for f, m := range v.Fields() {
			members = append(members, f.Name+":"+describe(m))
		}
		return "{" + strings.Join(members, " ") + "}"
	case ntconv.ValueError:
		return "error(" + v.Err().Error() + ")"
	}
	return v.String() // bool, guid, time
}

func describeFields(e *ntconv.Event) string {
	var fields []string
	for f, v := range e.Fields() {
		fields = append(fields, f.Name+":"+describe(v))
	}
	return strings.Join(fields, " ")
}

// Shorthands for types.

func code(c ntconv.TypeCode) ntconv.FieldType { return ntconv.FieldType{Code: c} }

func of(c ntconv.TypeCode, elem ntconv.FieldType) ntconv.FieldType {
	return ntconv.FieldType{Code: c, Elem: &elem}
}

func fixed(n uint16, elem ntconv.FieldType) ntconv.FieldType {
	return ntconv.FieldType{Code: ntconv.TypeFixedArray, Elem: &elem, Count: n}
}

func object(fields ...ntconv.Field) ntconv.FieldType {
	return ntconv.FieldType{Code: ntconv.TypeObject, Fields: fields}
}

func field(name string, t ntconv.FieldType) ntconv.Field { return ntconv.Field{Name: name, Type: t} }

// fields names types a, b, c and so on.
func fields(types ...ntconv.FieldType) (out []ntconv.Field) {
	for i, t := range types {
		out = append(out, field(string(rune('a'+i)), t))
	}
	return out
}

// event returns an event with a payload given in hexadecimal, spaces allowed.
func event(pointerSize uint8, payload string, types ...ntconv.FieldType) *ntconv.Event {
	b, err := hex.DecodeString(strings.ReplaceAll(payload, " ", ""))
	if err != nil {
		panic(err)
	}
	return &ntconv.Event{
		Type:    &ntconv.Type{Fields: fields(types...)},
		Thread:  &ntconv.Thread{Process: &ntconv.Process{PointerSize: pointerSize}},
		Payload: b,
	}
}

const (
	abc16 = "6100 e900 3dd8 00de" // "aé😀" in UTF-16
	guid  = "00112233 4455 6677 8899aabbccddeeff"
)

var decodings = []struct {
	name    string
	types   []ntconv.FieldType
	payload string
	want    string
}{
	{"int8", []ntconv.FieldType{code(ntconv.TypeInt8), code(ntconv.TypeInt8)}, "7f 80", "a:i127 b:i-128"},
	{"uint8", []ntconv.FieldType{code(ntconv.TypeUint8)}, "ff", "a:u255"},
	{"int16", []ntconv.FieldType{code(ntconv.TypeInt16)}, "0080", "a:i-32768"},
	{"uint16", []ntconv.FieldType{code(ntconv.TypeUint16)}, "feff", "a:u65534"},
	{"int32", []ntconv.FieldType{code(ntconv.TypeInt32)}, "00000080", "a:i-2147483648"},
	{"uint32", []ntconv.FieldType{code(ntconv.TypeUint32)}, "ffffffff", "a:u4294967295"},
	{"int64", []ntconv.FieldType{code(ntconv.TypeInt64)}, "ffffffffffffffff", "a:i-1"},
	{"uint64", []ntconv.FieldType{code(ntconv.TypeUint64)}, "ffffffffffffffff", "a:u18446744073709551615"},
	{"float32", []ntconv.FieldType{code(ntconv.TypeFloat32)}, "0000c03f", "a:f1.5"},
	{"float64", []ntconv.FieldType{code(ntconv.TypeFloat64)}, "000000000000f0ff", "a:f-Inf"},
	{"bool32", []ntconv.FieldType{code(ntconv.TypeBool32), code(ntconv.TypeBool32), code(ntconv.TypeBool32)}, "00000000 01000000 00010000", "a:false b:true c:true"},
	{"bool8", []ntconv.FieldType{code(ntconv.TypeBool8), code(ntconv.TypeBool8)}, "00 02", "a:false b:true"},
	{"utf16 unit", []ntconv.FieldType{code(ntconv.TypeUTF16Unit), code(ntconv.TypeUTF16Unit)}, "ac20 3dd8", `a:"€" b:"�"`},
	{"utf8 unit", []ntconv.FieldType{code(ntconv.TypeUTF8Unit), code(ntconv.TypeUTF8Unit)}, "41 e9", `a:"A" b:"é"`},
	{"decimal", []ntconv.FieldType{code(ntconv.TypeDecimal)}, "000102030405060708090a0b0c0d0e0f", "a:x000102030405060708090a0b0c0d0e0f"},
	{"datetime", []ntconv.FieldType{code(ntconv.TypeDateTime), code(ntconv.TypeDateTime)}, "0000000000000000 01803ed5deb19d01", "a:1601-01-01 00:00:00 b:1970-01-01T00:00:00.0000001Z"},
	{"guid", []ntconv.FieldType{code(ntconv.TypeGUID)}, guid, "a:33221100-5544-7766-8899-aabbccddeeff"},
	{"utf16 string", []ntconv.FieldType{code(ntconv.TypeUTF16String), code(ntconv.TypeUint8)}, abc16 + "0000 07", `a:"aé😀" b:u7`},
	{"utf16 string with zero bytes", []ntconv.FieldType{code(ntconv.TypeUTF16String), code(ntconv.TypeUint8)}, "0061 6100 0001 0000 07", `a:"愀aĀ" b:u7`},
	{"empty string", []ntconv.FieldType{code(ntconv.TypeUTF16String), code(ntconv.TypeUint8)}, "0000 07", `a:"" b:u7`},
	{"array", []ntconv.FieldType{of(ntconv.TypeArray, code(ntconv.TypeInt16)), code(ntconv.TypeUint8)}, "0300 0100 0200 ffff 07", "a:[i1 i2 i-1] b:u7"},
	{"array of units", []ntconv.FieldType{of(ntconv.TypeArray, code(ntconv.TypeUTF16Unit)), of(ntconv.TypeArray, code(ntconv.TypeUTF8Unit))}, "0400" + abc16 + "0500 41 c3a9 00 42", "a:\"aé😀\" b:\"Aé\\x00B\""},
	{"array of bytes", []ntconv.FieldType{of(ntconv.TypeArray, code(ntconv.TypeUint8))}, "0300 0102ff", "a:x0102ff"},
	{"empty arrays", []ntconv.FieldType{of(ntconv.TypeArray, code(ntconv.TypeUTF16Unit)), of(ntconv.TypeArray, code(ntconv.TypeInt32))}, "0000 0000", `a:"" b:[]`},
	{"array of strings", []ntconv.FieldType{of(ntconv.TypeArray, code(ntconv.TypeUTF16String))}, "0200 6100 0000 0000", `a:["a" ""]`},
	{"array of arrays", []ntconv.FieldType{of(ntconv.TypeArray, of(ntconv.TypeArray, code(ntconv.TypeInt8))), code(ntconv.TypeUint8)}, "0300 0200 01 02 0000 0100 ff 07", "a:[[i1 i2] [] [i-1]] b:u7"},
	{"array of strings", []ntconv.FieldType{of(ntconv.TypeArray, of(ntconv.TypeArray, code(ntconv.TypeUTF8Unit)))}, "0200 0100 61 0000", `a:["a" ""]`},
	{"fixed array", []ntconv.FieldType{fixed(2, code(ntconv.TypeUint16)), fixed(4, code(ntconv.TypeUTF8Unit)), code(ntconv.TypeUint8)}, "0100 0200 61620000 07", "a:[u1 u2] b:\"ab\\x00\\x00\" c:u7"},
	{"fixed array of nothing", []ntconv.FieldType{fixed(0, code(ntconv.TypeUint16)), code(ntconv.TypeUint8)}, "07", "a:[] b:u7"},
	{"fixed arrays nested", []ntconv.FieldType{fixed(2, fixed(2, code(ntconv.TypeInt8)))}, "01020304", "a:[[i1 i2] [i3 i4]]"},
	{"varint", []ntconv.FieldType{code(ntconv.TypeVarInt), code(ntconv.TypeVarInt), code(ntconv.TypeVarInt)}, "00 01 ffffffffffffffffff01", "a:i0 b:i-1 c:i-9223372036854775808"},
	{"varuint", []ntconv.FieldType{code(ntconv.TypeVarUint), code(ntconv.TypeVarUint)}, "ac02 ffffffffffffffffff01", "a:u300 b:u18446744073709551615"},
	{"varuint, longer than needed", []ntconv.FieldType{code(ntconv.TypeVarUint)}, "818000", "a:u1"},
	{"varuint, eleven bytes", []ntconv.FieldType{code(ntconv.TypeVarUint), code(ntconv.TypeInt8)}, "8080808080808080808001", "a:error(byte 0 of the payload: variable-length number does not end) b:error(byte 0 of the payload: variable-length number does not end)"},
	{"object", []ntconv.FieldType{object(fields(code(ntconv.TypeInt8), object(fields(code(ntconv.TypeUTF16String))...))...), code(ntconv.TypeUint8)}, "05 6100 0000 07", `a:{a:i5 b:{a:"a"}} b:u7`},
	{"object without members", []ntconv.FieldType{object(), code(ntconv.TypeUint8), object()}, "07", "a:{} b:u7 c:{}"},
	{"array of objects", []ntconv.FieldType{of(ntconv.TypeArray, object(fields(code(ntconv.TypeInt8), of(ntconv.TypeArray, code(ntconv.TypeUTF8Unit)))...))}, "0200 01 0100 61 02 0000", `a:[{a:i1 b:"a"} {a:i2 b:""}]`},
	{"relloc", []ntconv.FieldType{of(ntconv.TypeRelLoc, code(ntconv.TypeUint16)), code(ntconv.TypeUint8)}, "0100 0400 07 0100 0200", "a:[u1 u2] b:u7"},
	{"dataloc", []ntconv.FieldType{code(ntconv.TypeUint8), of(ntconv.TypeDataLoc, code(ntconv.TypeUTF8Unit))}, "07 0500 0200 6162", `a:u7 b:"ab"`},
	{"empty locations", []ntconv.FieldType{of(ntconv.TypeRelLoc, code(ntconv.TypeUint16)), of(ntconv.TypeDataLoc, code(ntconv.TypeUint8))}, "0400 0000 0800 0000", "a:[] b:x"},
	{"locations that overlap", []ntconv.FieldType{of(ntconv.TypeDataLoc, code(ntconv.TypeUint8)), of(ntconv.TypeDataLoc, code(ntconv.TypeUint8))}, "0000 0800 0600 0200", "a:x0000080006000200 b:x0200"},
	{"location of objects", []ntconv.FieldType{of(ntconv.TypeRelLoc, object(fields(code(ntconv.TypeInt8), code(ntconv.TypeBool8))...))}, "0000 0400 0101 ff00", "a:[{a:i1 b:true} {a:i-1 b:false}]"},
	{"location beyond the end", []ntconv.FieldType{of(ntconv.TypeRelLoc, code(ntconv.TypeUint8)), code(ntconv.TypeUint8)}, "0100 0100 07", "a:error(byte 0 of the payload: location lies outside the payload) b:u7"},
	{"location of half an element", []ntconv.FieldType{of(ntconv.TypeDataLoc, code(ntconv.TypeUint16)), code(ntconv.TypeUint8)}, "0000 0300 07", "a:error(byte 0 of the payload: size is not a multiple of the element) b:u7"},
	{"location of elements without a size", []ntconv.FieldType{of(ntconv.TypeDataLoc, code(ntconv.TypeUTF16String)), of(ntconv.TypeRelLoc, object())}, "0000 0200 0000 0000", "a:error(byte 0 of the payload: element has no size) b:error(byte 4 of the payload: element has no size)"},
	{"locations in a location", []ntconv.FieldType{of(ntconv.TypeRelLoc, of(ntconv.TypeRelLoc, code(ntconv.TypeUTF8Unit)))}, "0000 0800 0400 0100 0100 0200 61 6263", `a:["a" "bc"]`},
	{"absolute locations in a location", []ntconv.FieldType{of(ntconv.TypeDataLoc, of(ntconv.TypeDataLoc, code(ntconv.TypeUint8)))}, "0400 0400 0000 0200", "a:[x0400]"},
	{"locations in objects in arrays", []ntconv.FieldType{of(ntconv.TypeArray, object(fields(code(ntconv.TypeInt8), of(ntconv.TypeRelLoc, code(ntconv.TypeInt8)))...))}, "0200 01 0500 0100 02 0100 0100 09 08", "a:[{a:i1 b:[i9]} {a:i2 b:[i8]}]"},
	{"unknown code", []ntconv.FieldType{code(ntconv.TypeInt8), code(2), code(ntconv.TypeInt8)}, "01 02 03", "a:i1 b:error(byte 1 of the payload: unknown type code) c:error(byte 1 of the payload: unknown type code)"},
	{"array of unknown elements", []ntconv.FieldType{code(ntconv.TypeArray), code(ntconv.TypeInt8)}, "0100 03", "a:error(byte 2 of the payload: unknown type code) b:error(byte 2 of the payload: unknown type code)"},
	{"location of unknown elements", []ntconv.FieldType{code(ntconv.TypeRelLoc), code(ntconv.TypeInt8)}, "0000 0000 03", "a:error(byte 0 of the payload: element has no size) b:i3"},
	{"array that is too long", []ntconv.FieldType{code(ntconv.TypeInt8), of(ntconv.TypeArray, code(ntconv.TypeInt32))}, "05 0200 01000000", "a:i5 b:error(byte 3 of the payload: payload ends before the field does)"},
	{"string without an end", []ntconv.FieldType{code(ntconv.TypeUTF16String), code(ntconv.TypeInt8)}, "6100 6200", "a:error(byte 0 of the payload: payload ends before the field does) b:error(byte 0 of the payload: payload ends before the field does)"},
	{"fields of a later version", []ntconv.FieldType{code(ntconv.TypeInt8), code(ntconv.TypeUTF16String), of(ntconv.TypeArray, code(ntconv.TypeInt8)), code(ntconv.TypeVarInt), code(ntconv.TypeDataLoc)}, "05", "a:i5"},
	{"bytes of a later version", []ntconv.FieldType{code(ntconv.TypeInt8)}, "05 0607", "a:i5"},
	{"pointer", []ntconv.FieldType{code(ntconv.TypePointer)}, "f0debc9a78563412", "a:u1311768467463790320"},
	{"ansi string", []ntconv.FieldType{code(ntconv.TypeANSIString), code(ntconv.TypeInt8)}, "61 e9 00 07", `a:"aé" b:i7`},
	{"padding", []ntconv.FieldType{code(ntconv.TypePad64), code(ntconv.TypeInt8)}, "00000000 07", "a:null b:i7"},
	{"counted", []ntconv.FieldType{code(ntconv.TypeUint16), code(ntconv.TypeInt8), {Code: ntconv.TypeCounted, Elem: &ntconv.FieldType{Code: ntconv.TypeInt16}}}, "0200 05 0100 ffff", "a:u2 b:i5 c:[i1 i-1]"},
	{"counted by a field that is not a number", []ntconv.FieldType{code(ntconv.TypeUTF16String), {Code: ntconv.TypeCounted, Elem: &ntconv.FieldType{Code: ntconv.TypeInt16}}}, "0000 01", `a:"" b:error(byte 2 of the payload: count is not an earlier integer field)`},
	{"counted by a negative number", []ntconv.FieldType{code(ntconv.TypeInt8), {Code: ntconv.TypeCounted, Elem: &ntconv.FieldType{Code: ntconv.TypeInt16}}}, "ff 01", "a:i-1 b:error(byte 1 of the payload: count is not an earlier integer field)"},
	{"counted by itself", []ntconv.FieldType{{Code: ntconv.TypeCounted, Elem: &ntconv.FieldType{Code: ntconv.TypeInt16}}}, "0100", "a:error(byte 0 of the payload: count is not an earlier integer field)"},
	{"rest", []ntconv.FieldType{code(ntconv.TypeInt8), code(ntconv.TypeRest)}, "05 0102ff", "a:i5 b:x0102ff"},
	{"empty rest", []ntconv.FieldType{code(ntconv.TypeInt8), code(ntconv.TypeRest)}, "05", "a:i5 b:x"},
	{"rest of an empty payload", []ntconv.FieldType{code(ntconv.TypeInt8), code(ntconv.TypeRest)}, "", ""},
	{"rest after an error", []ntconv.FieldType{code(ntconv.TypeInt16), code(ntconv.TypeRest)}, "05", "a:error(byte 0 of the payload: payload ends before the field does) b:error(byte 0 of the payload: payload ends before the field does)"},
	{"rest in an object", []ntconv.FieldType{object(fields(code(ntconv.TypeInt8), code(ntconv.TypeRest))...), code(ntconv.TypeInt8)}, "05 0607", "a:{a:i5 b:x0607}"},
	{"rest in an array", []ntconv.FieldType{of(ntconv.TypeArray, code(ntconv.TypeRest))}, "0100 0607", "a:[x0607]"},
}

func TestDecodeEveryCode(t *testing.T) {
	seen := map[ntconv.TypeCode]bool{}
	var note func(t *ntconv.FieldType)
	note = func(t *ntconv.FieldType) {
		for ; t != nil; t = t.Elem {
			seen[t.Code] = true
			for i := range t.Fields {
				note(&t.Fields[i].Type)
			}
		}
	}
	for _, d := range decodings {
		e := event(8, d.payload, d.types...)
		got := describeFields(e)
		got = strings.Replace(got, "1601-01-01T00:00:00Z", "1601-01-01 00:00:00", 1)
		if got != d.want {
			t.Errorf("%s:\n got %s\nwant %s", d.name, got, d.want)
		}
		for i := range d.types {
			note(&d.types[i])
		}
	}
	for c := range 256 {
		if c := ntconv.TypeCode(c); !strings.HasPrefix(c.String(), "type(") && !seen[c] {
			t.Errorf("no case for %v", c)
		}
	}
}

func TestDecode32Bit(t *testing.T) {
	types := []ntconv.FieldType{code(ntconv.TypePointer), code(ntconv.TypePad64), code(ntconv.TypeInt8)}
	if got := describeFields(event(4, "78563412 07", types...)); got != "a:u305419896 b:null c:i7" {
		t.Errorf("4-byte pointers: %s", got)
	}
	if got := describeFields(event(0, "7856341200000000 00000000 07", types...)); got != "a:u305419896 b:null c:i7" {
		t.Errorf("unknown pointers: %s", got)
	}
	for _, size := range []int{-4, 1, 5, 8, 260} { // nonsense counts as 8
		n := 0
		for _, v := range ntconv.DecodeFields(fields(types...), make([]byte, 13), size) {
			if n++; v.Kind() == ntconv.ValueError {
				t.Errorf("pointers of %d bytes: %v", size, v)
			}
		}
		if n != 3 {
			t.Errorf("pointers of %d bytes: %d fields", size, n)
		}
	}
}

// TestNarrowValues covers self-describing .NET sources, which write bool in one byte and decimal in eight.
func TestNarrowValues(t *testing.T) {
	five := "0000000000001440" // 5.0
	cases := []struct {
		name    string
		types   []ntconv.FieldType
		payload string
		want    string
	}{
		{"wide bool", []ntconv.FieldType{code(ntconv.TypeBool32), code(ntconv.TypeInt8)}, "01000000 05", "a:true b:i5"},
		{"narrow bool", []ntconv.FieldType{code(ntconv.TypeBool32), code(ntconv.TypeInt8)}, "01 05", "a:true b:i5"},
		{"narrow decimal", []ntconv.FieldType{code(ntconv.TypeDecimal), code(ntconv.TypeInt8)}, five + "05", "a:f5 b:i5"},
		{"narrow in an object", []ntconv.FieldType{object(fields(code(ntconv.TypeBool32), code(ntconv.TypeInt8))...)}, "01 05", "a:{a:true b:i5}"},
		{"narrow in an array", []ntconv.FieldType{of(ntconv.TypeArray, code(ntconv.TypeBool32))}, "0300 010001", "a:[true false true]"},
		{"wide in an array", []ntconv.FieldType{of(ntconv.TypeArray, code(ntconv.TypeBool32))}, "0200 01000000 00000000", "a:[true false]"},
		{"neither: the layout counts", []ntconv.FieldType{code(ntconv.TypeBool32), code(ntconv.TypeInt8)}, "01000000 05 06", "a:true b:i5"},
		{"both: the layout counts", []ntconv.FieldType{code(ntconv.TypeBool32), of(ntconv.TypeArray, code(ntconv.TypeUint8))}, "01 0000 00 0100 ff", "a:true b:xff"},
		{"with locations no guess", []ntconv.FieldType{code(ntconv.TypeBool32), of(ntconv.TypeRelLoc, code(ntconv.TypeUint8))}, "01000000 0000 0100 09", "a:true b:x09"},
	}
	for _, c := range cases {
		e := event(8, c.payload, c.types...)
		for range 2 { // the second time from the cache in the type
			if got := describeFields(e); got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
			}
		}
	}
	var got []string
	for _, v := range ntconv.DecodeFields(fields(code(ntconv.TypeBool32), code(ntconv.TypeInt8)), []byte{1, 5}, 8) {
		got = append(got, v.Kind().String())
	}
	if strings.Join(got, " ") != "error error" {
		t.Errorf("DecodeFields guesses: %v", got)
	}
}

// TestTruncationAtEveryByte checks that complete fields keep their values, and that all later ones are errors or missing.
func TestTruncationAtEveryByte(t *testing.T) {
	for _, d := range decodings {
		whole := event(8, d.payload, d.types...)
		var want []ntconv.Value
		for _, v := range whole.Fields() {
			want = append(want, v)
		}
		for n := range whole.Payload {
			cut := *whole
			cut.Payload = whole.Payload[:n:n]
			i, broken, failed := 0, false, false
			for f, v := range cut.Fields() {
				text := describe(v)
				// A location may lose its elements while the fields after it are complete.
				switch v.Kind() {
				case ntconv.ValueNull, ntconv.ValueError:
					loc := f.Type.Code == ntconv.TypeRelLoc || f.Type.Code == ntconv.TypeDataLoc
					broken = broken || !loc
					failed = failed || !loc && v.Kind() == ntconv.ValueError
				case ntconv.ValueObject:
					broken = broken || strings.Contains(text, "null")
				default:
					if broken && f.Type.Code != ntconv.TypeFixedArray && (f.Type.Code != ntconv.TypeRest || text != "x") {
						t.Errorf("%s cut at %d: field %d is %s after one that is missing", d.name, n, i, text)
					}
				}
				if i++; v.Kind() == want[i-1].Kind() && v.Kind() == ntconv.ValueList && v.Len() > want[i-1].Len() {
					t.Errorf("%s cut at %d: field %d has more elements than the whole one", d.name, n, i)
				}
			}
			if i < len(want) && failed {
				t.Errorf("%s cut at %d: %d fields, and an error in the last", d.name, n, i)
			}
		}
	}
}

// TestHostileTypes must end, whatever the types claim. Before locations were checked by their size alone, one case took
// years.
func TestHostileTypes(t *testing.T) {
	big := make([]byte, 1<<16)
	for i := range big {
		big[i] = 0xff
	}
	nested := code(ntconv.TypeUint8)
	for range 32 {
		nested = fixed(math.MaxUint16, nested)
	}
	locs := code(ntconv.TypeUint8)
	for range 8 {
		locs = of(ntconv.TypeDataLoc, locs)
	}
	mutual := make([]byte, 1<<16) // every four bytes are a location of everything
	for i := 0; i < len(mutual); i += 4 {
		binary.LittleEndian.PutUint32(mutual[i:], 0xfffc<<16)
	}
	deep := object()
	for range 1000 {
		deep = object(field("", deep))
	}
	cases := []struct {
		name    string
		typ     ntconv.FieldType
		payload []byte
		fails   bool
	}{
		{"array of objects without members", of(ntconv.TypeArray, object()), big, true},
		{"fixed array of objects without members", fixed(math.MaxUint16, object()), big, true},
		{"array of arrays of nothing", of(ntconv.TypeArray, fixed(0, code(ntconv.TypeUint8))), big, true},
		{"array of padding", of(ntconv.TypeArray, code(ntconv.TypePad64)), big[:10], true},
		{"fixed arrays in fixed arrays", nested, big, true},
		{"fixed arrays of nothing", fixed(math.MaxUint16, fixed(math.MaxUint16, fixed(math.MaxUint16, object()))), big, true},
		{"location of huge elements", of(ntconv.TypeDataLoc, nested), big, true},
		{"locations of locations", of(ntconv.TypeArray, locs), append([]byte{0xff, 0x3f}, mutual...), false},
		{"objects in objects", deep, nil, false},
		{"unknown elements of arrays", of(ntconv.TypeArray, code(0)), big, true},
	}
	for _, c := range cases {
		e := &ntconv.Event{Type: &ntconv.Type{Fields: []ntconv.Field{{Name: "f", Type: c.typ}}}, Payload: c.payload}
		for _, v := range e.Fields() {
			if failed := v.Kind() == ntconv.ValueError; failed != c.fails {
				t.Errorf("%s: %v", c.name, v)
			}
		}
	}
}

func TestFieldByName(t *testing.T) {
	e := event(8, "01 02 03", code(ntconv.TypeInt8), code(ntconv.TypeInt8), code(ntconv.TypeInt8))
	e.Type.Fields[2].Name = "b"
	if v, ok := e.Field("b"); !ok || v.Int() != 2 {
		t.Errorf("b: %v, %v", v, ok)
	}
	if _, ok := e.Field("z"); ok {
		t.Error("a field that does not exist")
	}
	o := event(8, "01 02", object(fields(code(ntconv.TypeInt8), code(ntconv.TypeInt8))...))
	v, _ := o.Field("a")
	if m, ok := v.Field("b"); !ok || m.Int() != 2 {
		t.Errorf("a.b: %v, %v", m, ok)
	}
	if _, ok := v.Field("c"); ok {
		t.Error("a member that does not exist")
	}
}

// TestAccessorsOfOtherKinds checks that an accessor for another kind returns zero.
func TestAccessorsOfOtherKinds(t *testing.T) {
	values := []ntconv.Value{
		{}, ntconv.BoolValue(true), ntconv.IntValue(-5), ntconv.UintValue(5), ntconv.FloatValue(5), ntconv.StringValue("5"), ntconv.BytesValue([]byte{5}),
		ntconv.GUIDValue(ntconv.GUID{5}), ntconv.TimeValue(time.Unix(5, 0)), ntconv.ListValue(ntconv.IntValue(5)), ntconv.ObjectValue(ntconv.IntValue(5)),
	}
	for i, v := range values {
		if v.Kind() != ntconv.ValueKind(i) {
			t.Errorf("value %d has kind %v", i, v.Kind())
		}
		elems, members := 0, 0
		for range v.Elems() {
			elems++
		}
		for range v.Fields() {
			members++
		}
		got := []bool{
			v.Bool(), v.Int() != 0, v.Float() != 0, len(v.AppendString(nil)) > 0, v.Bytes() != nil, !v.GUID().IsZero(), !v.Time().IsZero(), elems > 0, members > 0, v.Err() != nil,
		}
		want := make([]bool, len(got))
		if at := [...]int{-1, 0, 1, 1, 2, 3, 4, 5, 6, 7, -1}[i]; at >= 0 {
			want[at] = true
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v: %v, want %v", v.Kind(), got, want)
		}
		if v.String() == "" {
			t.Errorf("%v: no text", v.Kind())
		}
	}
	if got := ntconv.TimeValue(time.Unix(5, 199)).Time(); !got.Equal(time.Unix(5, 100)) {
		t.Errorf("time is cut to 100 ns: %v", got)
	}
	if got := ntconv.TimeValue(time.Unix(-11644473600, 0)).FileTime(); got != 0 {
		t.Errorf("1601 is %d", got)
	}
}

// TestFieldsAfterTheEnd checks that all fields after the end of a payload are one step, and that an event of an older
// version, whose payload ends early, has all fields before them.
func TestFieldsAfterTheEnd(t *testing.T) {
	wide := []ntconv.FieldType{code(ntconv.TypeInt32)}
	for range 1024 {
		wide = append(wide, code(ntconv.TypeInt32), code(ntconv.TypeUTF16String), fixed(2, code(ntconv.TypeInt8)),
			object(fields(fixed(0, code(ntconv.TypeInt8)), code(ntconv.TypePointer))...))
	}
	wide = append(wide, code(ntconv.TypeRest))
	for _, c := range []struct {
		payload, want string
	}{{"", ""}, {"07 00 00 00", "i7"}, {"07 00 00 00 08 00 00 00", "i7 i8"}, {"07 00 00 00 08 00 00 00 00 00", `i7 i8 ""`}} {
		e := event(8, c.payload, object(fields(wide...)...))
		e.Type.Fields = e.Type.Fields[0].Type.Fields
		var got []string
		for _, v := range e.Fields() {
			if got = append(got, describe(v)); len(got) > 4 {
				break
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q has the fields %v, want %s", c.payload, got, c.want)
		}
	}
	// A list that ends with an empty payload and bytes up to its end need no byte: they are values, not missing.
	e := event(8, "", fixed(0, code(ntconv.TypeInt16)), code(ntconv.TypeRest))
	n := 0
	for _, v := range e.Fields() {
		if n++; v.Kind() == ntconv.ValueNull {
			t.Errorf("field %d is missing", n)
		}
	}
	if n != 2 {
		t.Errorf("%d empty values, want 2", n)
	}
}
