package ntconv_test

import (
	"testing"
	"unsafe"

	"github.com/ntconv/ntconv"
)

// typeOf reads a type from fuzzed bytes: any code, nested as deep as the bytes say, up to a limit.
func typeOf(b []byte, depth int) (t ntconv.FieldType, rest []byte) {
	if len(b) == 0 {
		return code(ntconv.TypeUint8), nil
	}
	t.Code, b = ntconv.TypeCode(b[0]), b[1:]
	switch t.Code {
	case ntconv.TypeArray, ntconv.TypeFixedArray, ntconv.TypeRelLoc, ntconv.TypeDataLoc, ntconv.TypeCounted:
		if depth > 0 && len(b) > 0 && b[0] != 0 { // no element type: a description that was not understood
			var elem ntconv.FieldType
			elem, b = typeOf(b, depth-1)
			t.Elem = &elem
		}
		if len(b) > 0 {
			t.Count, b = uint16(b[0])*uint16(b[0]), b[1:]
		}
	case ntconv.TypeObject:
		for n := 0; depth > 0 && n < 4 && len(b) > 0 && b[0] != 0; n++ {
			var m ntconv.FieldType
			m, b = typeOf(b, depth-1)
			t.Fields = append(t.Fields, field("m", m))
		}
		if len(b) > 0 {
			b = b[1:]
		}
	}
	return t, b
}

// FuzzFields: decoding any payload with any type ends, does not panic, gives one value a field, and no value reaches
// outside the payload. A type that is decoded twice gives the same values.
func FuzzFields(f *testing.F) {
	for _, d := range decodings {
		e := event(8, d.payload, d.types...)
		var desc []byte
		for i := range d.types {
			desc = appendType(desc, &d.types[i])
		}
		f.Add(desc, e.Payload, false)
	}
	f.Add([]byte{19, 24, 24, 24, 6}, []byte{4, 0, 0, 0, 16, 0, 0, 0, 16, 0}, true)
	f.Fuzz(func(t *testing.T, desc, payload []byte, small bool) {
		if len(desc) > 200 || len(payload) > 1<<12 {
			return
		}
		var layout []ntconv.Field
		for len(desc) > 0 {
			var ft ntconv.FieldType
			ft, desc = typeOf(desc, 6)
			layout = append(layout, field("f", ft))
		}
		e := &ntconv.Event{Type: &ntconv.Type{Fields: layout}, Thread: &ntconv.Thread{Process: &ntconv.Process{PointerSize: 8}}, Payload: payload}
		if small {
			e.Thread.Process.PointerSize = 4
		}
		n, budget := 0, 1<<14
		for _, v := range e.Fields() {
			if n++; n > len(layout) {
				t.Fatal("more values than fields")
			}
			w := walker{t, payload, budget}
			w.value(v)
			budget = w.budget
		}
		if n != len(layout) {
			t.Fatalf("%d values for %d fields", n, len(layout))
		}
		if a, b := kinds(e), kinds(e); a != b {
			t.Fatalf("%s and then %s", a, b)
		}
	})
}

// appendType is the inverse of typeOf for simple types.
func appendType(b []byte, t *ntconv.FieldType) []byte {
	b = append(b, byte(t.Code))
	if t.Elem != nil {
		return append(appendType(b, t.Elem), byte(t.Count))
	}
	for i := range t.Fields {
		b = appendType(b, &t.Fields[i].Type)
	}
	if t.Code == ntconv.TypeObject {
		b = append(b, 0)
	}
	return b
}

func kinds(e *ntconv.Event) (s string) {
	for _, v := range e.Fields() {
		s += v.Kind().String() + " "
	}
	return s
}

// walker visits values. Locations in locations can describe far more values than the payload has bytes: the walk has a budget.
type walker struct {
	t       *testing.T
	payload []byte
	budget  int
}

func (w *walker) value(v ntconv.Value) {
	if w.budget--; w.budget < 0 {
		return
	}
	_ = v.String()
	switch v.Kind() {
	case ntconv.ValueBytes:
		w.within(v.Bytes())
	case ntconv.ValueError:
		if v.Err() == nil {
			w.t.Fatal("an error value without an error")
		}
	case ntconv.ValueList:
		for e := range v.Elems() {
			if w.value(e); w.budget < 0 {
				return
			}
		}
	case ntconv.ValueObject:
		n := 0
		for _, m := range v.Fields() {
			if w.value(m); w.budget < 0 {
				return
			}
			n++
		}
		if n > 4 {
			w.t.Fatalf("an object with %d members", n)
		}
	}
}

// within fails if b does not lie in the payload, or may grow into it.
func (w *walker) within(b []byte) {
	if len(b) == 0 {
		return
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	first := uintptr(unsafe.Pointer(unsafe.SliceData(w.payload)))
	if start < first || start+uintptr(len(b)) > first+uintptr(len(w.payload)) || cap(b) != len(b) {
		w.t.Fatal("a value reaches outside the payload")
	}
}
