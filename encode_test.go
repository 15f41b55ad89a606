package ntconv_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
)

// TestFieldsInvertsAppendFields checks that values -> payload -> values -> payload yields the same values and bytes.
func TestFieldsInvertsAppendFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{4, 8}).Draw(t, "pointer size")
		layout := eventgen.Fields(eventgen.AllCodes).Draw(t, "fields")
		values := eventgen.Values(layout, size).Draw(t, "values")
		before := rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "before")
		b, err := ntconv.AppendFields(before, layout, values, size)
		if err != nil {
			t.Fatalf("AppendFields: %v", err)
		}
		if !bytes.Equal(b[:len(before)], before) {
			t.Fatal("what stood before the payload was changed")
		}
		b = b[len(before):]
		e := &ntconv.Event{
			Type:    &ntconv.Type{Fields: layout},
			Thread:  &ntconv.Thread{Process: &ntconv.Process{PointerSize: uint8(size)}},
			Payload: b,
		}
		var decoded []ntconv.Value
		for f, v := range e.Fields() {
			if &layout[len(decoded)] != f {
				t.Fatalf("field %d is %q", len(decoded), f.Name)
			}
			if len(b) > 0 || v.Kind() != ntconv.ValueNull {
				sameValue(t, f.Name, &f.Type, values[len(decoded)], v)
			}
			decoded = append(decoded, v)
		}
		again, err := ntconv.AppendFields(nil, layout, decoded, size)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("encoded again: %x, %v; want %x", again, err, b)
		}
	})
}

// sameValue compares an encoded value with the decoded one.
func sameValue(t *rapid.T, where string, typ *ntconv.FieldType, a, b ntconv.Value) {
	if b.Kind() == ntconv.ValueNull {
		if typ.Code != ntconv.TypePad64 {
			t.Fatalf("%s is missing", where)
		}
		return
	}
	if a.Kind() != b.Kind() {
		t.Fatalf("%s: %v became %v: %s", where, a.Kind(), b.Kind(), b)
	}
	switch a.Kind() {
	case ntconv.ValueList:
		var x, y []ntconv.Value
		for v := range a.Elems() {
			x = append(x, v)
		}
		for v := range b.Elems() {
			y = append(y, v)
		}
		if len(x) != len(y) || len(y) != b.Len() {
			t.Fatalf("%s: %d elements became %d", where, len(x), len(y))
		}
		for i := range x {
			sameValue(t, where+"[]", typ.Elem, x[i], y[i])
		}
	case ntconv.ValueObject:
		again, err := ntconv.AppendFields(nil, []ntconv.Field{{Type: *typ}}, []ntconv.Value{b}, 8)
		want, err2 := ntconv.AppendFields(nil, []ntconv.Field{{Type: *typ}}, []ntconv.Value{a}, 8)
		if err == nil && err2 == nil && !bytes.Equal(again, want) {
			t.Fatalf("%s: %x became %x", where, want, again)
		}
	case ntconv.ValueFloat:
		x, y := a.Float(), b.Float()
		if x != y && !(math.IsNaN(x) && math.IsNaN(y)) {
			t.Fatalf("%s: %v became %v", where, x, y)
		}
	default:
		if a.String() != b.String() {
			t.Fatalf("%s: %s became %s", where, a, b)
		}
	}
}

