package perfetto

import (
	"bytes"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/timeline"
)

// An argEncoder encodes the args of items as debug annotations. The timeline calls it during Write. It interns names
// and repeated strings in tables, which are complete when Close encodes the first item and are written before all
// items.
type argEncoder struct {
	report  *ntconv.Report
	names   stringTable
	values  stringTable
	repeats repeats
}

// IDs of the names of args that the encoder adds to the args of an item.
const (
	argUnfinished = iota + 1
	argThread
	argEndThread
)

func newArgEncoder(r *ntconv.Report) *argEncoder {
	a := &argEncoder{report: r}
	for _, name := range [...]string{timeline.ArgUnfinished, timeline.ArgThread, timeline.ArgEndThread} {
		a.names.number(name)
	}
	return a
}

// append appends the args of an item as fields of a TrackEvent. It implements timeline.Options.Args. It counts a payload
// that cannot be decoded once.
func (a *argEncoder) append(dst []byte, s *timeline.Source) []byte {
	decoded := true
	for name, v := range s.Args(true) {
		if v.Err != nil && decoded {
			decoded = false
			t := s.Event.Type
			a.report.Note(ntconv.CodePayload, 1, -1, t.Provider+"/"+t.Name+": "+name+": "+v.Err.Error())
		}
		dst = a.annotation(dst, eventAnnotation, name, v)
	}
	return dst
}

// annotation appends an annotation as a field of another message.
func (a *argEncoder) annotation(dst []byte, field uint64, name string, v *timeline.Value) []byte {
	dst, m := openMessage(dst, field)
	if n, _ := a.names.number(name); n != 0 {
		dst = appendUint(dst, annotationNameIID, n)
	} else {
		dst = appendText(dst, annotationName, name)
	}
	return closeMessage(a.value(dst, v), m)
}

// value appends the value of an annotation.
func (a *argEncoder) value(dst []byte, v *timeline.Value) []byte {
	start := len(dst)
	switch v.Kind {
	case timeline.BoolValue:
		return appendUint(dst, annotationBool, v.Uint())
	case timeline.IntValue:
		return appendUint(dst, annotationInt, uint64(v.Int()))
	case timeline.UintValue:
		return appendUint(dst, annotationUint, v.Uint())
	case timeline.FloatValue:
		return appendDouble(dst, annotationDouble, v.Float())
	case timeline.ListValue:
		for _, elem := range v.Members() {
			var m int
			dst, m = openMessage(dst, annotationArrayValue)
			dst = closeMessage(a.value(dst, elem), m)
		}
		return orEmpty(dst, start, "[]")
	case timeline.ObjectValue:
		for name, member := range v.Members() {
			dst = a.annotation(dst, annotationDictEntry, name, member)
		}
		return orEmpty(dst, start, "{}")
	case timeline.NullValue:
		return appendBytes(dst, annotationString, "null")
	}
	return a.text(dst, v.Text)
}

// orEmpty appends text if nothing has been appended since start: an annotation of an empty list or object would have no
// value.
func orEmpty(dst []byte, start int, text string) []byte {
	if len(dst) == start {
		return appendBytes(dst, annotationString, text)
	}
	return dst
}

// Strings outside these sizes, in bytes, are not interned: an ID would not save space, or the string is unlikely to
// repeat.
const (
	minInterned = 4
	maxInterned = 4 << 10
)

// text appends the value of an annotation. A string that repeats is written as its ID.
func (a *argEncoder) text(dst, s []byte) []byte {
	if !utf8.Valid(s) {
		s = bytes.ToValidUTF8(s, []byte("\ufffd"))
	}
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
