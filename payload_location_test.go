package ntconv_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
)

const overLimit = "too many located bytes or empty values"

// at returns the 32 bits of a location.
func at(position, size int) []byte {
	return binary.LittleEndian.AppendUint32(nil, uint32(size)<<16|uint32(position))
}

// nest returns t inside so many levels of locations.
func nest(levels int, c ntconv.TypeCode, t ntconv.FieldType) ntconv.FieldType {
	for range levels {
		t = of(c, t)
	}
	return t
}

func repeat(n int, t ntconv.FieldType) []ntconv.Field {
	out := make([]ntconv.Field, n)
	for i := range out {
		out[i] = field("f", t)
	}
	return out
}

// TestValuesAreBounded checks that the located bytes are at most the documented multiple of the payload, and that a
// payload with more yields an error. Without the limit the first case has 20^30 values.
func TestValuesAreBounded(t *testing.T) {
	var (
		u8       = code(ntconv.TypeUint8)
		empties  = object(append(fields(u8), repeat(4000, object())...)...)
		nothings = object(append(fields(u8), repeat(4000, fixed(0, u8))...)...)
		count    = []byte{0x40, 0x1f} // 8,000
		array    = append(append([]byte(nil), count...), strings.Repeat(string(at(0, 65000)), 17000)...)
		large    = make([]byte, 1<<13)
	)
	cases := []struct {
		name    string
		fields  []ntconv.Field
		payload []byte
	}{
		{"nested locations of themselves", fields(nest(30, ntconv.TypeDataLoc, code(ntconv.TypeInt8))), []byte(strings.Repeat(string(at(0, 80)), 20))},
		{"relative locations of those that follow", fields(nest(30, ntconv.TypeRelLoc, u8)), []byte(strings.Repeat(string(at(0, 40)), 30))},
		{"array of locations", fields(of(ntconv.TypeArray, of(ntconv.TypeDataLoc, u8))), array},
		{"array of locations of locations", fields(of(ntconv.TypeArray, nest(2, ntconv.TypeDataLoc, u8))), array},
		{"located locations that are not valid", fields(fixed(16, nest(2, ntconv.TypeDataLoc, u8))), []byte(strings.Repeat(string(at(64, 8000)), 16) + strings.Repeat(string(at(60_000, 60_000)), 2000))},
		{"array of objects with locations", fields(of(ntconv.TypeArray, object(fields(of(ntconv.TypeDataLoc, u8))...))), array},
		{"fixed array of locations", fields(fixed(8000, of(ntconv.TypeDataLoc, code(ntconv.TypeInt16)))), array[2:]},
		{"fields that share bytes", repeat(4096, of(ntconv.TypeDataLoc, code(ntconv.TypeInt16))), array[2:]},
		{"locations of a large type without elements", repeat(8000, of(ntconv.TypeDataLoc, object(repeat(4000, u8)...))), make([]byte, 32000)},
		{"located array of locations", fields(nest(2, ntconv.TypeDataLoc, fixed(40, of(ntconv.TypeDataLoc, u8)))), []byte(strings.Repeat(string(at(0, 160)), 40))},
		{"array of empty objects", fields(of(ntconv.TypeArray, empties)), append(count, large...)},
		{"array of empty arrays", fields(of(ntconv.TypeArray, nothings)), append(count, large...)},
		{"located empty objects", fields(of(ntconv.TypeDataLoc, empties)), append(at(0, 8000), large...)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := walker{t: t, payload: c.payload}
			for _, v := range ntconv.DecodeFields(c.fields, c.payload, 8) {
				w.value(v)
			}
			w.checkBound(c.fields)
			if w.errors == 0 {
				t.Errorf("%d values, %d bytes of content, and no error", w.values, w.content)
			}
		})
	}
}

// TestLocationsWithinTheLimit checks that the limit affects neither ordinary events of any size nor up to 16 locations of
// the same bytes.
func TestLocationsWithinTheLimit(t *testing.T) {
	text := of(ntconv.TypeRelLoc, code(ntconv.TypeUTF8Unit))
	var words []ntconv.Value
	for i := range 4000 {
		words = append(words, ntconv.StringValue(fmt.Sprint("word ", i)))
	}
	words[7] = ntconv.StringValue(strings.Repeat("x", 10_000))
	layout := fields(of(ntconv.TypeArray, text), code(ntconv.TypeInt8))
	payload, err := ntconv.AppendFields(nil, layout, []ntconv.Value{ntconv.ListValue(words[:3000]...), ntconv.IntValue(5)}, 8)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := (&ntconv.Event{Type: &ntconv.Type{Fields: layout}, Payload: payload}).Field("a")
	i := 0
	for e := range v.Elems() {
		if e.String() != words[i].String() {
			t.Fatalf("element %d is %.50q", i, e)
		}
		i++
	}
	if i != 3000 {
		t.Errorf("%d elements", i)
	}
	shared := append([]byte(strings.Repeat(string(at(64, 50_000)), 16)), make([]byte, 50_000)...)
	for _, v := range ntconv.DecodeFields(repeat(16, of(ntconv.TypeDataLoc, code(ntconv.TypeUint8))), shared, 8) {
		if len(v.Bytes()) != 50_000 {
			t.Fatal(v)
		}
	}
}