func TestAppendFieldsRefuses(t *testing.T) {
	str, num := ntconv.StringValue, ntconv.IntValue
	cases := []struct {
		name  string
		typ   ntconv.FieldType
		value ntconv.Value
	}{
		{"too large", code(ntconv.TypeInt8), num(128)},
		{"too small", code(ntconv.TypeInt16), num(-32769)},
		{"negative as unsigned", code(ntconv.TypeUint64), num(-1)},
		{"unsigned as signed", code(ntconv.TypeInt64), ntconv.UintValue(1 << 63)},
		{"unsigned as varint", code(ntconv.TypeVarInt), ntconv.UintValue(1 << 63)},
		{"negative as varuint", code(ntconv.TypeVarUint), num(-1)},
		{"text as number", code(ntconv.TypeInt32), str("5")},
		{"number as text", code(ntconv.TypeUTF16String), num(5)},
		{"number as float", code(ntconv.TypeFloat64), num(5)},
		{"number as bool", code(ntconv.TypeBool32), num(1)},
		{"number as array", of(ntconv.TypeArray, code(ntconv.TypeInt32)), num(1)},
		{"text as object", object(), str("")},
		{"double as decimal", code(ntconv.TypeDecimal), ntconv.FloatValue(1)},
		{"short decimal", code(ntconv.TypeDecimal), ntconv.BytesValue(make([]byte, 15))},
		{"NUL in a string", code(ntconv.TypeUTF16String), str("a\x00b")},
		{"NUL in an ansi string", code(ntconv.TypeANSIString), str("\x00")},
		{"beyond ansi", code(ntconv.TypeANSIString), str("€")},
		{"two units", code(ntconv.TypeUTF16Unit), str("ab")},
		{"a surrogate pair as a unit", code(ntconv.TypeUTF16Unit), str("😀")},
		{"wrong count", fixed(3, code(ntconv.TypeUint8)), ntconv.BytesValue([]byte{1, 2})},
		{"too many elements", of(ntconv.TypeArray, code(ntconv.TypeUint8)), ntconv.BytesValue(make([]byte, 1<<16))},
		{"too many bytes at a location", of(ntconv.TypeRelLoc, code(ntconv.TypeUint8)), ntconv.BytesValue(make([]byte, 1<<16))},
		{"elements without a size", of(ntconv.TypeArray, object()), ntconv.ListValue(ntconv.ObjectValue())},
		{"location of strings", of(ntconv.TypeDataLoc, code(ntconv.TypeUTF16String)), ntconv.ListValue()},
		{"array of nothing known", code(ntconv.TypeArray), ntconv.ListValue()},
		{"members", object(fields(code(ntconv.TypeInt8), code(ntconv.TypeInt8))...), ntconv.ObjectValue(num(1))},
		{"number as rest", code(ntconv.TypeRest), num(0)},
		{"field after rest", object(fields(code(ntconv.TypeRest), code(ntconv.TypeInt8))...), ntconv.ObjectValue(ntconv.BytesValue(nil), num(1))},
		{"location and rest", object(fields(of(ntconv.TypeRelLoc, code(ntconv.TypeUint8)), code(ntconv.TypeRest))...), ntconv.ObjectValue(ntconv.BytesValue(nil), ntconv.BytesValue(nil))},
		{"unknown code", code(2), num(0)},
		{"error", code(ntconv.TypeInt8), errorValue()},
	}
	for _, c := range cases {
		dst := []byte{1, 2, 3}
		got, err := ntconv.AppendValue(dst, &ntconv.Field{Name: "f", Type: c.typ}, c.value, 8)
		if !errors.Is(err, ntconv.ErrValue) {
			t.Errorf("%s: %v", c.name, err)
		}
		if !bytes.Equal(got, dst) {
			t.Errorf("%s: half a payload was left behind: %x", c.name, got)
		}
	}
	if _, err := ntconv.AppendFields(nil, nil, []ntconv.Value{num(1)}, 8); !errors.Is(err, ntconv.ErrValue) {
		t.Errorf("more values than fields: %v", err)
	}
}

func errorValue() (v ntconv.Value) {
	for _, v = range ntconv.DecodeFields(fields(code(ntconv.TypeInt32)), []byte{1}, 8) {
	}
	return v
}

// TestAppendFieldsOfNull checks that null values at the end are omitted, as in an older version of the event, and that
// other null values are zero.
func TestAppendFieldsOfNull(t *testing.T) {
	layout := fields(code(ntconv.TypeInt16), code(ntconv.TypeUTF16String), object(fields(code(ntconv.TypeGUID), fixed(3, code(ntconv.TypeInt8)))...),
		of(ntconv.TypeArray, code(ntconv.TypeInt8)), of(ntconv.TypeRelLoc, code(ntconv.TypeInt8)), code(ntconv.TypeFloat32), code(ntconv.TypePad64), code(ntconv.TypeInt8))
	values := make([]ntconv.Value, len(layout))
	if b, err := ntconv.AppendFields(nil, layout[:6], values[:6], 8); err != nil || len(b) != 0 {
		t.Errorf("nothing but null: %x, %v", b, err)
	}
	values[len(values)-1] = ntconv.IntValue(7)
	b, err := ntconv.AppendFields(nil, layout, values, 8)
	want := append(make([]byte, 2+2+19+2+4+4+4), 7)
	want[2+2+19+2] = 9 // the position of zero elements: after the last field
	if err != nil || !bytes.Equal(b, want) {
		t.Errorf("null before a value: %x, %v; want %x", b, err, want)
	}
}
