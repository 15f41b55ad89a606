package wiretest

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv/internal/trace/wire"
)

// Generators of rows as writers produce them: Append can represent each row, and Parse restores it.

// Text generates strings with and without characters outside ASCII and the BMP, but without NUL, which UTF-16Z cannot
// represent.
func Text() *rapid.Generator[string] {
	r := rapid.OneOf(rapid.RuneFrom([]rune("abĀĠ中😀\ufffd ")), rapid.Rune())
	return rapid.Map(rapid.StringOfN(r, 0, 12, -1), func(s string) string { return strings.ReplaceAll(s, "\x00", "") })
}

// Extra generates bytes of a later format version, or nil.
func Extra() *rapid.Generator[[]byte] {
	return rapid.OneOf(rapid.Just[[]byte](nil), rapid.SliceOfN(rapid.Byte(), 1, 9))
}

// ID generates 16 bytes.
func ID() *rapid.Generator[[16]byte] {
	return rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) [16]byte { return [16]byte(b) })
}

// KeyValues generates pairs, or nil.
func KeyValues() *rapid.Generator[[]wire.KeyValue] {
	return rapid.Custom(func(t *rapid.T) (kvs []wire.KeyValue) {
		for range rapid.IntRange(0, 3).Draw(t, "pairs") {
			kvs = append(kvs, wire.KeyValue{Key: Text().Draw(t, "key"), Value: Text().Draw(t, "value")})
		}
		return kvs
	})
}

// fieldType generates a type with at most the given nesting, using the type codes of since.
func fieldType(depth int, since func(wire.TypeSpec) bool, extra *rapid.Generator[[]byte]) *rapid.Generator[wire.Type] {
	return rapid.Custom(func(t *rapid.T) (ty wire.Type) {
		var codes []wire.TypeCode
		for i, s := range wire.TypeCodes {
			nests := s.Elem || wire.TypeCode(i) == wire.TypeObject
			if s.Name != "" && since(s) && (depth > 1 || !nests) {
				codes = append(codes, wire.TypeCode(i))
			}
		}
		ty.Code = rapid.SampledFrom(codes).Draw(t, "code")
		switch {
		case ty.Code == wire.TypeObject:
			ty.Fields = Fields(depth-1, since, extra).Draw(t, "fields")
		case ty.Code == wire.TypeRelLoc || ty.Code == wire.TypeDataLoc:
			elem := fieldType(depth-1, since, extra).Filter(func(ty wire.Type) bool {
				n, ok := ty.FixedSize()
				return ok && n > 0
			}).Draw(t, "element")
			ty.Elem = &elem
		case ty.Code.Spec().Elem:
			elem := fieldType(depth-1, since, extra).Draw(t, "element")
			ty.Elem = &elem
		}
		if ty.Code == wire.TypeFixedLengthArray {
			ty.Count = rapid.Uint16().Draw(t, "count")
		}
		return ty
	})
}

// Fields generates a field list, or nil.
func Fields(depth int, since func(wire.TypeSpec) bool, extra *rapid.Generator[[]byte]) *rapid.Generator[[]wire.Field] {
	return rapid.Custom(func(t *rapid.T) (fields []wire.Field) {
		for range rapid.IntRange(0, 3).Draw(t, "fields") {
			fields = append(fields, wire.Field{
				Name:  Text().Draw(t, "name"),
				Type:  fieldType(depth, since, extra).Draw(t, "type"),
				Extra: extra.Draw(t, "extra"),
			})
		}
		return fields
	})
}

// SinceV6 permits every type code, SinceV5 those of V2Params, SinceV4 those of V1 fields.
func SinceV6(wire.TypeSpec) bool   { return true }
func SinceV5(s wire.TypeSpec) bool { return s.Since <= wire.V5 }
func SinceV4(s wire.TypeSpec) bool { return s.Since <= wire.V4 }

// Header generates an event header whose fields often equal those of prev, which compression exploits.
func Header(prev wire.EventHeader, v6 bool) *rapid.Generator[wire.EventHeader] {
	return rapid.Custom(func(t *rapid.T) wire.EventHeader {
		h := prev
		h.Sequence++
		h.Time += rapid.OneOf(rapid.Uint64Range(0, 1000), rapid.Uint64()).Draw(t, "time")
		h.Sorted = rapid.Bool().Draw(t, "sorted")
		maybe := func(set func()) {
			if rapid.Bool().Draw(t, "changes") {
				set()
			}
		}
		u32 := rapid.OneOf(rapid.Uint32Range(0, 300), rapid.Uint32())
		maybe(func() { h.MetadataID = u32.Draw(t, "metadata") >> 1 })
		maybe(func() { h.Sequence = u32.Draw(t, "sequence") })
		maybe(func() { h.CaptureThread = rapid.Uint64().Draw(t, "capture") })
		maybe(func() { h.CPU = rapid.OneOf(u32, rapid.Just[uint32](wire.NoCPU)).Draw(t, "cpu") })
		maybe(func() { h.Thread = rapid.Uint64().Draw(t, "thread") })
		maybe(func() { h.StackID = u32.Draw(t, "stack") })
		maybe(func() { h.PayloadSize = u32.Draw(t, "size") })
		if v6 {
			maybe(func() { h.LabelList = u32.Draw(t, "labels") })
		} else {
			maybe(func() { h.Activity = ID().Draw(t, "activity") })
			maybe(func() { h.Related = ID().Draw(t, "related") })
		}
		return h
	})
}
