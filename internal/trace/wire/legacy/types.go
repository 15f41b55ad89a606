package legacy

import (
	"encoding/binary"
	"fmt"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// A typeParser reads the field lists of one metadata row.
type typeParser struct {
	limits wire.Limits
	left   int   // fields that the row may still have
	err    error // first error in a framed field
}

func newTypeParser(limits wire.Limits) typeParser {
	limits = limits.WithDefaults()
	return typeParser{limits: limits, left: limits.Fields}
}

// note keeps err if it is the first error.
func (p *typeParser) note(err error) {
	if p.err == nil {
		p.err = err
	}
}

// count reads a field count. A count above the limit fails. Callers append fields as they are parsed instead of
// allocating for the count, which may be wrong.
func (p *typeParser) count(c *bin.Cursor) int {
	at := *c
	n := c.At("FieldCount").I32()
	switch {
	case c.Err() != nil:
	case n < 0:
		at.Fail("FieldCount", fmt.Errorf("%w: %d, want 0 to %d", bin.ErrValue, n, p.left))
		*c = at
	case int(n) > p.left:
		at.Fail("FieldCount", wire.TooManyFields(p.limits.Fields, int64(p.limits.Fields-p.left)+int64(n)))
		*c = at
	default:
		p.left -= int(n)
		return int(n)
	}
	return 0
}

// name reads a name. It fails without decoding a name that exceeds the limit.
func (p *typeParser) name(c *bin.Cursor, where string) string {
	at := *c
	b := c.At(where).UTF16ZBytes()
	if n := len(b) / 2; n > p.limits.Name {
		at.Fail(where, wire.NameTooLong(p.limits.Name, n, "UTF-16 units"))
		*c = at
		return ""
	}
	return bin.UTF16String(b)
}

// fieldsV1 reads a V1 field list: type, then name.
func (p *typeParser) fieldsV1(c *bin.Cursor, depth int) (fields []wire.Field, err error) {
	for n := p.count(c); n > 0; n-- {
		var f wire.Field
		if f.Type, err = p.parse(c, depth, false); err != nil {
			return nil, err
		}
		f.Name = p.name(c, "Field/Name")
		if c.Err() != nil {
			break
		}
		fields = append(fields, f)
	}
	return fields, c.Err()
}

// fieldsV2 reads a V2 field list: size (which includes itself), name, type. The specification has a different order,
// but runtimes write this one.
func (p *typeParser) fieldsV2(c *bin.Cursor, depth int) (fields []wire.Field) {
	for n := p.count(c); n > 0 && c.Err() == nil; n-- {
		at := *c
		size := c.At("Field/Size").I32()
		if size < 4 && c.Err() == nil {
			at.Fail("Field/Size", fmt.Errorf("%w: %d, want 4 or more", bin.ErrValue, size))
			*c = at
		}
		fc := c.Sub(int(size) - 4)
		if c.Err() != nil {
			break
		}
		fields = append(fields, p.fieldV2(&fc, depth))
	}
	return fields
}

func (p *typeParser) fieldV2(c *bin.Cursor, depth int) (f wire.Field) {
	f.Name = p.name(c, "Field/Name")
	at := *c
	var err error
	if f.Type, err = p.parse(c, depth, true); err != nil {
		p.note(err)
		f.Type = wire.Type{Code: f.Type.Code}
		f.Opaque = true
		*c = at
	}
	f.Extra = c.Rest()
	return f
}

// parse reads a type and returns its error. V1 has no arrays.
func (p *typeParser) parse(c *bin.Cursor, depth int, v2 bool) (t wire.Type, err error) {
	at := *c
	code := c.At("Field/TypeCode").U32()
	t.Code = wire.TypeCode(min(code, 255))
	spec := t.Code.Spec()
	switch {
	case c.Err() != nil:
		return t, c.Err()
	case spec.Name == "" || spec.Since > wire.V5 || t.Code == wire.TypeArray && !v2:
		at.Fail("Field/TypeCode", fmt.Errorf("%w: type code %d", bin.ErrUnknown, int32(code)))
		return t, at.Err()
	case depth > p.limits.Depth:
		at.Fail("Field/TypeCode", wire.TooDeep(p.limits.Depth, depth))
		return t, at.Err()
	case t.Code == wire.TypeObject && v2:
		t.Fields = p.fieldsV2(c, depth+1)
	case t.Code == wire.TypeObject:
		t.Fields, err = p.fieldsV1(c, depth+1)
		return t, err
	case t.Code == wire.TypeArray:
		elem, err := p.parse(c, depth+1, v2)
		t.Elem = &elem
		return t, err
	}
	return t, c.Err()
}

func appendFieldsV1(dst []byte, fields []wire.Field) []byte {
	dst = bin.AppendU32(dst, uint32(len(fields)))
	for i := range fields {
		dst = appendType(dst, &fields[i].Type, appendFieldsV1)
		dst = bin.AppendUTF16Z(dst, fields[i].Name)
	}
	return dst
}

func appendFieldsV2(dst []byte, fields []wire.Field) []byte {
	dst = bin.AppendU32(dst, uint32(len(fields)))
	for i := range fields {
		f := &fields[i]
		start := len(dst)
		dst = bin.AppendUTF16Z(bin.AppendU32(dst, 0), f.Name)
		if !f.Opaque {
			dst = appendType(dst, &f.Type, appendFieldsV2)
		}
		dst = append(dst, f.Extra...)
		binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	}
	return dst
}

func appendType(dst []byte, t *wire.Type, fields func([]byte, []wire.Field) []byte) []byte {
	dst = bin.AppendU32(dst, uint32(t.Code))
	switch t.Code {
	case wire.TypeObject:
		return fields(dst, t.Fields)
	case wire.TypeArray:
		return appendType(dst, t.Elem, fields)
	}
	return dst
}
