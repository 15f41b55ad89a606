package schema

import (
	"github.com/ntconv/ntconv"
)

// Describe returns a source that replaces the Type of each event of src by one with the name, opcode and fields of its
// schema. Event.Field and Event.Fields then also work on events of the runtime. Events with equal type and version have
// the same *Type. Describe also replaces types in declarations (KindDefine); these events have no payload, so they
// have no fields.
//
// The source does not modify the events of src. Its own Event is borrowed until its next call of Next. Two properties
// of Schema.Values are not part of a Type: the fields inside the data of a GCDynamicEvent, and that an event of a
// managed provider without a payload has no fields.
func Describe(src ntconv.Source) ntconv.Source {
	return &describer{Source: src, fields: func(s *Schema, _ int) []ntconv.Field { return s.Fields }}
}

// DescribeForFile is Describe for events that are written to a nettrace file: fields have only types that the metadata
// of a file can express, and types that already have fields keep them.
//
// Pointers become unsigned integers of the process's pointer size. A description ends before the first field that
// cannot be expressed: a NUL-terminated string of 8-bit characters, an array counted by an earlier field, or padding
// that depends on the pointer size. Payloads do not change, so readers find bytes after the last described field. When
// such a file is read, the schema of the type has all fields again.
func DescribeForFile(src ntconv.Source) ntconv.Source {
	return &describer{Source: src, fields: fileFields, pointers: true}
}

// A describer is the source of Describe and DescribeForFile. typ is the described type for last, which is the latest
// key.
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

// A described is the key of a described type.
type described struct {
	s           *Schema
	pointerSize int // 0 if the fields do not depend on it
}

// Next returns the next event with its described type.
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

// pointerSize returns the pointer size for the payload of an event, or for the payloads of a declared type.
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

// describe returns a type with the schema's name and opcode and the given fields. It returns the schema's own type if
// that has them already.
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

// sameFields reports whether two slices are identical.
func sameFields(a, b []ntconv.Field) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// fileFields returns the fields of a type for the metadata of a file.
func fileFields(s *Schema, pointerSize int) []ntconv.Field {
	if len(s.typ.Fields) > 0 {
		return s.typ.Fields
	}
	fields, _ := expressible(s.Fields, pointerSize)
	return fields
}

// expressible returns the fields before the first one that the metadata of a file cannot express, and reports whether
// these are all fields.
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
