package span

import (
	"slices"

	"github.com/ntconv/ntconv"
)

// Provider is the provider of the events that store imported spans. It is not ntconv, because a selection keeps all
// events of that provider regardless of their contents.
const Provider = "otlp"

// Names of the events. An imported span is one Span event at the time of its end, with the labels TraceId and SpanId.
// Its payload has the fields of trace.proto with their names in OTLP/JSON. IDs are hexadecimal digits. Strings are
// UTF-8 with a 16-bit length, because OTLP strings may contain NUL. The type and the value of an attribute are strings,
// so that every viewer can show them; appendValue defines the strings.
//
// A payload has at most maxPayload bytes. A larger span begins with SpanPart events that have the same time and labels.
// Their concatenated data is the payload of the span in the wide encoding (see cursor.wide). The Span event is then
// only an abstract for display: its strings and lists are truncated, and parts is the number of SpanPart events. All
// events of a span begin with the same fields, so that an expression such as name == "GET" selects all or none of them.
//
// TraceEvent and dotnet-trace support all type codes in use; they reject a whole file for an unknown code.
const (
	spanEvent = "Span"
	partEvent = "SpanPart"
)

// maxPayload is the maximum size of a payload in bytes. TraceEvent reads up to 65,535 bytes. dotnet-trace convert needs
// space for the event's header and extended data in the same 65,535 bytes, and fails with "Read past end of stream"
// otherwise.
const maxPayload = 65_000

// spanType returns the type of Span events.
func spanType() *ntconv.Type {
	dropped := func(what string) ntconv.Field { return scalar("dropped"+what+"Count", ntconv.TypeVarUint) }
	attributes := list("attributes", text("key"), text("type"), text("value"))
	fields := append(
		header(),
		attributes,
		dropped("Attributes"),
		list("events", scalar("timeUnixNano", ntconv.TypeUint64), text("name"), attributes, dropped("Attributes")),
		dropped("Events"),
		list(
			"links",
			text("traceId"),
			text("spanId"),
			text("traceState"),
			scalar("flags", ntconv.TypeUint32),
			attributes,
			dropped("Attributes"),
		),
		dropped("Links"),
		object(
			"scope",
			scalar("absent", ntconv.TypeVarUint),
			text("name"),
			text("version"),
			text("schemaUrl"),
			attributes,
			dropped("Attributes"),
		),
		object(
			"resource",
			scalar("absent", ntconv.TypeVarUint),
			text("schemaUrl"),
			attributes,
			dropped("Attributes"),
			list(
				"entityRefs",
				text("schemaUrl"),
				text("type"),
				array("idKeys", text("").Type),
				array("descriptionKeys", text("").Type),
			),
		),
		scalar("parts", ntconv.TypeVarUint),
	)
	return &ntconv.Type{Provider: Provider, ID: 1, Name: spanEvent, Fields: fields}
}

// partType returns the type of SpanPart events. The field part numbers them from 0.
func partType() *ntconv.Type {
	fields := append(
		header(),
		scalar("part", ntconv.TypeVarUint),
		array("data", ntconv.FieldType{Code: ntconv.TypeUint8}),
	)
	return &ntconv.Type{Provider: Provider, ID: 2, Name: partEvent, Fields: fields}
}

// header returns the fields with which both types begin.
func header() []ntconv.Field {
	return []ntconv.Field{
		text(
			"name",
		), scalar("kind", ntconv.TypeVarInt), text("parentSpanId"), text("traceState"), scalar("flags", ntconv.TypeUint32),
		scalar("startTimeUnixNano", ntconv.TypeUint64), scalar("endTimeUnixNano", ntconv.TypeUint64),
		scalar("statusCode", ntconv.TypeVarInt), text("statusMessage"), scalar("hasStatus", ntconv.TypeVarUint),
	}
}

func scalar(name string, code ntconv.TypeCode) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: code}}
}

func array(name string, elem ntconv.FieldType) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &elem}}
}

func text(name string) ntconv.Field { return array(name, ntconv.FieldType{Code: ntconv.TypeUTF8Unit}) }

func object(name string, fields ...ntconv.Field) ntconv.Field {
	return ntconv.Field{Name: name, Type: ntconv.FieldType{Code: ntconv.TypeObject, Fields: fields}}
}

func list(name string, fields ...ntconv.Field) ntconv.Field {
	return array(name, object("", fields...).Type)
}

// IsEvent reports whether events of type t store spans or parts of spans, by provider and name. Decode checks the
// layout. t may be nil.
func IsEvent(t *ntconv.Type) bool {
	return t != nil && t.Provider == Provider && (t.Name == spanEvent || t.Name == partEvent)
}

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
