package perfetto

import (
	"encoding/hex"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/schema"
)

// An argEncoder encodes the args of items as debug annotations. The timeline calls it during Write. It interns names
// and repeated strings in tables, which are complete when Close encodes the first item and are written before all
// items.
type argEncoder struct {
	schemas schema.Table
	report  *ntconv.Report
	names   stringTable
	values  stringTable
	repeats repeats
	scratch []byte // a string that is being encoded
}

// IDs of the names of args that the encoder adds to the args of an item.
const (
	argUnfinished = iota + 1
	argThread
	argEndThread
)

func newArgEncoder(r *ntconv.Report) *argEncoder {
	a := &argEncoder{report: r}
	for _, name := range [...]string{"unfinished", "tid", "end_tid"} {
		a.names.number(name)
	}
	return a
}

// append appends the args of an item as fields of a TrackEvent. It implements timeline.Options.Args.
func (a *argEncoder) append(dst []byte, s *timeline.Source) []byte {
	switch {
	case s.Event != nil:
		return a.event(dst, s.Event)
	case s.Span != nil:
		return a.span(dst, s.Span)
	}
	for i := range s.Values {
		v := &s.Values[i]
		var m int
		dst, m = a.open(dst, eventAnnotation, v.Name)
		switch v.Kind {
		case timeline.IntValue:
			dst = appendUint(dst, annotationInt, uint64(v.Int))
		case timeline.FloatValue:
			dst = appendDouble(dst, annotationDouble, v.Float)
		default:
			dst = a.text(dst, v.Text)
		}
		dst = closeMessage(dst, m)
	}
	return dst
}

// open begins an annotation with a name. The caller completes it with closeMessage.
func (a *argEncoder) open(dst []byte, field uint64, name string) ([]byte, int) {
	dst, m := openMessage(dst, field)
	if n, _ := a.names.number(name); n != 0 {
		return appendUint(dst, annotationNameIID, n), m
	}
	return appendText(dst, annotationName, name), m
}

// Strings outside these sizes, in bytes, are not interned: an ID would not save space, or the string is unlikely to
// repeat.
const (
	minInterned = 4
	maxInterned = 4 << 10
)

// bytes appends the value of an annotation, which must be valid UTF-8. A string that repeats is written as its ID.
func (a *argEncoder) bytes(dst, s []byte) []byte {
	if len(s) >= minInterned && len(s) <= maxInterned {
		n, ok := a.values.numbers[string(s)]
		if !ok && a.repeats.seen(s) {
			n, _ = a.values.numberBytes(s)
		}
		if n != 0 {
			return appendUint(dst, annotationStringIID, n)
		}
	}
	return appendBytes(dst, annotationString, s)
}

func (a *argEncoder) text(dst []byte, s string) []byte {
	a.scratch = append(a.scratch[:0], valid(s)...)
	return a.bytes(dst, a.scratch)
}

// event encodes the payload and the labels of an event. It counts a payload that cannot be decoded once.
func (a *argEncoder) event(dst []byte, e *ntconv.Event) []byte {
	if len(e.Payload) > 0 {
		fits := true
		for f, v := range a.schemas.Of(e).Values(e) {
			switch v.Kind() {
			case ntconv.ValueNull:
				continue
			case ntconv.ValueError:
				if !fits {
					break // the payload has been counted
				}
				fits = false
				a.report.Note(
					ntconv.CodePayload,
					1,
					-1,
					e.Type.Provider+"/"+e.Type.Name+": "+f.Name+": "+v.Err().Error(),
				)
			}
			var m int
			dst, m = a.open(dst, eventAnnotation, f.Name)
			dst = closeMessage(a.value(dst, v), m)
		}
	}
	return a.labels(dst, e.Labels)
}

// value appends a field value. Values of types that annotations do not have become strings.
func (a *argEncoder) value(dst []byte, v ntconv.Value) []byte {
	switch v.Kind() {
	case ntconv.ValueBool:
		b := uint64(0)
		if v.Bool() {
			b = 1
		}
		return appendUint(dst, annotationBool, b)
	case ntconv.ValueInt:
		return appendUint(dst, annotationInt, uint64(v.Int()))
	case ntconv.ValueUint:
		return appendUint(dst, annotationUint, v.Uint())
	case ntconv.ValueFloat:
		return appendDouble(dst, annotationDouble, v.Float())
	case ntconv.ValueList:
		start := len(dst)
		for elem := range v.Elems() {
			var m int
			dst, m = openMessage(dst, annotationArrayValue)
			dst = closeMessage(a.value(dst, elem), m)
		}
		return orEmpty(dst, start, "[]")
	case ntconv.ValueObject:
		start := len(dst)
		for f, member := range v.Fields() {
			var m int
			dst, m = a.open(dst, annotationDictEntry, f.Name)
			dst = closeMessage(a.value(dst, member), m)
		}
		return orEmpty(dst, start, "{}")
	}
	a.scratch = appendSpelled(a.scratch[:0], v)
	return a.bytes(dst, a.scratch)
}

