package chrome

import (
	"bytes"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/payload"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/schema"
)

// An argEncoder encodes args as JSON objects. The timeline calls it during Write, so its counts are complete before the
// first item is encoded.
type argEncoder struct {
	payloads payload.Encoder
	wide     map[*schema.Schema]bool // wide[s]: events of schema s may have integers larger than maxInt
	json     timeline.JSON           // see append
	scratch  []byte
	invalid  int64 // strings that are not valid UTF-8
}

// append appends the args of an item as a JSON object. It appends nothing if the item has no args. Payloads have the
// JSON of package payload, which is faster.
func (a *argEncoder) append(dst []byte, s *timeline.Source) []byte {
	if a.json.Text == nil {
		a.json = timeline.JSON{Text: a.text, Key: a.key, Int: appendInt, Float: appendFloat} // only fields are unsigned
	}
	start, open := len(dst), false
	if e := s.Event; e != nil && len(e.Payload) > 0 {
		dst = a.payload(dst, e, s.Schema())
	}
	for name, v := range s.Args(false) {
		switch {
		case open:
		case len(dst) > start:
			dst = dst[:len(dst)-1]
		default:
			dst = append(dst, '{')
		}
		open = true
		dst = a.json.Append(a.json.Name(dst, name), v)
	}
	if open {
		dst = append(dst, '}')
	}
	return dst
}

// payload appends the payload as JSON. It counts payloads with invalid UTF-8, and converts integers that Perfetto
// cannot read to strings.
func (a *argEncoder) payload(dst []byte, e *ntconv.Event, s *schema.Schema) []byte {
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

func (a *argEncoder) text(dst, s []byte) []byte          { return appendText(dst, s, &a.invalid) }
func (a *argEncoder) key(dst []byte, name string) []byte { return appendText(dst, name, &a.invalid) }

// appendText appends a JSON string and counts it in invalid if it is not valid UTF-8.
func appendText[T string | []byte](dst []byte, s T, invalid *int64) []byte {
	dst, valid := jsonio.AppendString(dst, s)
	if !valid {
		*invalid++
	}
	return dst
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }
