package payload

import (
	"bytes"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

// Layout returns the fields by which a Decoder restores payloads of the schema: those of the schema, or fields of the sizes that
// .NET writes where metadata leave sizes open. It returns false if each payload names its own fields, as GCDynamicEvents do.
func Layout(s *schema.Schema) (fields []ntconv.Field, ok bool) {
	if s.IsDynamic() {
		return nil, false
	}
	if s.HasOpenSizes() {
		return narrow(s.Fields), true
	}
	return s.Fields, true
}

// narrow returns the fields with a bool in 1 byte and a decimal as a float of 8, as self-describing .NET sources write them.
func narrow(fields []ntconv.Field) []ntconv.Field {
	fields = slices.Clone(fields)
	for i := range fields {
		fields[i].Type = narrowType(fields[i].Type)
	}
	return fields
}

func narrowType(t ntconv.FieldType) ntconv.FieldType {
	switch t.Code {
	case ntconv.TypeBool32:
		t.Code = ntconv.TypeBool8
	case ntconv.TypeDecimal:
		t.Code = ntconv.TypeFloat64
	}
	if t.Elem != nil {
		elem := narrowType(*t.Elem)
		t.Elem = &elem
	}
	if t.Fields != nil {
		t.Fields = narrow(t.Fields)
	}
	return t
}

// An Encoder converts payloads of one trace to JSON. The zero value is ready to use. Its memory is bounded by the
// metadata of the trace. It is not safe for concurrent use.
type Encoder struct {
	last     *program
	programs map[programKey]*program
	path     fastPath
	check    []byte // what the Decoder restored
}

// programKey is what the conversion of a payload depends on.
type programKey struct {
	schema *schema.Schema
	narrow bool // pointers have 4 bytes
}

// A program is how the Encoder converts payloads of one schema for one size of pointers.
type program struct {
	programKey
	plan    *plan
	wide    *plan // by the sizes in the metadata, if these are open
	names   memberNames
	decoder *Decoder // nil if payloads name their own fields
}

// programOf returns the program of an event.
func (e *Encoder) programOf(s *schema.Schema, pointerSize int) *program {
	key := programKey{s, pointerSize == 4}
	if e.last != nil && e.last.programKey == key {
		return e.last
	}
	p := e.programs[key]
	if p == nil {
		p = newProgram(key)
		if e.programs == nil {
			e.programs = make(map[programKey]*program)
		}
		e.programs[key] = p
	}
	e.last = p
	return p
}

func newProgram(key programKey) *program {
	p := &program{programKey: key, names: memberNames{}}
	ptr := 8
	if key.narrow {
		ptr = 4
	}
	fields, ok := Layout(key.schema)
	if !ok {
		p.plan = newPlan(key.schema.Fields, ptr)
		p.plan.plain = false
		return p
	}
	p.plan = newPlan(fields, ptr)
	if key.schema.HasOpenSizes() {
		p.wide = newPlan(key.schema.Fields, ptr)
		p.plan.plain = p.plan.plain && p.wide.plain && !p.plan.pads // with padding no payload comes out even
	}
	p.decoder = &Decoder{plan: p.plan}
	return p
}

// Append appends the payload of an event of schema s to dst as one JSON object, and nothing if the payload is empty. exact
// means that a Decoder for Layout(s) and the event's pointer size restores the payload from the JSON. It is false for payloads that name
// their own fields, and if a label overrides the version of the type, as the layout is not that of the type's other events. The output
// is proportional to the payload, as the located bytes of [ntconv.Event.Fields] are limited. Append allocates nothing for the usual
// payload.
func (e *Encoder) Append(dst []byte, ev *ntconv.Event, s *schema.Schema) (json []byte, exact bool) {
	if len(ev.Payload) == 0 {
		return dst, true
	}
	p := e.programOf(s, ev.PointerSize())
	sameLayout := ev.Type != nil && ev.Type.Version == s.Version
	if p.plan.plain {
		if json, exact, ok := e.fast(dst, ev.Payload, p); ok {
			return json, exact && sameLayout
		}
	}
	start := len(dst)
	dst = p.appendValues(dst, ev)
	if p.decoder == nil || !sameLayout {
		return dst, false
	}
	back, err := p.decoder.Append(e.check[:0], dst[start:])
	e.check = back[:0]
	return dst, err == nil && bytes.Equal(back, ev.Payload)
}

// fast converts a payload that has all fields of the plan. It returns false, and an undefined result, for others, and if it is open which
// sizes fields have.
func (e *Encoder) fast(dst, payload []byte, p *program) (json []byte, exact, ok bool) {
	if len(payload) < p.plan.min {
		return dst, false, false
	}
	w := &e.path
	w.dst, w.b, w.off, w.inexact = dst, payload, 0, false
	ok = w.object(p.plan.members)
	json, exact = w.dst, !w.inexact && w.off == len(payload)
	if p.wide != nil && ok {
		ok = w.off == len(payload) && !e.fitsWide(json, payload, p.wide)
	}
	w.dst, w.b = nil, nil // both are borrowed
	return json, exact, ok
}

// fitsWide reports whether a payload holds the fields of the plan and nothing else. It uses the capacity of dst.
func (e *Encoder) fitsWide(dst, payload []byte, wide *plan) bool {
	if len(payload) < wide.min {
		return false
	}
	w := &e.path
	w.dst, w.off = dst, 0
	return w.object(wide.members) && w.off == len(payload)
}
