package payload

import (
	"bytes"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

// Layout returns the fields by which a Decoder restores payloads of the schema: those of the schema, or fields of the sizes that
// .NET writes where metadata leave sizes open. It returns false if each payload names its own fields, as GCDynamicEvents do.
func Layout(s *schema.Schema) (fields []ntconv.Field, ok bool) {
	return s.Fields, !s.IsDynamic()
}

// An Encoder converts payloads of one trace to JSON. The zero value is ready to use. Its memory is bounded by the
// metadata of the trace. It is not safe for concurrent use.
type Encoder struct {
	check []byte // payload that a Decoder made
}

// Append appends the payload of an event of schema s to dst as one JSON object, and nothing if the payload is empty. exact
// means that a Decoder for Layout(s) and the event's pointer size restores the payload from the JSON. It is false if the layout is not
// that of the event's type, because a label overrides the version. Output is proportional to the payload, as the located
// bytes of [ntconv.Event.Fields] are limited.
func (e *Encoder) Append(dst []byte, ev *ntconv.Event, s *schema.Schema) (json []byte, exact bool) {
	if len(ev.Payload) == 0 {
		return dst, true
	}
	start := len(dst)
	dst = append(dst, '{')
	for f, v := range s.Values(ev) {
		dst = AppendValue(dst, &f.Type, v)
	}
	dst = append(dst, '}')
	fields, ok := Layout(s)
	if !ok {
		return dst, false
	}
	back, err := NewDecoder(fields, ev.PointerSize()).Append(e.check[:0], dst[start:])
	e.check = back[:0]
	return dst, err == nil && bytes.Equal(back, ev.Payload)
}
