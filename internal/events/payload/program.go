package payload

import (
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/layout"
	"github.com/ntconv/ntconv/schema"
)

// A Cell is the value of a field, prepared for a column.
type Cell struct {
	// Kind is ValueNull for padding and for fields that cannot be decoded.
	Kind ntconv.ValueKind
	// Bits is a bool as 0 or 1, an integer as 64 bits, a float as math.Float64bits, or a time in units of 100 ns since
	// 1601-01-01 UTC.
	Bits uint64
	// Bytes is a string in UTF-8 or a GUID in text form, both aliasing the text that Read returns, or bytes of the
	// payload.
	Bytes []byte
}

// A Program decodes payloads of one schema field by field. It is not safe for concurrent use. Each call of Read
// replaces values and event; Value, AppendJSON and AppendData refer to them.
type Program struct {
	schema *schema.Schema
	plans  [2]*plan       // for pointers of 4 and 8 bytes
	flat   bool           // readFlat supports all fields: no lists, objects or open sizes
	values []ntconv.Value // lists and objects, by field
	event  ntconv.Event   // the latest payload that readValues decoded, with the type of the schema
	names  memberNames
}

// Compile returns a Program for the payloads of a schema. Read returns one cell per element of s.Fields.
func Compile(s *schema.Schema) *Program {
	p := &Program{
		schema: s,
		plans:  [2]*plan{newPlan(s.Fields, 4), newPlan(s.Fields, 8)},
		values: make([]ntconv.Value, len(s.Fields)),
		names:  memberNames{},
	}
	p.event.Type = &ntconv.Type{Provider: s.Provider, ID: s.ID, Version: s.Version, Fields: s.Fields}
	p.event.Thread = &ntconv.Thread{Process: new(ntconv.Process)}
	p.flat = p.plans[1].Plain && !s.HasOpenSizes() && !s.IsDynamic()
	for i := range p.plans[1].Members {
		p.flat = p.flat && p.plans[1].Members[i].Op < layout.Object
	}
	return p
}

// Read sets cells to the fields of a payload and returns them, without the cells of fields after its end. There must be
// one cell per field of the schema. pointerSize is 4 or 8 bytes. Read appends strings and GUIDs to text, and returns
// the extended text, to which the cells refer. Bytes refer to the payload. For lists and objects a cell has only the
// kind: Value and AppendJSON return the contents. err is the error of the first field that cannot be decoded; all other
// cells are valid. Read allocates only to extend text.
func (p *Program) Read(cells []Cell, text, payload []byte, pointerSize int) (_ []Cell, _ []byte, err error) {
	cells = cells[:len(p.schema.Fields)]
	pl := p.plans[1]
	if pointerSize == 4 {
		pl = p.plans[0]
	}
	if p.flat && len(payload) >= pl.Min {
		if more, ok := readFlat(pl.Members, cells, text, payload); ok {
			return cells, more, nil
		}
	}
	return p.readValues(cells, text, payload, pointerSize)
}

// readFlat is the fast path of Read for a payload with all fields. If it returns false, its other results are
// undefined.
func readFlat(members []node, cells []Cell, text, b []byte) (_ []byte, ok bool) {
	for i := range members {
		n, c := &members[i], &cells[i]
		size := int(n.Size)
		if size > len(b) {
			return text, false
		}
		c.Bytes = nil
		switch n.Op {
		case layout.Uint:
			c.Kind, c.Bits = ntconv.ValueUint, layout.Number(layout.Uint, b[:size])
		case layout.Int:
			c.Kind, c.Bits = ntconv.ValueInt, layout.Number(layout.Int, b[:size])
		case layout.UTF16:
			units, rest, found := bin.CutUTF16(b)
			if !found {
				return text, false
			}
			start := len(text)
			text = bin.DecodeUTF16(text, units)
			c.Kind, c.Bits, c.Bytes = ntconv.ValueString, 0, text[start:len(text):len(text)]
			b = rest
		default:
			if text, size, ok = readOther(n, c, text, b); !ok {
				return text, false
			}
		}
		b = b[size:]
	}
	return text, true
}

