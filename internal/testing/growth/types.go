package growth

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// attributeInputs returns generators of traces with many attributes.
func attributeInputs() []Input {
	one := func(t *trace, _ int) { t.event(t.typ("P", 1, "E", 0, field("a", wire.TypeInt32)), make([]byte, 4)) }
	return []Input{
		attributesInput("attributes", 1000, func(n int) (list []wire.KeyValue) {
			for i := range n {
				list = append(list, wire.KeyValue{Key: fmt.Sprint("key", i), Value: "value"})
			}
			return list
		}, one),
		attributesInput("attributes-same-key", 1000, func(n int) (list []wire.KeyValue) {
			for i := range n {
				list = append(list, wire.KeyValue{Key: "key", Value: fmt.Sprint("value", i)})
			}
			return list
		}, one),
	}
}

// typeInputs returns generators of many types or fields.
func typeInputs() []Input {
	return []Input{
		traceInput("types", 500, func(t *trace, n int) {
			for i := range n {
				t.event(t.typ("P", uint32(i), fmt.Sprint("E", i), 0, field("a", wire.TypeInt32)), make([]byte, 4))
			}
		}),
		traceInput("types-providers", 500, func(t *trace, n int) {
			for i := range n {
				t.event(t.typ(fmt.Sprint("P", i), 1, "E", 0, field("a", wire.TypeInt32)), make([]byte, 4))
			}
		}),
		traceInput("types-same-name", 500, func(t *trace, n int) {
			for i := range n {
				t.event(t.typ("P", 1, "E", 0, field(fmt.Sprint("a", i), wire.TypeInt32)), make([]byte, 4))
			}
		}),
		traceInput("types-equal", 500, func(t *trace, n int) {
			for range n {
				t.event(t.typ("P", 1, "E", 0, field("a", wire.TypeInt32)), make([]byte, 4))
			}
		}),
		traceInput("types-versions", 500, func(t *trace, n int) {
			for i := range n {
				t.event(t.typ("P", 1, "E", uint8(i), field("a", wire.TypeInt32)), make([]byte, 4))
			}
		}),
		traceInput("types-unused", 500, func(t *trace, n int) {
			for i := range n {
				t.typ("P", uint32(i), fmt.Sprint("E", i), 0, field("a", wire.TypeInt32))
			}
			t.event(1, make([]byte, 4))
		}),
		traceInput("types-runtime", 500, func(t *trace, n int) {
			for range n {
				t.event(t.typ("Microsoft-Windows-DotNETRuntime", 1, "", 2), make([]byte, 30))
			}
		}),
		traceInput("fields", 1000, func(t *trace, n int) {
			t.event(t.wide(n, func(i int) string { return fmt.Sprint("field", i) }), make([]byte, n))
		}),
		traceInput("fields-equal", 1000, func(t *trace, n int) {
			t.event(t.wide(n, func(int) string { return "a" }), make([]byte, n))
		}),
		traceInput("fields-nameless", 1000, func(t *trace, n int) {
			t.event(t.wide(n, func(int) string { return "" }), make([]byte, n))
		}),
		traceInput("fields-missing", 300, func(t *trace, n int) { // the payloads end before all fields but one
			id := t.wide(n, func(i int) string { return fmt.Sprint("field", i) })
			for range n {
				t.event(id, make([]byte, 1))
			}
		}),
		// These names are in use when the suffix of an equal name is chosen.
		traceInput("fields-colliding", 1000, func(t *trace, n int) {
			t.event(t.wide(n, func(i int) string {
				if i < n/2 {
					return fmt.Sprint("a_", i+n/2+2)
				}
				return "a"
			}), make([]byte, n))
		}),
		traceInput("fields-case", 1000, func(t *trace, n int) {
			t.event(t.wide(n, func(i int) string { return [...]string{"a", "A"}[i%2] }), make([]byte, n))
		}),
		traceInput("fields-objects", 300, func(t *trace, n int) { // objects with equal member names
			object := wire.Type{Code: wire.TypeObject, Fields: []wire.Field{
				field("a", wire.TypeByte), field("a", wire.TypeByte), field("a", wire.TypeByte), field("a_2", wire.TypeByte),
			}}
			fields := make([]wire.Field, n)
			for i := range fields {
				fields[i] = wire.Field{Name: "o", Type: object}
			}
			t.event(t.typ("P", 1, "E", 0, fields...), make([]byte, 4*n))
		}),
		traceInput("fields-array", 500, func(t *trace, n int) {
			object := wire.Type{Code: wire.TypeObject, Fields: []wire.Field{
				field("a", wire.TypeByte), field("a", wire.TypeByte), field("a", wire.TypeByte), field("a_2", wire.TypeByte),
			}}
			id := t.typ("P", 1, "E", 0, wire.Field{Name: "l", Type: wire.Type{Code: wire.TypeArray, Elem: &object}})
			t.event(id, append(bin.AppendU16(nil, uint16(n)), make([]byte, 4*n)...))
		}),
		traceInput("fields-located", 500, func(t *trace, n int) { // each field refers to the same bytes
			fields := make([]wire.Field, n)
			inner := wire.Type{Code: wire.TypeByte}
			array := wire.Type{Code: wire.TypeArray, Elem: &inner}
			var payload []byte
			for i := range fields {
				fields[i] = wire.Field{Name: fmt.Sprint("f", i), Type: wire.Type{Code: wire.TypeRelLoc, Elem: &array}}
				payload = bin.AppendU32(payload, uint32(n)<<16|uint32(4*(n-1-i)))
			}
			t.event(t.typ("P", 1, "E", 0, fields...), append(payload, make([]byte, n)...))
		}),
		traceInput("fields-chars", 2000, func(t *trace, n int) {
			t.event(t.typ("P", 1, "E", 0, wire.Field{Name: "s", Type: wire.Type{Code: wire.TypeUTF16String}}), bin.AppendUTF16Z(nil, odd(n)))
		}),
		traceInput("fields-name-long", 2000, func(t *trace, n int) {
			t.event(t.typ(odd(n), 1, odd(n), 0, field(odd(n), wire.TypeByte), field(odd(n), wire.TypeByte)), make([]byte, 2))
		}),
	}
}

// wide declares a type with n fields of one byte.
func (t *trace) wide(n int, name func(i int) string) uint32 {
	fields := make([]wire.Field, n)
	for i := range fields {
		fields[i] = field(name(i), wire.TypeByte)
	}
	return t.typ("P", 1, "E", 0, fields...)
}

// odd returns a string of n characters that formats escape, split or match.
func odd(n int) string {
	const chars = "a\"\\<\x01,é[ `]\u2028;&.(\t)"
	b := make([]rune, n)
	runes := []rune(chars)
	for i := range b {
		b[i] = runes[i%len(runes)]
	}
	return string(b)
}
