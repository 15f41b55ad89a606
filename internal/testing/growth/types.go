package growth

import (
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// typeInputs returns generators of many types or fields.
func typeInputs() []Input {
	return []Input{
		traceInput("fields-chars", 2000, func(t *trace, n int) {
			t.event(t.typ("P", 1, "E", 0, wire.Field{Name: "s", Type: wire.Type{Code: wire.TypeUTF16String}}), bin.AppendUTF16Z(nil, odd(n)))
		}),
		traceInput("fields-name-long", 2000, func(t *trace, n int) {
			t.event(t.typ(odd(n), 1, odd(n), 0, field(odd(n), wire.TypeByte), field(odd(n), wire.TypeByte)), make([]byte, 2))
		}),
	}
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
