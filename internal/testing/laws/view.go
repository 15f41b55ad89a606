package laws

import (
	"hash/maphash"
	"math/bits"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

// A View hashes the contents of events. It is not safe for concurrent use.
type View struct {
	schemas schema.Table
	resets  int      // resets since schemas was empty, because it keeps the types of all readings
	decode  bool     // also decode payloads
	events  []uint64 // hash of each event with its type, in order
	sum     uint64   // sum over all events without their types, which may be defined later in time order

	types   map[*ntconv.Type]uint64
	threads map[*ntconv.Thread]uint64
	stacks  map[*ntconv.Stack]uint64
	labels  map[*ntconv.Labels]uint64
	scratch []byte
}

var seed = maphash.MakeSeed()

// Hash hashes the contents of an event and of everything that it refers to, but not the identity of pointers. It is safe
// for concurrent use.
func Hash(e *ntconv.Event) uint64 {
	var v View
	h := mix(v.typed(e, v.untyped(e)), uint64(e.Flags))
	return mix(mix(h, uint64(e.CPU)), uint64(e.Time))
}

// NewView returns an empty View.
func NewView() *View {
	return &View{
		types: map[*ntconv.Type]uint64{}, threads: map[*ntconv.Thread]uint64{},
		stacks: map[*ntconv.Stack]uint64{}, labels: map[*ntconv.Labels]uint64{},
	}
}

// Reset clears the events. If decode is set, See also decodes payloads.
func (v *View) Reset(decode bool) {
	v.decode, v.events, v.sum = decode, v.events[:0], 0
	if v.resets++; v.resets >= 1000 {
		v.schemas, v.resets = schema.Table{}, 0
	}
	clear(v.types)
	clear(v.threads)
	clear(v.stacks)
	clear(v.labels)
}

// Sum returns a number that depends on all events since Reset without their types, but not on their order.
func (v *View) Sum() uint64 { return v.sum }

func mix(h, n uint64) uint64 {
	hi, lo := bits.Mul64(h^0x9e3779b97f4a7c15, n^0xd1342543de82ef95)
	return hi ^ lo
}

func (v *View) text(h uint64, s ...string) uint64 {
	for _, s := range s {
		h = mix(h, maphash.String(seed, s))
	}
	return h
}

// untyped hashes an event without its type, and typed adds the type to that.
func (v *View) untyped(e *ntconv.Event) uint64 {
	h := mix(uint64(e.Kind), uint64(e.Offset))
	h = mix(mix(h, uint64(e.Seq)), uint64(e.Lost))
	h = mix(h, maphash.Bytes(seed, e.Payload))
	h = mix(mix(h, once(v.threads, e.Thread, v.thread)), once(v.threads, e.Capture, v.thread))
	h = mix(mix(h, once(v.stacks, e.Stack, v.stack)), once(v.labels, e.Labels, v.list))
	if e.Kind == ntconv.KindEvent {
		h = mix(mix(h, uint64(e.CPU)), uint64(e.Time))
	}
	if e.Mark != nil {
		h = mix(mix(h, uint64(e.Mark.Kind)), uint64(e.Mark.Flags))
		for _, ts := range e.Mark.Threads {
			h = mix(mix(h, once(v.threads, ts.Thread, v.thread)), uint64(ts.Seq))
		}
	}
	return h
}

func (v *View) typed(e *ntconv.Event, h uint64) uint64 {
	return mix(mix(h, once(v.types, e.Type, v.typ)), uint64(e.Flags&^ntconv.FlagLate))
}

// See adds an event. It retains nothing that is borrowed.
func (v *View) See(e *ntconv.Event) {
	h := v.untyped(e)
	if e.Kind == ntconv.KindEvent || e.Kind == ntconv.KindOpaque {
		v.sum += h
	}
	v.events = append(v.events, v.typed(e, h))
	if v.decode && e.Kind == ntconv.KindEvent {
		_, _, _, _ = e.Version(), e.Opcode(), e.Level(), e.Keywords()
		for _, value := range e.Fields() {
			v.value(value, 0)
		}
		for _, value := range v.schemas.Of(e).Values(e) {
			v.value(value, 0)
		}
	}
}

// value hashes a value and its members.
func (v *View) value(x ntconv.Value, depth int) {
	switch x.Kind() {
	case ntconv.ValueString:
		v.scratch = x.AppendString(v.scratch[:0])
	case ntconv.ValueList:
		for e := range x.Elems() {
			v.value(e, depth+1)
		}
	case ntconv.ValueObject:
		for _, m := range x.Fields() {
			v.value(m, depth+1)
		}
	case ntconv.ValueError:
		if x.Err() == nil {
			panic("error value without an error")
		}
	}
}

// kept is the maximum number of definitions that are checked again at the end.
const kept = 1 << 12

// once returns the hash of an immutable object, and keeps it for Changed.
func once[T any](known map[*T]uint64, p *T, content func(*T) uint64) uint64 {
	if p == nil {
		return 0
	}
	h, ok := known[p]
	if !ok {
		h = content(p)
		if known != nil && len(known) < kept {
			known[p] = h
		}
	}
	return h
}

// Changed reports whether the contents of an immutable object have changed since it was first seen.
func (v *View) Changed() bool {
	return altered(v.types, v.typ) || altered(v.threads, v.thread) || altered(v.stacks, v.stack) ||
		altered(v.labels, v.list)
}

func altered[T any](known map[*T]uint64, content func(*T) uint64) bool {
	for p, h := range known {
		if content(p) != h {
			return true
		}
	}
	return false
}

func (v *View) typ(t *ntconv.Type) uint64 {
	h := v.text(mix(uint64(t.ID), t.Keywords), t.Provider, t.Name, t.Message, t.Description)
	h = mix(h, uint64(t.Version)|uint64(t.Level)<<8|uint64(t.Opcode)<<16)
	if t.HasOpcode {
		h = mix(h, 1)
	}
	h = v.text(h, string(t.Extra), string(t.OptionalExtra), string(t.GUID[:]))
	return v.fields(v.attrs(h, t.Attrs), t.Fields)
}

func (v *View) fields(h uint64, fields []ntconv.Field) uint64 {
	for i := range fields {
		h = mix(v.text(h, fields[i].Name), maphash.Bytes(seed, fields[i].Extra))
		for t := &fields[i].Type; t != nil; t = t.Elem {
			h = v.fields(mix(h, uint64(t.Code)<<16|uint64(t.Count)), t.Fields)
		}
	}
	return h
}

func (v *View) attrs(h uint64, attrs ntconv.Attrs) uint64 {
	for _, a := range attrs {
		h = v.text(h, a.Key, a.Value)
	}
	return h
}

func (v *View) thread(t *ntconv.Thread) uint64 {
	p := t.Process
	if p == nil {
		p = new(ntconv.Process)
	}
	h := v.text(mix(t.TID, p.PID), t.Name, p.Host, p.Name)
	for _, m := range p.Mappings {
		h = v.mapping(h, m)
	}
	return v.attrs(v.attrs(mix(h, uint64(p.PointerSize)), t.Attrs), p.Attrs)
}

func (v *View) stack(s *ntconv.Stack) uint64 {
	h := uint64(len(s.PCs))
	for _, pc := range s.PCs {
		h = mix(h, pc)
	}
	for i := range s.Frames {
		f := &s.Frames[i]
		h = v.mapping(mix(mix(h, f.PC), uint64(f.Line)<<32^uint64(uint32(f.Column))^uint64(f.Flags)<<56), f.Mapping)
		if f.Func != nil {
			h = v.text(mix(h, uint64(f.Func.StartLine)), f.Func.Name, f.Func.SystemName, f.Func.File)
		}
	}
	return h
}

func (v *View) mapping(h uint64, m *ntconv.Mapping) uint64 {
	if m == nil {
		return mix(h, 0)
	}
	h = mix(mix(mix(mix(h, m.Start), m.Limit), m.Offset), uint64(m.Flags))
	return v.text(h, m.File, m.BuildID)
}

func (v *View) list(l *ntconv.Labels) uint64 {
	h := uint64(len(l.List()))
	for i := range l.List() {
		e := &l.List()[i]
		h = v.text(mix(mix(h, uint64(e.Kind)), uint64(e.Num)), e.Key, e.Str, e.Unit)
		h = mix(h, maphash.Bytes(seed, e.ID[:]))
	}
	return h
}
