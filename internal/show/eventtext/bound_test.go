package eventtext

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
)

// The line of a payload whose locations share bytes is at most a multiple of its bytes, however the locations nest.
func TestLinesAreBounded(t *testing.T) {
	at := func(position, size, n int) []byte {
		return []byte(strings.Repeat(string(binary.LittleEndian.AppendUint32(nil, uint32(size)<<16|uint32(position))), n))
	}
	of := func(c ntconv.TypeCode, elem ntconv.FieldType) ntconv.FieldType {
		return ntconv.FieldType{Code: c, Elem: &elem}
	}
	i8 := ntconv.FieldType{Code: ntconv.TypeInt8}
	nested := i8
	for range 30 {
		nested = of(ntconv.TypeDataLoc, nested)
	}
	many := make([]ntconv.Field, 4096)
	for i := range many {
		many[i].Type = of(ntconv.TypeDataLoc, i8)
	}
	field := func(t ntconv.FieldType) []ntconv.Field { return []ntconv.Field{{Name: "a", Type: t}} }
	for _, c := range []struct {
		name    string
		fields  []ntconv.Field
		payload []byte
	}{
		{"locations of themselves", field(nested), at(0, 80, 20)},
		{"array of locations", field(of(ntconv.TypeArray, of(ntconv.TypeDataLoc, i8))), append([]byte{0x40, 0x1f}, at(0, 65000, 17000)...)},
		{"array of locations of locations", field(of(ntconv.TypeArray, of(ntconv.TypeDataLoc, of(ntconv.TypeDataLoc, i8)))), append([]byte{0x40, 0x1f}, at(2, 65000, 17000)...)},
		{"fields that share bytes", many, at(0, 65000, 17000)},
	} {
		e := &ntconv.Event{Type: &ntconv.Type{Provider: "P", Name: "E", Fields: c.fields}, Thread: &ntconv.Thread{Process: &ntconv.Process{}}, Payload: c.payload}
		p := New(ntconv.Clock{Freq: 1e9}, Options{})
		// A located byte prints as at most 5 characters, as in "-128,".
		limit := 128 * (len(c.payload) + 4096)
		if n := len(p.AppendText(nil, e)); n > limit {
			t.Errorf("%s: %d bytes of payload print as %d bytes of text, want at most %d", c.name, len(c.payload), n, limit)
		}
		if n := len(p.AppendJSON(nil, e)); n > limit {
			t.Errorf("%s: %d bytes of payload print as %d bytes of JSON, want at most %d", c.name, len(c.payload), n, limit)
		}
	}
}