// readOther reads a value that is neither an integer of fixed size nor UTF-16, and returns its size in bytes.
func readOther(n *node, c *Cell, text, b []byte) (_ []byte, size int, ok bool) {
	if size = int(n.Size); size > 0 {
		b = b[:size]
	} else if b, size, ok = n.Leaf(b); !ok {
		return text, 0, false
	}
	c.Bits = 0
	start := len(text)
	switch n.Op {
	case layout.Float:
		c.Kind, c.Bits = ntconv.ValueFloat, layout.Number(n.Op, b)
		if size == 4 {
			c.Bits = math.Float64bits(float64(math.Float32frombits(uint32(c.Bits))))
		}
	case layout.VarUint:
		c.Kind = ntconv.ValueUint
		c.Bits, _ = layout.Varint(n.Op, b)
	case layout.VarInt:
		c.Kind = ntconv.ValueInt
		c.Bits, _ = layout.Varint(n.Op, b)
	case layout.Time:
		c.Kind, c.Bits = ntconv.ValueTime, layout.Number(n.Op, b)
	case layout.Bool:
		if c.Kind = ntconv.ValueBool; layout.Number(n.Op, b) != 0 {
			c.Bits = 1
		}
	case layout.Pad:
		c.Kind = ntconv.ValueNull
	case layout.Rest, layout.Decimal:
		c.Kind, c.Bytes = ntconv.ValueBytes, b
	case layout.GUID:
		c.Kind, text = ntconv.ValueGUID, ntconv.GUID(b).Append(text)
	case layout.Unit16:
		c.Kind, text = ntconv.ValueString, bin.DecodeUTF16(text, b)
	default:
		c.Kind, text = ntconv.ValueString, bin.DecodeLatin1(text, b)
	}
	if c.Kind == ntconv.ValueString || c.Kind == ntconv.ValueGUID {
		c.Bytes = text[start:len(text):len(text)]
	}
	return text, size, true
}

// readValues is the slow path of Read, for any payload.
func (p *Program) readValues(cells []Cell, text, payload []byte, pointerSize int) (_ []Cell, _ []byte, err error) {
	p.event.Payload, p.event.Thread.Process.PointerSize = payload, uint8(pointerSize)
	i := 0
	for _, v := range p.schema.Values(&p.event) {
		if i == len(cells) {
			break // all others are named by the payload of a GCDynamicEvent
		}
		c := &cells[i]
		*c = Cell{Kind: v.Kind()}
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
		case ntconv.ValueError:
			if c.Kind = ntconv.ValueNull; err == nil {
				err = v.Err()
			}
		default:
			p.values[i] = v
		}
		i++
	}
	return cells[:i], text, err
}

// Value returns the list or object of field i in the payload that Read has decoded last. It borrows that payload.
func (p *Program) Value(i int) ntconv.Value { return p.values[i] }

// AppendJSON appends the list or object of field i in the payload that Read has decoded last to dst, in the format of
// the Encoder.
func (p *Program) AppendJSON(dst []byte, i int) []byte {
	return appendValue(dst, &p.plans[1].Members[i], p.values[i], math.MaxInt)
}

// AppendData appends as a JSON object the fields that the payload itself names, which follow the fields of the schema
// of a GCDynamicEvent with a known data layout. The payload is the one that Read has decoded last. AppendData appends
// nothing if there are no such fields.
func (p *Program) AppendData(dst []byte) []byte {
	if !p.schema.IsDynamic() {
		return dst
	}
	i, start := 0, len(dst)
	for f, v := range p.schema.Values(&p.event) {
		if i++; i <= len(p.schema.Fields) {
			continue
		}
		dst = append(dst, ',')
		if len(dst) == start+1 {
			dst[start] = '{'
		}
		n := p.names.node(f, nil, nil)
		dst = appendValue(append(dst, n.Info.name...), n, v, math.MaxInt)
	}
	if len(dst) > start {
		dst = append(dst, '}')
	}
	return dst
}
