package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/schema"
)

// remade returns equivalent JSON as another program might write it: with the members of all objects sorted by name,
// other escapes and spaces.
func remade(t testing.TB, text []byte) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil {
		t.Fatal(err)
	}
	out, err := json.MarshalIndent(x, " ", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func checkRemade(t testing.TB, e *ntconv.Event, s *schema.Schema) {
	t.Helper()
	var enc Encoder
	text, exact := enc.Append(nil, e, s)
	if fields, ok := enc.Layout(s); ok && exact && len(text) > 0 {
		other := remade(t, text)
		back, err := NewDecoder(fields, e.PointerSize()).Append(nil, other)
		if err != nil || !bytes.Equal(back, e.Payload) {
			t.Fatalf("%s\n%s\n%x (%v), not\n%x", text, other, back, err, e.Payload)
		}
	}
}

func TestOtherOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := anyEvent(rt)
		var table schema.Table
		checkRemade(t, e, table.Of(e))
	})
	for _, f := range corpus.Traces(t) {
		var table schema.Table
		seen := map[*schema.Schema]int{}
		eachEvent(f.Data, func(e *ntconv.Event) {
			s := table.Of(e)
			if seen[s]++; seen[s] < 5 {
				checkRemade(t, e, s)
			}
		})
	}
}

func field(name string, code ntconv.TypeCode) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: code}}
}

func TestDecoderErrors(t *testing.T) {
	u8 := ntconv.FieldType{Code: ntconv.TypeUint8}
	fields := []ntconv.Field{
		field("n", ntconv.TypeUint8), field("s", ntconv.TypeUTF16String), field("a", ntconv.TypeANSIString), field("f", ntconv.TypeFloat32),
		field("g", ntconv.TypeGUID), field("t", ntconv.TypeDateTime), field("b", ntconv.TypeBool8),
		{Name: "o", Type: ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{field("i", ntconv.TypeInt16)}}},
		{Name: "x", Type: ntconv.FieldType{Code: ntconv.TypeFixedArray, Count: 2, Elem: &u8}},
		{Name: "l", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeInt8}}},
	}
	for text, want := range map[string]string{
		`{"n":256}`: `"n"`, `{"n":-1}`: `"n"`, `{"n":1.5}`: `"n"`, `{"n":"1"}`: `"n"`, `{"n":+1}`: `"n"`, `{"n":{"error":"x"}}`: `"n"`,
		`{"s":"a\u0000"}`: `"s"`, `{"s":1}`: `"s"`, `{"s":"\x"}`: "invalid JSON", `{"a":"€"}`: `"a"`, `{"f":1e39}`: `"f"`, `{"f":"nan"}`: `"f"`,
		`{"g":"1234"}`: `"g"`, `{"t":"12026-01-01T00:00:00Z"}`: `"t"`, `{"t":"1600-01-01T00:00:00Z"}`: `"t"`, `{"b":1}`: `"b"`,
		`{"o":{"j":1}}`: "not a field", `{"o":{"i":32768}}`: `"i"`, `{"o":[]}`: `"o"`, `{"x":"hex:00"}`: "want 2", `{"x":"hex:0g"}`: `"x"`, `{"x":[1,2,3]}`: "want 2",
		`{"l":[1,128]}`: "element 1", `{"l":[1 2]}`: "invalid JSON", `{"l":[` + strings.Repeat("1,", 65536) + `1]}`: "65537", `{"n":1}x`: "after",
		`{"n":1,"n":1}`: "twice", `{"z":1}`: "not a field", `[]`: "wrong type", `{`: "JSON", `{"n"`: "JSON", `{"n":`: "JSON", `{"n":1`: "JSON", "{\"n\":1}\x00": "after", `{"s":"`: "JSON",
	} {
		payload, err := NewDecoder(fields, 8).Append([]byte("before"), []byte(text))
		if err == nil || !errors.Is(err, ntconv.ErrValue) || !strings.Contains(err.Error(), want) || string(payload) != "before" {
			t.Errorf("%.80s: %q, %v, want an error with %s", text, payload, err, want)
		}
	}
	for text, want := range map[string]string{
		``: "", `{}`: "", `{"n":null}`: "", `{"n":7}`: "\x07", `{ "s" : "\u00e9\ud83d\ude00" }`: "\x00\xe9\x00\x3d\xd8\x00\xde\x00\x00",
		`{"b":true,"n":1,"s":null}`: "\x01\x00\x00\x00" + strings.Repeat("\x00", 4+16+8) + "\x01",
		`{"x":[1,2],"l":null}`:      "\x00\x00\x00\x00" + strings.Repeat("\x00", 4+16+8+1+2) + "\x01\x02",
	} {
		if payload, err := NewDecoder(fields, 8).Append(nil, []byte(text)); err != nil || string(payload) != want {
			t.Errorf("%s: %q, %v, want %q", text, payload, err, want)
		}
	}
}