// orEmpty appends text if nothing has been appended since start: an annotation of an empty list or object would have no
// value.
func orEmpty(dst []byte, start int, text string) []byte {
	if len(dst) == start {
		return appendBytes(dst, annotationString, text)
	}
	return dst
}

// appendSpelled appends a value that is a string or has a string form.
func appendSpelled(dst []byte, v ntconv.Value) []byte {
	switch v.Kind() {
	case ntconv.ValueString:
		return v.AppendString(dst)
	case ntconv.ValueBytes:
		return hex.AppendEncode(dst, v.Bytes())
	case ntconv.ValueGUID:
		return v.GUID().Append(dst)
	case ntconv.ValueTime:
		return v.Time().AppendFormat(dst, time.RFC3339Nano)
	case ntconv.ValueError:
		return append(append(dst, "error: "...), valid(v.Err().Error())...)
	}
	return append(dst, v.Kind().String()...)
}

// labels encodes the labels that do not override a property of the event's type.
func (a *argEncoder) labels(dst []byte, l *ntconv.Labels) []byte {
	list := l.List()
	for i := range list {
		switch label := &list[i]; {
		case label.IsID():
			a.scratch = label.AppendText(a.scratch[:0])
			dst = a.spelled(dst, label.Name())
		case label.Kind == ntconv.LabelString:
			dst = a.member(dst, eventAnnotation, label.Key, label.Str)
		case label.Kind == ntconv.LabelInt:
			var m int
			dst, m = a.open(dst, eventAnnotation, label.Key)
			dst = closeMessage(appendUint(dst, annotationInt, uint64(label.Num)), m)
		}
	}
	return dst
}

// spelled appends an annotation whose value is in scratch.
func (a *argEncoder) spelled(dst []byte, name string) []byte {
	dst, m := a.open(dst, eventAnnotation, name)
	return closeMessage(a.bytes(dst, a.scratch), m)
}

func (a *argEncoder) member(dst []byte, field uint64, name, value string) []byte {
	dst, m := a.open(dst, field, name)
	return closeMessage(a.text(dst, value), m)
}

// span encodes the facts about a span and its attributes. An interval of the runtime has attributes only.
func (a *argEncoder) span(dst []byte, s *span.Span) []byte {
	for f := range span.FactCount {
		if a.scratch = s.AppendFact(a.scratch[:0], f); len(a.scratch) > 0 {
			dst = a.member(dst, eventAnnotation, f.String(), string(a.scratch))
		}
	}
	for i := range s.Attributes {
		attr := &s.Attributes[i]
		if attr.Value.Kind() == span.ValueAbsent {
			continue
		}
		var m int
		dst, m = a.open(dst, eventAnnotation, attr.Key)
		dst = closeMessage(a.attribute(dst, attr.Value), m)
	}
	return dst
}

// attribute appends an attribute value. An empty AnyValue yields an annotation without a value.
func (a *argEncoder) attribute(dst []byte, v span.Value) []byte {
	start := len(dst)
	switch v.Kind() {
	case span.ValueString:
		return a.text(dst, v.Str())
	case span.ValueBool:
		b := uint64(0)
		if v.Bool() {
			b = 1
		}
		return appendUint(dst, annotationBool, b)
	case span.ValueInt:
		return appendUint(dst, annotationInt, uint64(v.Int()))
	case span.ValueFloat:
		return appendDouble(dst, annotationDouble, v.Float())
	case span.ValueBytes:
		a.scratch = hex.AppendEncode(a.scratch[:0], []byte(v.Str()))
		return a.bytes(dst, a.scratch)
	case span.ValueArray:
		for _, elem := range v.Elems() {
			var m int
			dst, m = openMessage(dst, annotationArrayValue)
			dst = closeMessage(a.attribute(dst, elem), m)
		}
		return orEmpty(dst, start, "[]")
	case span.ValueMap:
		for _, member := range v.Members() {
			var m int
			dst, m = a.open(dst, annotationDictEntry, member.Key)
			dst = closeMessage(a.attribute(dst, member.Value), m)
		}
		return orEmpty(dst, start, "{}")
	}
	return dst
}
