package wire_test

import (
	"fmt"
	"testing"

	"github.com/ntconv/ntconv/internal/trace/wire"
)

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
