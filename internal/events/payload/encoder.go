package payload

import (
	"bytes"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/layout"
	"github.com/ntconv/ntconv/schema"
)

// An Encoder converts payloads of one trace to JSON. The zero value is ready to use. Its memory is bounded by the
// metadata of the trace. It is not safe for concurrent use.
type Encoder struct {
	recent   [recentPrograms]*program // cache of programs, indexed by event ID, because event types alternate
	programs map[programKey]*program
	layouts  map[*schema.Schema]*sizes
	path     fastPath
	check    []byte // buffer for the restored payload
}

// recentPrograms is a power of 2, so that the index is computed without a division.
const recentPrograms = 64

// programKey identifies how a payload is converted.
type programKey struct {
	schema *schema.Schema
	narrow bool // pointers have 4 bytes
}

// sizes records which of two sizes the fields of a schema have if the metadata leave sizes open
// (schema.HasOpenSizes). The first payload that determines the sizes decides, because all events of a type come from
// one source. Append sets shown and slim together and never changes them after that.
type sizes struct {
	open  bool // the metadata leave sizes open
	shown bool // a payload has determined the sizes
	slim  bool // bool has 1 byte and decimal 8
}

// A program converts payloads of one schema with one pointer size.
type program struct {
	programKey
	layout *sizes
	wide   *plan // with the sizes in the metadata
	slim   *plan // with the short sizes; nil unless sizes are open
	names  memberNames
	check  [2]*Decoder // of wide and slim; nil until needed
}

// Layout returns the fields with which a Decoder restores the payloads of the schema that Append has reported as exact
// so far. It returns false if each payload names its own fields, as in GCDynamicEvent. The result differs from s.Fields
// if the metadata leave sizes open and the payloads use the short ones: a bool then has 1 byte and a decimal is a float
// of 8 bytes.
func (e *Encoder) Layout(s *schema.Schema) (fields []ntconv.Field, ok bool) {
	switch l := e.layouts[s]; {
	case s.IsDynamic():
		return nil, false
	case l != nil && l.slim:
		return layout.Short(s.Fields), true
	}
	return s.Fields, true
}

// programOf returns the program for a schema and a pointer size, which it caches.
func (e *Encoder) programOf(s *schema.Schema, pointerSize int) *program {
	key := programKey{s, pointerSize == 4}
	slot := &e.recent[s.ID%recentPrograms]
	if *slot != nil && (*slot).programKey == key {
		return *slot
	}
	p := e.programs[key]
	if p == nil {
		if e.programs == nil {
			e.programs, e.layouts = make(map[programKey]*program), make(map[*schema.Schema]*sizes)
		}
		if e.layouts[s] == nil {
			e.layouts[s] = &sizes{open: s.HasOpenSizes()}
		}
		p = newProgram(key, e.layouts[s])
		e.programs[key] = p
	}
	*slot = p
	return p
}

func newProgram(key programKey, l *sizes) *program {
	p := &program{programKey: key, layout: l, names: memberNames{}}
	ptr := 8
	if key.narrow {
		ptr = 4
	}
	p.wide = newPlan(key.schema.Fields, ptr)
	if l.open {
		p.slim = newPlan(layout.Short(key.schema.Fields), ptr)
		// The fast path selects the sizes by which a payload has no bytes left. That test is inconclusive with padding
		// and objects, because padding may be absent and an object may end early.
		p.wide.Plain = p.wide.Plain && !p.wide.Pads && !hasObject(key.schema.Fields)
		p.slim.Plain = p.wide.Plain && p.slim.Plain
	}
	if key.schema.IsDynamic() {
		p.wide.Plain = false
	}
	return p
}

// hasObject reports whether a field is an object, or a list of objects at any depth.
func hasObject(fields []ntconv.Field) bool {
	for i := range fields {
		t := &fields[i].Type
		for ; t.Elem != nil; t = t.Elem {
		}
		if t.Code == ntconv.TypeObject {
			return true
		}
	}
	return false
}

// Append appends the payload of an event with schema s to dst as one JSON object, and nothing if the payload is empty.
// It borrows the event. exact means that a Decoder for Layout(s) and the event's pointer size restores the payload.
// exact is false for payloads that name their own fields, and for events whose label overrides the version of the type,
// because their layout is not that of the type's other events. The size of the output is proportional to the payload,
// because the located bytes of [ntconv.Event.Fields] are limited. Append usually allocates nothing except to extend
// dst.
func (e *Encoder) Append(dst []byte, ev *ntconv.Event, s *schema.Schema) (json []byte, exact bool) {
	if len(ev.Payload) == 0 {
		return dst, true
	}
	p := e.programOf(s, ev.PointerSize())
	sameLayout := ev.Type != nil && ev.Type.Version == s.Version
	e.path.limit = math.MaxInt
	if json, exact, ok := e.fast(dst, ev.Payload, p); ok {
		return json, exact && sameLayout
	}
	start := len(dst)
	dst = p.appendValues(dst, ev, math.MaxInt)
	if s.IsDynamic() || !sameLayout {
		return dst, false
	}
	back, err := p.decoder().Append(e.check[:0], dst[start:])
	e.check = back[:0]
	exact = err == nil && bytes.Equal(back, ev.Payload)
	p.layout.shown = p.layout.shown || exact // freeze the layout: this payload is exact only with the current one
	return dst, exact
}

// AppendJSON is Append without the check whether the JSON is exact. It stops soon after the extended slice has more
// than limit bytes; the JSON is then incomplete. An event without values is an empty object.
func (e *Encoder) AppendJSON(dst []byte, ev *ntconv.Event, s *schema.Schema, limit int) []byte {
	p := e.programOf(s, ev.PointerSize())
	e.path.limit = limit
	if json, _, ok := e.fast(dst, ev.Payload, p); ok {
		return json
	}
	return p.appendValues(dst, ev, limit)
}

// decoder returns the Decoder for the current layout.
func (p *program) decoder() *Decoder {
	d, pl := &p.check[0], p.wide
	if p.layout.slim {
		d, pl = &p.check[1], p.slim
	}
	if *d == nil {
		*d = &Decoder{plan: pl}
	}
	return *d
}

// fast is the fast path of Append for a payload that contains all fields of a plan. If it returns false, its other
// results are undefined.
func (e *Encoder) fast(dst, payload []byte, p *program) (json []byte, exact, ok bool) {
	if !p.wide.Plain {
		return dst, false, false
	}
	if p.slim == nil {
		json, end, exact, ok := e.run(dst, payload, p.wide)
		return json, exact && end == len(payload), ok
	}
	// The sizes in the metadata apply if they consume the whole payload, see ntconv.Event.Fields.
	json, end, exact, ok := e.run(dst, payload, p.wide)
	slim := !ok || end != len(payload)
	if slim {
		if json, end, exact, ok = e.run(dst, payload, p.slim); !ok || end != len(payload) {
			return dst, false, false
		}
	}
	if l := p.layout; !l.shown {
		l.shown, l.slim = true, slim
	}
	return json, exact && slim == p.layout.slim, true
}

// run converts a payload with the fast path. end is the number of bytes that it has converted.
func (e *Encoder) run(dst, payload []byte, pl *plan) (json []byte, end int, exact, ok bool) {
	if len(payload) < pl.Min {
		return dst, 0, false, false
	}
	w := &e.path
	w.dst, w.b, w.off, w.inexact = dst, payload, 0, false
	ok = w.object(pl.Members)
	json = w.dst
	w.dst, w.b = nil, nil // both are borrowed
	return json, w.off, !w.inexact, ok
}
