package stored

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// Provider is the provider of the events that store imported items. It is not ntconv, because a selection keeps all
// events of that provider regardless of their contents.
const Provider = "otlp"

// maxPayload is the maximum size of a payload in bytes. TraceEvent reads up to 65,535 bytes. dotnet-trace convert needs
// space for the event's header and extended data in the same 65,535 bytes, and fails with "Read past end of stream"
// otherwise.
const maxPayload = 65_000

// A Kind describes the events that store items of type T. An item is one event Name, with the labels TraceId and SpanId
// if the item has these IDs. Its payload has the fields of the OTLP message with their names in OTLP/JSON: Head, Lists,
// scope, resource and parts. IDs are hexadecimal digits. Strings are UTF-8 with a 16-bit length, because OTLP strings
// may contain NUL. The type and the value of an attribute are strings, so that every viewer can show them;
// span.Value.AppendText defines the strings.
//
// A payload has at most maxPayload bytes. A larger item begins with events NamePart that have the same time and labels.
// Their concatenated data is the payload of the item in the wide encoding (see Cursor). The last event is then only an
// abstract for display: its strings and lists are truncated, and parts is the number of NamePart events. All events of
// an item begin with Head, so that an expression such as name == "GET" selects all or none of them.
//
// TraceEvent and dotnet-trace support all type codes in use; they reject a whole file for an unknown code.
//
// A Kind is immutable. Its functions may be called from several goroutines.
type Kind[T any] struct {
	Name string // of the last event of an item; that of the others is Name + "Part"
	ID   uint32 // of that event; that of the others is ID + 1. It is unique among the kinds of all signals.

	Head, Lists []ntconv.Field
	// WriteHead appends the fields of Head, with strings truncated by Cut to size bytes.
	WriteHead func(p *Payload, v *T, size int)
	// WriteLists appends the fields of Lists.
	WriteLists func(p *Payload, v *T)
	// Abridge returns an item with the contents of Lists for an abstract: lists are short, and WriteLists appends at
	// most 20 KB. Abridged truncates attributes.
	Abridge func(v *T) T
	// ReadHead and ReadLists are the inverse of WriteHead and WriteLists. The item is one that Reset returned.
	ReadHead, ReadLists func(c *Cursor, v *T)
	// Reset returns an empty item that may reuse the slices of v.
	Reset func(v *T) T
	// Origin returns where an item stores what all items have.
	Origin func(v *T) Origin
}

// An Origin refers to the members of an item that all items have.
type Origin struct {
	Context  *span.Context // nil if items have no IDs
	Scope    **span.Scope
	Resource **span.Resource
	Process  **ntconv.Process // may be nil
	// Threads are the members that get the thread of an item that states one.
	Threads [2]**ntconv.Thread
}

// partSuffix ends the name of the events that precede the last event of a large item.
const partSuffix = "Part"

// Has reports whether events of type t store items of the kind or parts of them, by provider and name. Decode checks
// the layout. t may be nil.
func (k *Kind[T]) Has(t *ntconv.Type) bool {
	return t != nil && t.Provider == Provider && (t.Name == k.Name || t.Name == k.Name+partSuffix)
}

// IsPart reports whether events of type t hold parts of items of any kind, by provider and name. t may be nil.
func IsPart(t *ntconv.Type) bool {
	if t == nil || t.Provider != Provider || len(t.Name) <= len(partSuffix) {
		return false
	}
	return t.Name[len(t.Name)-len(partSuffix):] == partSuffix
}

// itemType returns the type of the last event of an item.
func (k *Kind[T]) itemType() *ntconv.Type {
	fields := slices.Concat(k.Head, k.Lists, []ntconv.Field{
		Object(
			"scope",
			Scalar("absent", ntconv.TypeVarUint),
			Text("name"),
			Text("version"),
			Text("schemaUrl"),
			Attributes(),
			Dropped("Attributes"),
		),
		Object(
			"resource",
			Scalar("absent", ntconv.TypeVarUint),
			Text("schemaUrl"),
			Attributes(),
			Dropped("Attributes"),
			List(
				"entityRefs",
				Text("schemaUrl"),
				Text("type"),
				Array("idKeys", Text("").Type),
				Array("descriptionKeys", Text("").Type),
			),
		),
		Scalar("parts", ntconv.TypeVarUint),
	})
	return &ntconv.Type{Provider: Provider, ID: k.ID, Name: k.Name, Fields: fields}
}

// partType returns the type of the events before the last. The field part numbers them from 0.
func (k *Kind[T]) partType() *ntconv.Type {
	fields := slices.Concat(k.Head, []ntconv.Field{
		Scalar("part", ntconv.TypeVarUint),
		Array("data", ntconv.FieldType{Code: ntconv.TypeUint8}),
	})
	return &ntconv.Type{Provider: Provider, ID: k.ID + 1, Name: k.Name + partSuffix, Fields: fields}
}

// Scalar returns a field of a type without parts.
func Scalar(name string, code ntconv.TypeCode) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: code}}
}

// Array returns a field that is a list, whose number of elements Payload.Count writes.
func Array(name string, elem ntconv.FieldType) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &elem}}
}

// Text returns a field that Payload.Text writes.
func Text(name string) ntconv.Field {
	return Array(name, ntconv.FieldType{Code: ntconv.TypeUTF8Unit})
}

// Object returns a field that has fields.
func Object(name string, fields ...ntconv.Field) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: ntconv.TypeObject, Fields: fields}}
}

// List returns a field that is a list of objects.
func List(name string, fields ...ntconv.Field) ntconv.Field {
	return Array(name, Object("", fields...).Type)
}

// Attributes returns the field attributes. Payload.Attributes writes it and the field that Dropped returns.
func Attributes() ntconv.Field {
	return List("attributes", Text("key"), Text("type"), Text("value"))
}

// Dropped returns the field with the number of elements that were dropped, such as droppedAttributesCount.
func Dropped(what string) ntconv.Field { return Scalar("dropped"+what+"Count", ntconv.TypeVarUint) }

// sameLayout reports whether payloads with two lists of fields are decoded in the same way.
func sameLayout(a, b []ntconv.Field) bool {
	return slices.EqualFunc(
		a,
		b,
		func(f, g ntconv.Field) bool { return f.Name == g.Name && sameEncoding(&f.Type, &g.Type) },
	)
}

// sameEncoding compares types. Its recursion is bounded by b, which is a type of this package.
func sameEncoding(a, b *ntconv.FieldType) bool {
	if a.Code != b.Code || (a.Elem == nil) != (b.Elem == nil) || !sameLayout(a.Fields, b.Fields) {
		return false
	}
	return b.Elem == nil || sameEncoding(a.Elem, b.Elem)
}
