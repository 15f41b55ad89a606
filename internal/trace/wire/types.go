package wire

import (
	"fmt"
	"math"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// A typeParser reads the field list of one metadata row. It keeps the first error and continues, because each field is
// framed by its size.
type typeParser struct {
	limits Limits
	left   int // fields that the row may still have
	err    error
}

func newTypeParser(limits Limits) typeParser {
	limits = limits.WithDefaults()
	return typeParser{limits: limits, left: limits.Fields}
}

// note keeps err if it is the first error.
func (p *typeParser) note(err error) {
	if p.err == nil {
		p.err = err
	}
}

// ParseFields reads the field list ("FieldDescriptions") of a metadata row, or of an object in it. The errors are those
// of [ParseMetadata].
func ParseFields(c *bin.Cursor, limits Limits) ([]Field, error) {
	p := newTypeParser(limits)
	fields := p.fields(c, 1)
	p.note(c.Err())
	return fields, p.err
}

// minField is the length in bytes of the shortest field: its size and an empty name.
const minField = 3

func (p *typeParser) fields(c *bin.Cursor, depth int) (fields []Field) {
	n := int(c.At("FieldCount").U16())
	if room := min(n, c.Len()/minField, p.left); room > 0 {
		fields = make([]Field, 0, room)
	}
	for ; n > 0 && c.Err() == nil; n-- {
		if p.left--; p.left < 0 {
			c.Fail("FieldCount", TooManyFields(p.limits.Fields, int64(p.limits.Fields)+1))
			break
		}
		fc := c.At("Field/Size").Sub(int(c.U16()))
		if c.Err() != nil {
			break
		}
		fields = append(fields, p.field(&fc, depth))
	}
	return fields
}

func (p *typeParser) field(c *bin.Cursor, depth int) (f Field) {
	f.Name = p.name(c, "Field/Name")
	at := *c
	var err error
	if f.Type, err = p.parse(c, depth); err != nil {
		p.note(err)
		f.Type = Type{Code: f.Type.Code}
		f.Opaque = true
		*c = at
	}
	f.Extra = c.Rest()
	return f
}

// name reads a name. It fails without decoding a name that exceeds the limit.
func (p *typeParser) name(c *bin.Cursor, where string) string {
	peek := *c
	if n := len(peek.StringBytes()); n > p.limits.Name {
		c.Fail(where, NameTooLong(p.limits.Name, n, "bytes"))
	}
	return c.At(where).String()
}

// parse reads a type ("Type"). It notes errors in fields of objects, which affect only these fields, and returns all
// others.
func (p *typeParser) parse(c *bin.Cursor, depth int) (t Type, err error) {
	at := *c
	t.Code = TypeCode(c.At("Field/TypeCode").U8())
	spec := t.Code.Spec()
	switch {
	case c.Err() != nil:
		return t, c.Err()
	case spec.Name == "":
		at.Fail("Field/TypeCode", fmt.Errorf("%w: type code %d", bin.ErrUnknown, t.Code))
		return t, at.Err()
	case depth > p.limits.Depth:
		at.Fail("Field/TypeCode", TooDeep(p.limits.Depth, depth))
		return t, at.Err()
	case t.Code == TypeObject:
		t.Fields = p.fields(c, depth+1)
	case spec.Elem:
		elem, err := p.parse(c, depth+1)
		if err != nil {
			return t, err
		}
		t.Elem = &elem
	}
	switch t.Code {
	case TypeFixedLengthArray:
		t.Count = c.At("Field/ElementCount").U16()
	case TypeRelLoc, TypeDataLoc:
		if n, ok := t.Elem.FixedSize(); !ok || n == 0 {
			at.Fail("Field/ElementType",
				fmt.Errorf("%w: %v of %v, want elements of a fixed size", bin.ErrValue, t.Code, t.Elem.Code))
			return t, at.Err()
		}
	}
	return t, c.Err()
}

// AppendFields is the inverse of [ParseFields]. More than 65,535 fields, or a field above 65,535 bytes, is ErrLimit.
func AppendFields(dst []byte, fields []Field) ([]byte, error) {
	if len(fields) > math.MaxUint16 {
		return dst, &bin.LimitError{Limit: LimitRowFields, Value: math.MaxUint16, Asked: int64(len(fields))}
	}
	dst = bin.AppendU16(dst, uint16(len(fields)))
	for i := range fields {
		f := &fields[i]
		start := len(dst)
		dst = bin.AppendString(append(dst, 0, 0), f.Name)
		if !f.Opaque {
			var err error
			if dst, err = appendType(dst, &f.Type); err != nil {
				return dst[:start], err
			}
		}
		var err error
		if dst, err = patchSize(append(dst, f.Extra...), start, LimitField); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func appendType(dst []byte, t *Type) (_ []byte, err error) {
	dst = append(dst, byte(t.Code))
	if t.Code == TypeObject {
		return AppendFields(dst, t.Fields)
	}
	if t.Code.Spec().Elem {
		if dst, err = appendType(dst, t.Elem); err != nil {
			return dst, err
		}
	}
	if t.Code == TypeFixedLengthArray {
		dst = bin.AppendU16(dst, t.Count)
	}
	return dst, nil
}
