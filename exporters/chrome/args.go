package chrome

import (
	"bytes"
	"encoding/hex"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/jsonio"
	"github.com/ntconv/ntconv/internal/payload"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/schema"
)

// An argEncoder encodes args as JSON objects. The timeline calls it during Write, so its counts are complete before the
// first item is encoded.
type argEncoder struct {
	table    schema.Table
	payloads payload.Encoder
	wide     map[*schema.Schema]bool // wide[s]: events of schema s may have integers larger than maxInt
	json     span.JSON               // see attributes
	scratch  []byte
	invalid  int64 // strings that are not valid UTF-8
}

// append appends the args of an item as a JSON object. It appends nothing if the item has no args.
func (a *argEncoder) append(dst []byte, s *timeline.Source) []byte {
	switch {
	case s.Event != nil:
		return a.event(dst, s.Event)
	case s.Span != nil:
		return a.span(dst, s.Span)
	case len(s.Values) > 0:
		return a.values(dst, s.Values)
	}
	return dst
}

// event appends the payload and the labels of an event as one object. It appends nothing if both are empty.
func (a *argEncoder) event(dst []byte, e *ntconv.Event) []byte {
	start := len(dst)
	if len(e.Payload) > 0 {
		dst = a.payload(dst, e)
	}
	if e.Labels == nil {
		return dst
	}
	if len(dst) == start {
		dst = append(dst, '{', '}')
	}
	dst = dst[:len(dst)-1]
	for i := range e.Labels.List() {
		dst = a.label(dst, &e.Labels.List()[i])
	}
	if len(dst) == start+1 {
		return dst[:start]
	}
	return append(dst, '}')
}

// payload appends the payload as JSON. It counts payloads with invalid UTF-8, and converts integers that Perfetto
// cannot read to strings.
func (a *argEncoder) payload(dst []byte, e *ntconv.Event) []byte {
	s := a.table.Of(e)
	start := len(dst)
	dst, exact := a.payloads.Append(dst, e, s)
	if !exact && bytes.Contains(dst[start:], []byte(replacement)) {
		a.invalid++
	}
	if a.mayBeLarge(s) {
		dst = quoteLarge(dst, start, &a.scratch)
	}
	return dst
}

// mayBeLarge reports whether events with this schema may have integers larger than maxInt. It caches the answer, so
// that most payloads are not searched for such integers.
func (a *argEncoder) mayBeLarge(s *schema.Schema) bool {
	large, ok := a.wide[s]
	if !ok {
		if a.wide == nil {
			a.wide = map[*schema.Schema]bool{}
		}
		large = s.IsDynamic() || hasUnsigned(s.Fields)
		a.wide[s] = large
	}
	return large
}

// hasUnsigned reports whether one of the fields, or a field within it, may hold an unsigned 64-bit integer.
func hasUnsigned(fields []ntconv.Field) bool {
	for i := range fields {
		t := &fields[i].Type
		for t.Elem != nil {
			t = t.Elem
		}
		switch t.Code {
		case ntconv.TypeUint64, ntconv.TypePointer, ntconv.TypeVarUint:
			return true
		case ntconv.TypeObject:
			if hasUnsigned(t.Fields) {
				return true
			}
		}
	}
	return false
}

// label appends a member for a label that relates the event to something else (an activity, a span, a key). It appends
// nothing for labels that override a property of the event's type. The name of the member begins with "$" as in
// expressions, because no field of an event does.
func (a *argEncoder) label(dst []byte, l *ntconv.Label) []byte {
	switch {
	case l.IsID():
		dst = append(a.text(appendName(dst, ""), "$"+l.Name()), ':', '"')
		return append(l.AppendText(dst), '"')
	case l.Kind == ntconv.LabelString:
		return a.text(a.labelName(dst, l.Key), l.Str)
	case l.Kind == ntconv.LabelInt:
		return l.AppendText(a.labelName(dst, l.Key))
	}
	return dst
}

// labelName appends the member name for the label with this key, and a colon.
func (a *argEncoder) labelName(dst []byte, key string) []byte {
	return append(a.text(appendName(dst, ""), "$label."+key), ':')
}

// appendName appends a comma unless the member is the first of its object, and name, which ends with a colon or is
// empty.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(dst, name...)
}

func appendHex(dst, id []byte) []byte {
	return append(hex.AppendEncode(append(dst, '"'), id), '"')
}

// text appends a JSON string and counts it in invalid if it is not valid UTF-8.
func (a *argEncoder) text(dst []byte, s string) []byte {
	dst, valid := jsonio.AppendString(dst, s)
	if !valid {
		a.invalid++
	}
	return dst
}

// values appends an object with one member per value.
func (a *argEncoder) values(dst []byte, values []timeline.Value) []byte {
	dst = append(dst, '{')
	for i := range values {
		v := &values[i]
		dst = append(a.text(appendName(dst, ""), v.Name), ':')
		switch v.Kind {
		case timeline.TextValue:
			dst = a.text(dst, v.Text)
		case timeline.IntValue:
			dst = strconv.AppendInt(dst, v.Int, 10)
		case timeline.FloatValue:
			dst = appendFloat(dst, v.Float)
		}
	}
	return append(dst, '}')
}

// span appends an object with the facts, attributes, events and links that the span has. The attributes are an object of
// their own, so that an attribute key cannot collide with another member.
func (a *argEncoder) span(dst []byte, s *span.Span) []byte {
	dst = append(dst, '{')
	for f := range span.FactCount {
		if a.scratch = s.AppendFact(a.scratch[:0], f); len(a.scratch) > 0 {
			dst = append(a.text(appendName(dst, ""), f.String()), ':')
			dst = a.text(dst, string(a.scratch))
		}
	}
	if len(s.Attributes) > 0 {
		dst = a.attributes(appendName(dst, `"attributes":`), s.Attributes)
	}
	dst = a.lists(dst, s)
	if len(dst) > 0 && dst[len(dst)-1] == '{' {
		return dst[:len(dst)-1]
	}
	return append(dst, '}')
}

// lists appends the events and links of a span.
func (a *argEncoder) lists(dst []byte, s *span.Span) []byte {
	if len(s.Events) > 0 {
		dst = append(appendName(dst, `"events":`), '[')
		for i := range s.Events {
			e := &s.Events[i]
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = a.text(append(dst, `{"name":`...), e.Name)
			dst = strconv.AppendUint(append(dst, `,"ts_ns":"`...), e.Time, 10)
			dst = append(dst, '"')
			if len(e.Attributes) > 0 {
				dst = a.attributes(append(dst, `,"attributes":`...), e.Attributes)
			}
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	if len(s.Links) > 0 {
		dst = append(appendName(dst, `"links":`), '[')
		for i := range s.Links {
			l := &s.Links[i]
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendHex(append(dst, `{"trace_id":`...), l.TraceID[:])
			dst = append(appendHex(append(dst, `,"span_id":`...), l.ID[:]), '}')
		}
		dst = append(dst, ']')
	}
	return dst
}

// attributes appends an object with one member per attribute. If a key repeats, viewers show its last value.
func (a *argEncoder) attributes(dst []byte, list []span.Attribute) []byte {
	if a.json.Text == nil {
		a.json = span.JSON{Text: a.text, Int: appendInt, Float: appendFloat, Bytes: appendHexText, Depth: span.MaxDepth}
	}
	return a.json.AppendObject(dst, list)
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

func appendHexText(dst, b []byte) []byte {
	return append(hex.AppendEncode(append(dst, `"hex:`...), b), '"')
}
