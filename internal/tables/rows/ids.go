package rows

import "github.com/ntconv/ntconv/internal/span"

// maxIDTexts is the maximum number of IDs whose text is cached.
const maxIDTexts = 1 << 14

// idTexts formats span IDs. It caches the strings, because many samples share a span.
type idTexts struct {
	last  span.Context
	text  idText
	known map[span.Context]idText
}

// An idText holds both IDs in hexadecimal; "" means none.
type idText struct{ trace, span string }

// of returns a trace ID and a span ID in hexadecimal, and "" for an ID that is zero.
func (t *idTexts) of(traceID [16]byte, spanID [8]byte) (trace, id string) {
	c := span.Context{TraceID: traceID, ID: spanID}
	if c == t.last {
		return t.text.trace, t.text.span
	}
	text, ok := t.known[c]
	if !ok {
		if !c.TraceID.IsZero() {
			text.trace = c.TraceID.String()
		}
		if !c.ID.IsZero() {
			text.span = c.ID.String()
		}
		if t.known == nil || len(t.known) == maxIDTexts {
			t.known = map[span.Context]idText{}
		}
		t.known[c] = text
	}
	t.last, t.text = c, text
	return text.trace, text.span
}
