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

// FuzzFields checks that decoding any payload with any type ends, does not panic and yields one value per field, that no
// value extends beyond the payload, and that decoding twice yields the same values.
func FuzzFields(f *testing.F) {
	for _, d := range decodings {
		e := event(8, d.payload, d.types...)
		var desc []byte
		for i := range d.types {
			desc = appendType(desc, &d.types[i])
		}
		f.Add(desc, e.Payload, false)
	}
	f.Add([]byte("\x18\b0\x18\b00"), []byte("0000"), false) // the payload ends after an invalid location
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
		n, w := 0, walker{t: t, payload: payload}
		failed := false // the last value cannot be decoded; an error of a location does not affect the next field
		for f, v := range e.Fields() {
			if n++; n > len(layout) {
				t.Fatal("more values than fields")
			}
			w.value(v)
			failed = v.Kind() == ntconv.ValueError && f.Type.Code != ntconv.TypeRelLoc && f.Type.Code != ntconv.TypeDataLoc
		}
		w.checkBound(layout)
		if n < len(layout) && failed {
			t.Fatalf("%d values for %d fields after an error", n, len(layout))
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

// A failer is a *testing.T or *rapid.T.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// A walker visits values and everything in them.
type walker struct {
	t       failer
	payload []byte
	values  int // visited
	content int // bytes of strings and byte lists
	errors  int // values that could not be decoded
}

func (w *walker) value(v ntconv.Value) {
	w.values++
	switch v.Kind() {
	case ntconv.ValueString:
		w.content += len(v.String())
	case ntconv.ValueBytes:
		w.within(v.Bytes())
		w.content += len(v.Bytes())
	case ntconv.ValueError:
		if v.Err() == nil {
			w.t.Fatal("an error value without an error")
		}
		w.errors++
	case ntconv.ValueList:
		for e := range v.Elems() {
			w.value(e)
		}
	case ntconv.ValueObject:
		for _, m := range v.Fields() {
			w.value(m)
		}
	}
	_ = v.String()
}

// checkBound fails if the values of an event exceed the multiple of its payload that Event.Fields states. A byte of a
// string becomes at most 3 bytes of UTF-8. Errors print as more bytes than they take in the payload: there are fewer of
// them. A value that contains others has at least one byte or is charged like one, and values without bytes after the
// end of the payload exist once per type.
func (w *walker) checkBound(layout []ntconv.Field) {
	w.t.Helper()
	bytes := 17*len(w.payload) + 4096
	nodes, depth := measure(layout)
	if limit := 3 * bytes; w.content > limit {
		w.t.Fatalf("%d bytes of content in a payload of %d bytes, want at most %d", w.content, len(w.payload), limit)
	}
	if limit := len(w.payload)/2 + 64 + 2*nodes; w.errors > limit {
		w.t.Fatalf("%d errors in a payload of %d bytes, want at most %d", w.errors, len(w.payload), limit)
	}
	if limit := (depth + 1) * (bytes + 2*nodes); w.values > limit {
		w.t.Fatalf("%d values in a payload of %d bytes, want at most %d", w.values, len(w.payload), limit)
	}
}

// measure returns the number of types in the fields and how deeply they nest.
func measure(layout []ntconv.Field) (nodes, depth int) {
	for i := range layout {
		levels := 0
		for t := &layout[i].Type; t != nil; t = t.Elem {
			levels++
			nodes++
			n, d := measure(t.Fields)
			nodes, depth = nodes+n, max(depth, levels+d)
		}
		depth = max(depth, levels)
	}
	return nodes, depth
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
