package payload

import (
	"encoding/json"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

// layoutOf derives fields with any type codes from bytes, nested at most depth levels.
func layoutOf(b []byte, depth int) (fields []ntconv.Field, rest []byte) {
	for len(b) > 0 && b[0] != 0 {
		var f ntconv.Field
		f.Name = string(b[:1])
		f.Type, b = typeOf(b, depth)
		fields = append(fields, f)
	}
	if len(b) > 0 {
		b = b[1:]
	}
	return fields, b
}

func typeOf(b []byte, depth int) (t ntconv.FieldType, rest []byte) {
	if len(b) == 0 {
		return ntconv.FieldType{Code: ntconv.TypeUint8}, nil
	}
	t.Code, b = ntconv.TypeCode(b[0]), b[1:]
	switch {
	case depth == 0:
	case t.Code == ntconv.TypeObject:
		t.Fields, b = layoutOf(b, depth-1)
	case t.Code == ntconv.TypeArray || t.Code == ntconv.TypeRelLoc || t.Code == ntconv.TypeDataLoc || t.Code == ntconv.TypeFixedArray || t.Code == ntconv.TypeCounted:
		if len(b) > 0 {
			t.Count, b = uint16(b[0]), b[1:]
		}
		var elem ntconv.FieldType
		elem, b = typeOf(b, depth-1)
		t.Elem = &elem
	}
	return t, b
}

// FuzzPayload asserts the contract of Encoder.Append, and that cells equal the values of the schema.
func FuzzPayload(f *testing.F) {
	f.Add([]byte{10, 12, 18, 17, 128}, []byte("0123456789abh\x00i\x00\x00\x000123456789abcdef01234567"), false)
	f.Add([]byte{10, 131, 0, 9, 24, 0, 18}, []byte("\x02\x00\x00\x00abcdefgh\x02\x00\x04\x00"), true)
	f.Add([]byte{3, 18, 15, 19, 0, 1, 18, 18}, []byte("\x01a\x00\x00\x0001234567\x01\x00k\x00\x00\x00\x00\xd8\x00\x00"), false)
	f.Add([]byte{129, 130, 132}, []byte("\xff\x00\x00\x00\x00\x00rest"), false)
	f.Fuzz(func(t *testing.T, layout, payload []byte, narrow bool) {
		fields, _ := layoutOf(layout[:min(len(layout), 64)], 6)
		e := &ntconv.Event{Type: &ntconv.Type{Provider: "Shop", Name: "E", ID: 1, Fields: fields}, Payload: payload[:min(len(payload), 4096)]}
		e.Thread = &ntconv.Thread{Process: &ntconv.Process{PointerSize: 8}}
		if narrow {
			e.Thread.Process.PointerSize = 4
		}
		var table schema.Table
		var enc Encoder
		s := table.Of(e)
		text, _ := checkAppend(t, &enc, map[any]*Decoder{}, e, s)
		if limit := 4096 + 6*(64+len(e.Payload))*64; len(text) > limit*16 {
			t.Errorf("%d bytes of JSON for %d", len(text), len(e.Payload))
		}
		checkValues(t, text, e, s)
		checkProgram(t, Compile(s), e, s)
	})
}

// FuzzDecoder asserts that any JSON yields an error of this package or a payload of proportional size.
func FuzzDecoder(f *testing.F) {
	layout := []byte{10, 18, 17, 19, 0, 1, 18, 14, 0, 16, 24, 0, 9, 132}
	f.Add(layout, []byte(`{"\n":1}`))
	f.Add([]byte{10, 18, 1, 3, 14}, []byte(`{"\u0012":"text\n\ud83d\ude00","\n":4294967295}`))
	f.Add([]byte{19, 0, 1, 18, 14, 0}, []byte(`{"\u0013":[{"\u0012":"a","\u000e":1e3},{"\u000e":"NaN"},{}]}`))
	f.Add([]byte{16, 6, 22, 3, 6}, []byte(`{"\u0010":"2026-11-21T15:04:05.1234567Z","\u0006":255,"\u0016":"hex:010203"}`))
	f.Fuzz(func(t *testing.T, layout, text []byte) {
		fields, _ := layoutOf(layout[:min(len(layout), 64)], 6)
		d := NewDecoder(fields, 8)
		payload, err := d.Append([]byte("before"), text)
		if string(payload[:6]) != "before" || err != nil && len(payload) != 6 {
			t.Fatalf("%q %v", payload, err)
		}
		if limit := (maxZerosPerByte+16)*len(text) + maxZeros + 6; len(payload) > limit {
			t.Fatalf("%d bytes for %d of JSON", len(payload), len(text))
		}
		if err != nil || len(text) == 0 || !json.Valid(text) {
			return
		}
		if again, err := d.Append(nil, text); err != nil || string(again) != string(payload[6:]) {
			t.Fatalf("again: %x %v, not %x", again, err, payload[6:])
		}
		// The order of the members does not change the payload.
		var members map[string]json.RawMessage
		if json.Unmarshal(text, &members) != nil {
			return
		}
		sorted, err := json.Marshal(members)
		if err != nil {
			return
		}
		if again, err := d.Append(nil, sorted); err != nil || string(again) != string(payload[6:]) {
			t.Fatalf("sorted: %x %v, not %x: %s", again, err, payload[6:], sorted)
		}
	})
}
