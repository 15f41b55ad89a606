package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ntconv/ntconv/internal/trace/wire"
)

// TestTables checks the invariants that the parsers need: names are unique, every defined code has a layout, and code 2
// of optional metadata and codes 0 and 2 of types are undefined.
func TestTables(t *testing.T) {
	defined := func(table string, n int, name func(int) string, want string) {
		t.Helper()
		seen := map[string]bool{}
		var codes []string
		for i := range n {
			s := name(i)
			if s == "" {
				continue
			}
			if seen[s] {
				t.Errorf("%s: name %q occurs twice", table, s)
			}
			seen[s] = true
			codes = append(codes, fmt.Sprint(i))
		}
		if got := strings.Join(codes, " "); got != want {
			t.Errorf("%s defines %s, want %s", table, got, want)
		}
	}
	defined("Kinds", len(wire.Kinds), func(i int) string { return wire.Kinds[i].Name }, "0 1 2 3 4 5 6 7 8")
	defined("TypeCodes", len(wire.TypeCodes), func(i int) string { return wire.TypeCodes[i].Name },
		"1 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26")
	for _, a := range []struct {
		name  string
		table []wire.AttrSpec
		want  string
	}{
		{"OptionalKinds", wire.OptionalKinds[:], "1 3 4 5 6 7 8 9"},
		{"ThreadKinds", wire.ThreadKinds[:], "1 2 3 4"},
		{"LabelKinds", wire.LabelKinds[:], "1 2 3 4 5 6 7 8 9 10"},
	} {
		defined(a.name, len(a.table), func(i int) string { return a.table[i].Name }, a.want)
		for i, s := range a.table {
			if (s.Shape == wire.ShapeNone) != (s.Name == "") || (s.Since == 0) != (s.Name == "") {
				t.Errorf("%s[%d] is half defined: %+v", a.name, i, s)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		got  fmt.Stringer
		want string
	}{
		{wire.V3, "netperf 3"},
		{wire.Version(9), "version 9"},
		{wire.KindSequencePoint, "SequencePoint"},
		{wire.Kind(99), "Block(99)"},
		{wire.TypeRelLoc, "RelLoc"},
		{wire.TypeCode(2), "Type(2)"},
		{wire.TypeCode(200), "Type(200)"},
		{wire.OptKeywords, "keywords"},
		{wire.OptionalKind(2), "kind 2"},
		{wire.ThreadTID, "tid"},
		{wire.LabelSpanID, "span"},
		{wire.LabelKind(11), "kind 11"},
	} {
		if tt.got.String() != tt.want {
			t.Errorf("%T: %q, want %q", tt.got, tt.got, tt.want)
		}
	}
}

func TestFixedSize(t *testing.T) {
	field := func(c wire.TypeCode) wire.Field { return wire.Field{Type: wire.Type{Code: c}} }
	array := func(c wire.TypeCode, n uint16, elem wire.Type) wire.Type {
		return wire.Type{Code: c, Count: n, Elem: &elem}
	}
	i32 := wire.Type{Code: wire.TypeInt32}
	huge := array(wire.TypeFixedLengthArray, 65535, array(wire.TypeFixedLengthArray, 65535, wire.Type{Code: wire.TypeGuid}))
	for _, tt := range []struct {
		name string
		t    wire.Type
		size int
		ok   bool
	}{
		{"int32", i32, 4, true},
		{"string", wire.Type{Code: wire.TypeUTF16String}, 0, false},
		{"varint", wire.Type{Code: wire.TypeVarInt}, 0, false},
		{"object", wire.Type{Code: wire.TypeObject, Fields: []wire.Field{field(wire.TypeByte), field(wire.TypeGuid)}}, 17, true},
		{"object with string", wire.Type{Code: wire.TypeObject, Fields: []wire.Field{field(wire.TypeUTF16String)}}, 0, false},
		{"object with opaque field", wire.Type{Code: wire.TypeObject, Fields: []wire.Field{{Type: i32, Opaque: true}}}, 0, false},
		{"int32[3]", array(wire.TypeFixedLengthArray, 3, i32), 12, true},
		{"int32[]", array(wire.TypeArray, 0, i32), 0, false},
		{"relloc", array(wire.TypeRelLoc, 0, i32), 4, true},
		{"beyond any payload", huge, 0, false},
	} {
		size, ok := tt.t.FixedSize()
		if ok != tt.ok || ok && size != tt.size {
			t.Errorf("%s: %d %v, want %d %v", tt.name, size, ok, tt.size, tt.ok)
		}
	}
}
