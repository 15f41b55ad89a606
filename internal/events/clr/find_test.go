package clr

import (
	"bytes"
	"iter"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
)

// values decodes an event by its layout.
func values(e *ntconv.Event) iter.Seq2[*ntconv.Field, ntconv.Value] {
	var fields []ntconv.Field
	if l := LayoutOf(e.Type, e.Version()); l != nil {
		fields = l.Fields
	}
	return ntconv.DecodeFields(fields, e.Payload, e.PointerSize())
}

// field is short for a field of a scalar type.
func field(name string, code ntconv.TypeCode) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: code}}
}

// mapping is a ProcessMapping as one-collect writes it, with its undeclared tail (universal, 9).
const mapping = "\x00\x80\x80\x80\x02\xff\xff\x83\x02\x80\x20\x14\x00/usr/local/bin/myapp\x01\x00\x00\x00\x00"

// FuzzLayouts decodes any payload with any layout: only fields after the end of the payload are missing, and all that
// decodes without an error encodes to the beginning of the payload.
func FuzzLayouts(f *testing.F) {
	all := allLayouts(f)
	for i := range all {
		f.Add(uint16(i), false, []byte("\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00a\x00\x00\x00b\x00\x00\x00c\x00\x00\x00"))
	}
	f.Fuzz(func(t *testing.T, i uint16, narrow bool, payload []byte) {
		l := all[int(i)%len(all)]
		e := event(l, payload)
		if narrow {
			e.Thread = &ntconv.Thread{Process: &ntconv.Process{PointerSize: 4}}
		}
		if len(payload) == 0 || LayoutOf(e.Type, e.Version()) != l {
			return
		}
		var all []ntconv.Value
		whole := true
		for f, v := range values(e) {
			all = append(all, v)
			whole = whole && complete(&f.Type, v)
		}
		if len(all) < len(l.Fields) {
			checkEnd(t, e, all)
		}
		checkViews(t, e)
		checkAgain(t, e, l.Fields[:len(all)], all, whole)
	})
}

// complete reports whether a decoded value has all its elements and members.
func complete(t *ntconv.FieldType, v ntconv.Value) bool {
	n := 0
	switch v.Kind() {
	case ntconv.ValueError:
		return false
	case ntconv.ValueNull:
		return t.Code == ntconv.TypePad64
	case ntconv.ValueList:
		for e := range v.Elems() {
			if !complete(t.Elem, e) {
				return false
			}
		}
	case ntconv.ValueObject:
		for f, m := range v.Fields() {
			if !complete(&f.Type, m) {
				return false
			}
			n++
		}
		return n == len(t.Fields)
	}
	return true
}

// checkEnd checks that fields are missing only because the payload ends: no value before them is an error, and with
// another byte there is another field.
func checkEnd(t *testing.T, e *ntconv.Event, all []ntconv.Value) {
	t.Helper()
	if i := slices.IndexFunc(all, func(v ntconv.Value) bool { return v.Kind() == ntconv.ValueError }); i >= 0 {
		t.Fatalf("decoding ends with field %d after the error of field %d", len(all), i)
	}
	longer, n := *e, 0
	longer.Payload = append(bytes.Clone(e.Payload), 0)
	for range values(&longer) {
		n++
	}
	if n <= len(all) {
		t.Fatalf("%d fields, and %d with another byte", len(all), n)
	}
}
