package schema

import (
	"github.com/ntconv/ntconv"
)

// Describe returns a source that gives every event of src a Type with the name, the opcode and the fields of its
// schema, so that Event.Field and Event.Fields work on events of the runtime too. Events of equal type and version have
// the same *Type. Declarations of types (KindDefine) are described as well; they have no payload, so their fields are
// ValueNull.
//
// The source does not change the events of src. Its own Event is borrowed until the next call of its Next. Two things
// that Schema.Values knows are not in a Type: the fields inside the data of a GCDynamicEvent, and that an event of a
// managed provider without a payload has no fields.
func Describe(src ntconv.Source) ntconv.Source {
	return &describer{Source: src, fields: func(s *Schema, _ int) []ntconv.Field { return s.Fields }}
}

// DescribeForFile is Describe for events that are written to a nettrace file: fields have only types that its metadata
// can express, and types with fields in their metadata keep those.
//
// Pointers become unsigned integers of the process's pointer size. A description ends before the first field that
// cannot be expressed: a string of 8-bit characters that ends with a zero, an array that an earlier field counts, and
// padding that depends on the pointer size. Payloads do not change, so readers find bytes after the last described
// field. Schemas of such a type have all fields again.
func DescribeForFile(src ntconv.Source) ntconv.Source {
	return &describer{Source: src, fields: fileFields, pointers: true}
}

// describer is the source of Describe and DescribeForFile.
type describer struct {
	ntconv.Source
	fields   func(s *Schema, pointerSize int) []ntconv.Field
	pointers bool // fields depends on the pointer size

	table Table
	types map[described]*ntconv.Type
	last  described
	typ   *ntconv.Type
	event ntconv.Event
}

// described is what a described type depends on.
type described struct {
	s           *Schema
	pointerSize int // 0 if it does not matter
}

// Next returns the next event with a described type.
func (d *describer) Next() (*ntconv.Event, error) {
	e, err := d.Source.Next()
	if err != nil || e.Type == nil {
		return e, err
	}
	key := described{s: d.table.Of(e)}
	if d.pointers {
		key.pointerSize = d.pointerSize(e)
	}
	if key != d.last {
		d.last, d.typ = key, d.typeFor(key)
	}
	if d.typ == e.Type {
		return e, nil
	}
	d.event = *e
	d.event.Type = d.typ
	return &d.event, nil
}

// pointerSize returns the size of pointers in the payload of an event, or in those of a declared type.
func (d *describer) pointerSize(e *ntconv.Event) int {
	if e.Thread == nil && d.Source.Info().PointerSize == 4 {
		return 4
	}
	return e.PointerSize()
}

func (d *describer) typeFor(key described) *ntconv.Type {
	if t := d.types[key]; t != nil {
		return t
	}
	if d.types == nil {
		d.types = make(map[described]*ntconv.Type)
	}
	t := key.s.describe(d.fields(key.s, key.pointerSize))
	d.types[key] = t
	return t
}

// describe returns the schema's type with its name, opcode and these fields: the type itself if it has them.
func (s *Schema) describe(fields []ntconv.Field) *ntconv.Type {
	t := s.typ
	if t.Name == s.Name && t.Opcode == s.Opcode && t.Version == s.Version && sameFields(t.Fields, fields) {
		return t
	}
	return &ntconv.Type{
		Provider: t.Provider, GUID: t.GUID, ID: t.ID, Name: s.Name, Version: s.Version, Level: t.Level, Opcode: s.Opcode,
		HasOpcode: t.HasOpcode ||
			s.Opcode != 0, Keywords: t.Keywords, Fields: fields, Message: t.Message, Description: t.Description,
		Attrs: t.Attrs, Extra: t.Extra, OptionalExtra: t.OptionalExtra,
	}
}

// sameFields reports whether two slices are one.
func sameFields(a, b []ntconv.Field) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// fileFields returns the fields of a type for a nettrace file.
func fileFields(s *Schema, pointerSize int) []ntconv.Field {
	if len(s.typ.Fields) > 0 {
		return s.typ.Fields
	}
	fields, _ := expressible(s.Fields, pointerSize)
	return fields
}

// expressible returns the fields up to the first one that the metadata of a file cannot express, and whether there is
// none.
func expressible(fields []ntconv.Field, pointerSize int) ([]ntconv.Field, bool) {
	out := make([]ntconv.Field, 0, len(fields))
	for _, f := range fields {
		t, ok := expressibleType(f.Type, pointerSize)
		if !ok {
			return out, false
		}
		out = append(out, ntconv.Field{Name: f.Name, Type: t})
	}
	return out, true
}

func expressibleType(t ntconv.FieldType, pointerSize int) (out ntconv.FieldType, ok bool) {
	switch t.Code {
	case ntconv.TypePointer:
		if t.Code = ntconv.TypeUint64; pointerSize == 4 {
			t.Code = ntconv.TypeUint32
		}
		return t, true
	case ntconv.TypeANSIString, ntconv.TypePad64, ntconv.TypeCounted, ntconv.TypeRest:
		return t, false
	}
	if t.Elem != nil {
		elem, ok := expressibleType(*t.Elem, pointerSize)
		if !ok {
			return t, false
		}
		t.Elem = &elem
	}
	t.Fields, ok = expressible(t.Fields, pointerSize)
	return t, ok
}
