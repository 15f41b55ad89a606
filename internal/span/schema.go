package span

import (
	"slices"

	"github.com/ntconv/ntconv"
)

// Provider is the provider of the events that hold imported spans. It is not ntconv, because a selection keeps events
// of that provider regardless of what is selected.
const Provider = "otlp"

// An imported span is one event Span at the time of its end, with the labels TraceId and SpanId. Its payload has the
// fields of trace.proto by their names in OTLP/JSON, with IDs as hexadecimal digits and strings as UTF-8 after their
// 16-bit length, because OTLP strings may contain NUL. The type and the value of an attribute are strings, so that both
// are readable in any viewer; appendValue defines them.
//
// No event has more than maxPayload bytes. The events SpanPart of a larger span come first, with the same time and
// labels; their data together is the payload of the span, in an encoding of its own (see cursor.wide). The event Span
// is then only an abstract for display: its strings and lists are abridged, and parts is the number of SpanPart events.
// All events of a span begin with the same fields, so that an expression such as name == "GET" selects all or none of
// them.
//
// All type codes are ones that TraceEvent and dotnet-trace know, since either rejects a whole file for an unknown code.
const (
	spanEvent = "Span"
	partEvent = "SpanPart"
)

// maxPayload is the size of the largest payload in bytes. TraceEvent reads up to 65,535 bytes. dotnet-trace convert
// keeps an event with its header and extended data in as many and fails at the largest payloads with "Read past end of
// stream".
const maxPayload = 65_000

// spanType returns the type of the events Span.
func spanType() *ntconv.Type {
	dropped := func(what string) ntconv.Field { return scalar("dropped"+what+"Count", ntconv.TypeVarUint) }
	attributes := list("attributes", text("key"), text("type"), text("value"))
	fields := append(
		header(),
		attributes,
		dropped("Attributes"),
		list(
			"events",
			scalar("timeUnixNano", ntconv.TypeUint64),
			text("name"),
			attributes,
			dropped("Attributes"),
		),
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

// partType returns the type of the events SpanPart. The field part counts them from 0.
func partType() *ntconv.Type {
	fields := append(
		header(),
		scalar("part", ntconv.TypeVarUint),
		array("data", ntconv.FieldType{Code: ntconv.TypeUint8}),
	)
	return &ntconv.Type{Provider: Provider, ID: 2, Name: partEvent, Fields: fields}
}

// header returns the fields that both types begin with.
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

// IsEvent reports whether events of a type hold spans, or parts of them, as an Encoder writes them. It does not check
// the layout: Decode does.
func IsEvent(t *ntconv.Type) bool {
	return t != nil && t.Provider == Provider && (t.Name == spanEvent || t.Name == partEvent)
}

// sameLayout reports whether payloads of two lists of fields are decoded in the same way.
func sameLayout(a, b []ntconv.Field) bool {
	return slices.EqualFunc(
		a,
		b,
		func(f, g ntconv.Field) bool { return f.Name == g.Name && sameEncoding(&f.Type, &g.Type) },
	)
}

// sameEncoding descends only into b, which is a type of this package: its depth is small.
func sameEncoding(a, b *ntconv.FieldType) bool {
	if a.Code != b.Code || (a.Elem == nil) != (b.Elem == nil) || !sameLayout(a.Fields, b.Fields) {
		return false
	}
	return b.Elem == nil || sameEncoding(a.Elem, b.Elem)
}
