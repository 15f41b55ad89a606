package wiretext

import (
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// typeName returns a type in the form "Array(FixedLengthArray(Int32,3))". The fields of an object are separate lines.
func typeName(t *wire.Type) string {
	name := t.Code.String()
	if !t.Code.Spec().Elem {
		return name
	}
	name += "(" + typeName(t.Elem)
	if t.Code == wire.TypeFixedLengthArray {
		name += "," + strconv.Itoa(int(t.Count))
	}
	return name + ")"
}

// objectFields returns the fields of the object that a type ends in.
func objectFields(t *wire.Type) []wire.Field {
	for t.Elem != nil {
		t = t.Elem
	}
	return t.Fields
}

// printFields prints a field list below n. A type that cannot be parsed is printed as bytes.
func printFields(n *node, word string, fields []wire.Field) {
	for i := range fields {
		f := &fields[i]
		k := n.kid(word)
		k.put("", quoted(f.Name))
		if !f.Opaque {
			k.put("", bare(typeName(&f.Type)))
			printFields(k, word, objectFields(&f.Type))
		}
		k.hex("extra", f.Extra)
	}
}

// fields is the inverse of printFields.
func (a *assembler) fields(n *node, word string) (fields []wire.Field) {
	for _, k := range n.kids {
		if k.word != word {
			continue
		}
		f := wire.Field{Name: a.str(k), Opaque: true}
		if v := a.arg(k, ""); v != nil {
			f.Opaque = false
			f.Type = a.parseType(k, v.atoms[0].text, a.fields(k, word))
		}
		f.Extra = a.hex(k, "extra")
		a.done(k, word)
		fields = append(fields, f)
	}
	return fields
}

// parseType is the inverse of typeName.
func (a *assembler) parseType(n *node, name string, fields []wire.Field) (t wire.Type) {
	name, inner, nested := strings.Cut(name, "(")
	for i, s := range wire.TypeCodes {
		if s.Name == name && name != "" {
			t.Code = wire.TypeCode(i)
		}
	}
	if t.Code == 0 || nested != t.Code.Spec().Elem {
		a.fail(n, "%q is not a type", name)
		return wire.Type{Code: wire.TypeByte}
	}
	if t.Code == wire.TypeObject {
		t.Fields = fields
	}
	if !nested {
		return t
	}
	inner = strings.TrimSuffix(inner, ")")
	if t.Code == wire.TypeFixedLengthArray {
		comma := strings.LastIndexByte(inner, ',')
		t.Count = uint16(a.parseNum(n, inner[comma+1:], 16))
		inner = inner[:max(comma, 0)]
	}
	elem := a.parseType(n, inner, fields)
	t.Elem = &elem
	return t
}

// printMetadata prints the rows of a version 6 metadata block.
func printMetadata(n *node, c *bin.Cursor) error {
	header, err := wire.ParseMetadataHeader(c)
	n.hex("header", header)
	for c.Len() > 0 {
		before := *c
		row := c.Sub(int(c.U16()))
		k := &node{word: "row"}
		k.put("", bare(strconv.FormatUint(uint64(row.Varuint32()), 10)))
		k.put("", quoted(row.String()))
		k.put("", bare(strconv.FormatUint(uint64(row.Varuint32()), 10)))
		k.put("", quoted(row.String()))
		// An error in a type leaves a field without a type, which has its own line.
		fields, _ := wire.ParseFields(&row, wire.Limits{})
		printFields(k, "field", fields)
		optional := row.Sub(int(row.U16()))
		printAttrs(k, &optional, wire.OptionalKinds[:], "optional")
		k.hex("extra", row.Rest())
		if row.Err() != nil || optional.Err() != nil {
			*c = before
			break
		}
		n.kids = append(n.kids, k)
	}
	return err
}

func (a *assembler) buildMetadata(n *node) []string {
	a.out = wire.AppendMetadataHeader(a.out, a.hex(n, "header"))
	return a.rows(n, "row", func(k *node) {
		a.sized(k, "size", func() {
			a.out = bin.AppendVaruint(a.out, a.num(k, "", 32, 0))
			a.out = bin.AppendString(a.out, a.str(k))
			a.out = bin.AppendVaruint(a.out, a.num(k, "", 32, 0))
			a.out = bin.AppendString(a.out, a.str(k))
			var err error
			if a.out, err = wire.AppendFields(a.out, a.fields(k, "field")); err != nil {
				a.fail(k, "%w", err)
			}
			a.sized(k, "optionalsize", func() {
				a.buildAttrs(k, wire.OptionalKinds[:], false)
				a.out = append(a.out, a.hex(k, "optional")...)
			})
			a.out = append(a.out, a.hex(k, "extra")...)
		})
	})
}
