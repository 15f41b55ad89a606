package schema

import (
	"iter"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// Values iterates over the fields of an event of this schema. A field that cannot be decoded is a ValueError, and so
// are all fields after it. Values ends with the payload, as [ntconv.Event.Fields] does. For a GCDynamicEvent, the fields
// inside its data follow if their layout is known. Values borrow the payload. Values does not allocate.
func (s *Schema) Values(e *ntconv.Event) iter.Seq2[*ntconv.Field, ntconv.Value] {
	// This function is small enough to be inlined, so that nothing escapes.
	return func(yield func(*ntconv.Field, ntconv.Value) bool) { s.each(e, yield) }
}

// each implements Values.
func (s *Schema) each(e *ntconv.Event, yield func(*ntconv.Field, ntconv.Value) bool) {
	switch {
	case s.ambiguous:
		e.Fields()(yield)
	case s.decoding == decodeDynamic:
		s.eachDynamic(e, yield)
	case s.decoding == decodeOptional && len(e.Payload) == 0:
	default:
		ntconv.DecodeFields(s.Fields, e.Payload, e.PointerSize())(yield)
	}
}

// eachDynamic yields the fields of a GCDynamicEvent and the fields of the event that it wraps.
func (s *Schema) eachDynamic(e *ntconv.Event, yield func(*ntconv.Field, ntconv.Value) bool) {
	var name, data ntconv.Value
	n := 0
	for f, v := range ntconv.DecodeFields(s.Fields, e.Payload, e.PointerSize()) {
		switch f.Name {
		case "Name":
			name = v
		case "Data":
			data = v
		}
		if !yield(f, v) {
			return
		}
		n++
	}
	var buf [64]byte
	if l := clr.DynamicLayout(name.AppendString(buf[:0])); l != nil {
		for ; n < len(s.Fields); n++ { // callers find the fields inside the data by position
			if !yield(&s.Fields[n], ntconv.Value{}) {
				return
			}
		}
		ntconv.DecodeFields(l.Fields, data.Bytes(), e.PointerSize())(yield)
	}
}

// HasOpenSizes reports whether bool and decimal fields may be shorter in a payload than their types state. The sizes
// are determined per payload, see [ntconv.Event.Fields].
func (s *Schema) HasOpenSizes() bool {
	return s.ambiguous && !hasCode(s.Fields, ntconv.TypeRelLoc, ntconv.TypeDataLoc)
}
