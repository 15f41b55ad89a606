package clr

import (
	"encoding/binary"
	"iter"
	"strings"

	"github.com/ntconv/ntconv"
)

// Name returns the name of an event: that of its metadata, else the symbol of the manifest without version suffix, else "".
func Name(e *ntconv.Event) string {
	if e.Type == nil || e.Type.Name != "" {
		return nameOf(e.Type)
	}
	if l := LayoutOf(e); l != nil {
		return l.name
	}
	return ""
}

func nameOf(t *ntconv.Type) string {
	if t == nil {
		return ""
	}
	return t.Name
}

// LayoutOf returns what the tables say about an event, or nil. Events of the native runtime and of Universal.System go by
// id. Other providers number part of their events anew in each process: their events go by name where there is one.
func LayoutOf(e *ntconv.Event) *Layout {
	if e.Type == nil {
		return nil
	}
	return layoutOf(e, providerIndex(e.Type.Provider))
}

func layoutOf(e *ntconv.Event, p int) *Layout {
	switch t := e.Type; {
	case p < 0:
		return nil
	case providers[p].native || t.Provider == UniversalSystem:
		return lookup(p, t.ID, e.Version())
	case t.Name != "":
		return lookupName(p, t.Name, e.Version())
	case t.Provider != UniversalEvents:
		return lookup(p, t.ID, e.Version())
	}
	return nil
}

// Fields iterates over the payload of an event by the best layout there is:
//
//   - Universal.System by its fixed layouts, whatever the metadata says; what follows the last field is ignored;
//   - the fields of the metadata, if there are any. In Universal.* a bare UTF-8 unit is a string with a 16-bit count, as
//     one-collect writes it (universal, 1.3). Of kernel tracepoints only the four common fields can be trusted: the rest
//     is one field of bytes (universal, 1.9);
//   - the layout of the tables, see [LayoutOf]. An event of a managed provider with neither fields nor payload has none.
//     Fields inside the data of a GCDynamicEvent follow those of the event, where its kind is known.
//
// Values are as those of [ntconv.Event.Fields]: borrowed, and never a panic. It does not allocate after the first event of
// a type.
func Fields(e *ntconv.Event) iter.Seq2[*ntconv.Field, ntconv.Value] {
	return func(yield func(*ntconv.Field, ntconv.Value) bool) { decode(e, yield) }
}

func decode(e *ntconv.Event, yield func(*ntconv.Field, ntconv.Value) bool) {
	t := e.Type
	if t == nil {
		return
	}
	p := providerIndex(t.Provider)
	l := (*Layout)(nil)
	if len(t.Fields) == 0 || t.Provider == UniversalSystem {
		l = layoutOf(e, p)
	}
	switch {
	case l != nil && len(e.Payload) == 0 && !providers[p].native:
	case l != nil && l.ID == gcDynamicEvent && t.Provider == Runtime:
		decodeDynamic(l, e, yield)
	case l != nil:
		ntconv.DecodeFields(l.Fields, e.Payload, e.PointerSize())(yield)
	case len(t.Fields) == 0:
	case p >= 0 && strings.HasPrefix(t.Provider, "Universal."):
		w := walk{rest: e.Payload, ptr: e.PointerSize(), universal: true}
		w.fields(t.Fields, yield)
	case isTracepoint(t):
		w := walk{rest: e.Payload, ptr: e.PointerSize()}
		if w.fields(t.Fields[:len(commonFields)], yield) && w.failed.Kind() == ntconv.ValueNull {
			yield(&recordRest, ntconv.BytesValue(w.rest))
		}
	default:
		e.Fields()(yield)
	}
}

// gcDynamicEvent is an event of the runtime that wraps events of the collector.
const gcDynamicEvent = 39

// dynamicEvents is the provider of the tables that has their layouts, by name.
const dynamicEvents = Runtime + "/GCDynamicEvent"

func decodeDynamic(l *Layout, e *ntconv.Event, yield func(*ntconv.Field, ntconv.Value) bool) {
	var name, data ntconv.Value
	for f, v := range ntconv.DecodeFields(l.Fields, e.Payload, e.PointerSize()) {
		switch f.Name {
		case "Name":
			name = v
		case "Data":
			data = v
		}
		if !yield(f, v) {
			return
		}
	}
	var buf [64]byte
	if l := lookupName(providerIndex(dynamicEvents), string(name.AppendString(buf[:0])), 0); l != nil {
		ntconv.DecodeFields(l.Fields, data.Bytes(), e.PointerSize())(yield)
	}
}

// commonFields begin each record of the Linux kernel's ring buffer.
var commonFields = [...]string{"common_type", "common_flags", "common_preempt_count", "common_pid"}

// recordRest is what follows them.
var recordRest = ntconv.Field{Name: "data", Type: ntconv.FieldType{Code: ntconv.TypeCounted, Elem: &ntconv.FieldType{Code: ntconv.TypeUint8}}}

func isTracepoint(t *ntconv.Type) bool {
	if len(t.Fields) < len(commonFields) {
		return false
	}
	for i, name := range commonFields {
		if t.Fields[i].Name != name {
			return false
		}
	}
	return true
}

// countedText is what one-collect means by a bare UTF-8 unit.
var countedText = []ntconv.Field{{Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeUTF8Unit}}}}

// A walk decodes one field after the other, so that it may decode a field differently from what its type says.
type walk struct {
	rest      []byte
	ptr       int
	universal bool
	failed    ntconv.Value // first error: the value of all fields that follow
}

// fields reports whether it came to the end.
func (w *walk) fields(fields []ntconv.Field, yield func(*ntconv.Field, ntconv.Value) bool) bool {
	for i := range fields {
		as := fields[i : i+1]
		if w.universal && as[0].Type.Code == ntconv.TypeUTF8Unit {
			as = countedText
		}
		v := w.failed
		if v.Kind() == ntconv.ValueNull {
			for _, v = range ntconv.DecodeFields(as, w.rest, w.ptr) {
			}
		}
		if v.Kind() == ntconv.ValueError {
			w.failed = v
		}
		if !yield(&fields[i], v) {
			return false
		}
		w.rest = w.rest[min(width(&as[0].Type, w.rest, w.ptr), len(w.rest)):]
	}
	return true
}

// width returns the bytes that a value at the start of b takes, more than there are if it is cut off. Types that neither
// tracepoints nor one-collect's records have take the rest.
func width(t *ntconv.FieldType, b []byte, ptr int) int {
	switch t.Code {
	case ntconv.TypeInt8, ntconv.TypeUint8, ntconv.TypeUTF8Unit, ntconv.TypeBool8:
		return 1
	case ntconv.TypeInt16, ntconv.TypeUint16, ntconv.TypeUTF16Unit:
		return 2
	case ntconv.TypeBool32, ntconv.TypeInt32, ntconv.TypeUint32, ntconv.TypeFloat32:
		return 4
	case ntconv.TypeInt64, ntconv.TypeUint64, ntconv.TypeFloat64, ntconv.TypeDateTime:
		return 8
	case ntconv.TypePointer:
		return ptr
	case ntconv.TypeGUID:
		return 16
	case ntconv.TypeVarInt, ntconv.TypeVarUint:
		if _, n := binary.Uvarint(b); n > 0 {
			return n
		}
	case ntconv.TypeUTF16String:
		s, _, _ := cutUTF16(b)
		return len(s) + 2
	case ntconv.TypeArray:
		if t.Elem.Code == ntconv.TypeUTF8Unit && len(b) >= 2 {
			return 2 + int(binary.LittleEndian.Uint16(b))
		}
	}
	return len(b)
}
