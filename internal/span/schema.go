package span

import "github.com/ntconv/ntconv"

// Provider is the provider of the events that hold imported spans. It is not ntconv, because a selection keeps events of that provider
// whatever is selected.
const Provider = "otlp"

const (
	spanEvent = "Span"
	partEvent = "SpanPart"
)

// IsEvent reports whether events of a type hold spans, or parts of them, as an Encoder writes them. It does not check the layout: Decode
// does.
func IsEvent(t *ntconv.Type) bool {
	return t != nil && t.Provider == Provider && (t.Name == spanEvent || t.Name == partEvent)
}