// TestFieldsAfterTheLimit checks that a location beyond the limit affects neither fields in place nor lists without
// locations.
func TestFieldsAfterTheLimit(t *testing.T) {
	layout := append(repeat(40, of(ntconv.TypeDataLoc, code(ntconv.TypeInt8))), field("last", of(ntconv.TypeArray, code(ntconv.TypeInt8))))
	payload := append([]byte(strings.Repeat(string(at(0, 10_000)), 40)), 3, 0, 1, 2, 3)
	payload = append(payload, make([]byte, 10_000)...)
	var lists, errs int
	var last ntconv.Value
	for _, last = range ntconv.DecodeFields(layout, payload, 8) {
		switch last.Kind() {
		case ntconv.ValueList:
			lists++
		case ntconv.ValueError:
			errs++
			want := fmt.Sprintf("byte %d of the payload: %s: limit %d, 16 times the payload plus 4096", 4*(lists+errs-1), overLimit, 16*len(payload)+4096)
			if got := last.Err().Error(); got != want {
				t.Fatalf("%q, want %q", got, want)
			}
		}
	}
	if describe(last) != "[i1 i2 i3]" || lists != 1+16 || errs != 40-16 {
		t.Errorf("%d lists, %d errors, and the last field is %s", lists, errs, describe(last))
	}
}

// TestValuesDoNotDependOnTheOrder checks that values have no state: their contents are the same if they are visited at
// once, later, or without those before it.
func TestValuesDoNotDependOnTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layout, payload := locatedEvent(t)
		whole, once := "", walker{t: t, payload: payload}
		for _, v := range ntconv.DecodeFields(layout, payload, 8) {
			whole += describe(v) + "\n"
			once.value(v)
		}
		once.checkBound(layout)
		var top []ntconv.Value
		for _, v := range ntconv.DecodeFields(layout, payload, 8) {
			top = append(top, v)
		}
		late := ""
		for i := len(top) - 1; i >= 0; i-- {
			late = describeBackwards(top[i]) + "\n" + late
		}
		if whole != late {
			t.Fatalf("at once:\n%s\nlater:\n%s", whole, late)
		}
	})
}

// describeBackwards is describe for lists and objects, but visits the last value first.
func describeBackwards(v ntconv.Value) (s string) {
	switch v.Kind() {
	case ntconv.ValueList:
		var elems []ntconv.Value
		for e := range v.Elems() {
			elems = append(elems, e)
		}
		for i := len(elems) - 1; i >= 0; i-- {
			s = " " + describeBackwards(elems[i]) + s
		}
		return "[" + strings.TrimPrefix(s, " ") + "]"
	case ntconv.ValueObject:
		var names []string
		var members []ntconv.Value
		for f, m := range v.Fields() {
			names, members = append(names, f.Name), append(members, m)
		}
		for i := len(members) - 1; i >= 0; i-- {
			s = " " + names[i] + ":" + describeBackwards(members[i]) + s
		}
		return "{" + strings.TrimPrefix(s, " ") + "}"
	}
	return describe(v)
}

// locatedEvent draws types in which locations nest and a payload of numbers that are likely to be valid locations.
func locatedEvent(t *rapid.T) (layout []ntconv.Field, payload []byte) {
	var draw func(depth int, fixedSize bool) ntconv.FieldType
	draw = func(depth int, fixedSize bool) ntconv.FieldType {
		kinds := []string{"int", "data", "data", "data", "rel", "rel", "fixed", "object"}
		if !fixedSize {
			kinds = append(kinds, "array")
		}
		if depth == 0 {
			kinds = kinds[:1]
		}
		switch rapid.SampledFrom(kinds).Draw(t, "kind") {
		case "data":
			return of(ntconv.TypeDataLoc, draw(depth-1, true))
		case "rel":
			return of(ntconv.TypeRelLoc, draw(depth-1, true))
		case "fixed":
			return fixed(rapid.Uint16Range(0, 3).Draw(t, "count"), draw(depth-1, fixedSize))
		case "array":
			return of(ntconv.TypeArray, draw(depth-1, false))
		case "object":
			members := make([]ntconv.FieldType, rapid.IntRange(0, 3).Draw(t, "members"))
			for i := range members {
				members[i] = draw(depth-1, fixedSize)
			}
			return object(fields(members...)...)
		}
		return code(ntconv.TypeInt8)
	}
	types := make([]ntconv.FieldType, rapid.IntRange(1, 4).Draw(t, "fields"))
	for i := range types {
		types[i] = draw(6, false)
	}
	n := rapid.IntRange(0, 100).Draw(t, "locations")
	for range n {
		size := rapid.IntRange(0, 4*n).Draw(t, "size")
		payload = append(payload, at(rapid.IntRange(0, 4).Draw(t, "position"), size&^7)...)
	}
	return fields(types...), payload
}
