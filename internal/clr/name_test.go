package clr

import (
	"iter"
	"strings"
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

func utf16z(s string) string {
	b, err := ntconv.AppendFields(nil, []ntconv.Field{field("", ntconv.TypeUTF16String)}, []ntconv.Value{ntconv.StringValue(s)}, 8)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// mapping is a ProcessMapping as one-collect writes it, with its undeclared tail (universal, 9).
const mapping = "\x00\x80\x80\x80\x02\xff\xff\x83\x02\x80\x20\x14\x00/usr/local/bin/myapp\x01\x00\x00\x00\x00"

func TestName(t *testing.T) {
	for _, c := range []struct {
		typ  ntconv.Type
		want string
	}{
		{ntconv.Type{Provider: Runtime, ID: 10, Version: 4}, "GCAllocationTick"},
		{ntconv.Type{Provider: Runtime, ID: 10, Name: "Tick"}, "Tick"},
		{ntconv.Type{Provider: Rundown, ID: 144, Version: 1}, "MethodDCEndVerbose"},
		{ntconv.Type{Provider: Runtime, ID: 144, Version: 2}, "MethodUnloadVerbose"},
		{ntconv.Type{Provider: SampleProfiler}, "ThreadSample"},
		{ntconv.Type{Provider: "System.Runtime", ID: 2}, "ProcessorCount"},
		{ntconv.Type{Provider: UniversalSystem, ID: 4}, "ProcessSymbol"},
		{ntconv.Type{Provider: UniversalEvents, ID: 1}, ""},
		{ntconv.Type{Provider: Runtime, ID: 9999}, ""},
		{ntconv.Type{Provider: "Shop", ID: 1}, ""},
	} {
		if got := Name(&ntconv.Event{Type: &c.typ}); got != c.want {
			t.Errorf("%s %d: %q, want %q", c.typ.Provider, c.typ.ID, got, c.want)
		}
	}
	if got := Name(&ntconv.Event{Kind: ntconv.KindMark}); got != "" {
		t.Errorf("a mark is called %q", got)
	}
}

// FuzzLayouts decodes any payload by any layout: it ends, with as many fields as the layout has, and whatever decodes
// without error encodes to the beginning of the payload again.
func FuzzLayouts(f *testing.F) {
	for i := range index {
		f.Add(uint16(i), false, []byte("\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00a\x00\x00\x00b\x00\x00\x00c\x00\x00\x00"))
	}
	f.Fuzz(func(t *testing.T, i uint16, narrow bool, payload []byte) {
		n := int(i) % len(index)
		p := 0
		for providers[p].last <= n {
			p++
		}
		l := load(p, n)
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
			whole = whole && v.Kind() != ntconv.ValueError && (v.Kind() != ntconv.ValueNull || f.Type.Code == ntconv.TypePad64) && !strings.Contains(show(v), "null")
		}
		if len(all) < len(l.Fields) {
			t.Fatalf("%d fields of %d", len(all), len(l.Fields))
		}
		checkViews(t, e)
		checkAgain(t, e, l, all[:len(l.Fields)], whole)
	})
}