// TestDecoderLimits decodes short JSON with layouts of many values.
func TestDecoderLimits(t *testing.T) {
	big := ntconv.FieldType{Code: ntconv.TypeUint64}
	for range 3 {
		elem := big
		big = ntconv.FieldType{Code: ntconv.TypeFixedArray, Count: 65535, Elem: &elem}
	}
	wide := ntconv.FieldType{Code: ntconv.TypeObject}
	for i := range 20000 {
		wide.Fields = append(wide.Fields, field(strconv.Itoa(i), ntconv.TypeUint64))
	}
	deep := ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{field("a", ntconv.TypeUint8), field("b", ntconv.TypeUint8)}}
	text := `{"b":1,"a":1}`
	for range 60 {
		deep = ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{{Name: "a", Type: deep}, field("b", ntconv.TypeUint8)}}
		text = `{"b":1,"a":` + text + `}`
	}
	list := ntconv.FieldType{Code: ntconv.TypeArray, Elem: &wide}
	for _, c := range []struct {
		t    ntconv.FieldType
		text string
		ok   bool
	}{
		{big, `{"v":null,"w":1}`, false}, {wide, `{"v":{},"w":1}`, false}, {list, `{"v":[` + strings.Repeat("{},", 5000) + `{}],"w":1}`, false},
		{list, `{"v":[` + strings.Repeat("null,", 5000) + `null],"w":1}`, false}, {deep, `{"w":1,"v":` + text + `}`, true}, // not 2^60 steps
	} {
		d := NewDecoder([]ntconv.Field{{Name: "v", Type: c.t}, field("w", ntconv.TypeUint8)}, 8)
		payload, err := d.Append(nil, []byte(c.text))
		if (err == nil) != c.ok || !c.ok && !errors.Is(err, errSize) {
			t.Errorf("%.40s: %d bytes, %v", c.text, len(payload), err)
		}
	}
}

// TestFloats checks the strings for NaN and infinities, which databases can parse.
func TestFloats(t *testing.T) {
	for bits, want := range map[uint64]string{
		nan64: `{"d":"NaN"}`, 0x7ff8000000000001: `{"d":"NaN"}`, math.Float64bits(math.Inf(1)): `{"d":"Infinity"}`,
		math.Float64bits(math.Inf(-1)): `{"d":"-Infinity"}`, 1 << 63: `{"d":-0}`, math.Float64bits(0.1): `{"d":0.1}`,
	} {
		e := &ntconv.Event{Type: &ntconv.Type{Provider: "Shop", Name: "E", Fields: []ntconv.Field{field("d", ntconv.TypeFloat64)}}}
		e.Payload = []byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24), byte(bits >> 32), byte(bits >> 40), byte(bits >> 48), byte(bits >> 56)}
		var table schema.Table
		var enc Encoder
		text, exact := checkAppend(t, &enc, map[any]*Decoder{}, e, table.Of(e))
		if string(text) != want || exact != (bits != 0x7ff8000000000001) {
			t.Errorf("%x: %s %v, want %s", bits, text, exact, want)
		}
	}
}
