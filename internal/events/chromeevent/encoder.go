package chromeevent

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// maxPayload is the maximum size of a payload in bytes. TraceEvent reads up to 65,535 bytes, dotnet-trace slightly
// fewer.
const maxPayload = 65_000

// An Encoder converts events of Chrome's format to events of a trace. It is not safe for concurrent use.
//
// Encode sets all members below for one event; Next consumes them. pending is set until Next has returned the last
// event.
type Encoder struct {
	shapes  shapes
	d       description
	event   ntconv.Event
	payload []byte
	over    bool // the payload is invalid: a length in it does not fit into 16 bits

	// Only for a large event.
	data  []byte // JSON that is not yet part of a returned event
	part  uint64 // number of the next part
	final *shape // of the last event, which has no part
	parts *shape // of the events with parts

	pending bool
}

// NewEncoder returns an Encoder. The type IDs are unique per Encoder, so a source uses one Encoder for all events.
func NewEncoder() *Encoder { return &Encoder{} }

// Encode starts the conversion of an event, which it borrows until Next returns nil. The events that Next returns are
// copies of like, except for Type and Payload. The time of like must be the time of e, unless e has no time.
func (c *Encoder) Encode(e *Event, like *ntconv.Event) {
	c.event = *like
	c.data, c.part, c.pending = c.data[:0], 0, true
	sh := c.shape(e)
	c.append(sh)
	if c.over || len(c.payload) > maxPayload {
		c.divide(e)
		return
	}
	c.event.Type = sh.typ
}

// Next returns the next event of the trace for the event passed to Encode, or nil after the last one. Large events
// yield several, all others one. Write them in this order on one capture thread, with no other event of this package in
// between on that thread, and set Event.Seq. The event and its payload are borrowed until the next call of Next or
// Encode; Type is immutable and may be retained.
func (c *Encoder) Next() *ntconv.Event {
	switch {
	case !c.pending:
		return nil
	case len(c.data) > 0:
		c.nextPart()
	case c.part > 0:
		c.pending = false
		c.d.leaves[len(c.d.leaves)-1].num = int64(c.part)
		c.append(c.final)
		c.event.Type = c.final.typ
		c.event.Payload = c.payload
	default:
		c.pending = false
		c.event.Payload = c.payload
	}
	return &c.event
}

// typeNames returns an event with the phase, category and name that a type of e states: those of e, truncated to what a
// type can hold. It returns nil if a type cannot state the phase.
func typeNames(e *Event) *Event {
	if len(e.Phase) > 1 || e.Phase == phaseField || e.Phase != "" && (e.Phase[0] <= ' ' || e.Phase[0] >= 0x7f) {
		return nil
	}
	category, name := typeName(e.Category), typeName(e.Name)
	if len(category) == len(e.Category) && len(name) == len(e.Name) {
		return e
	}
	names := *e
	names.Category, names.Name = category, name
	return &names
}

// typeName returns the longest start of a string that can be the name of a type.
func typeName(s string) string {
	if at := strings.IndexByte(s, 0); at >= 0 {
		s = s[:at]
	}
	if len(s) <= maxTypeName {
		return s
	}
	end := maxTypeName
	for end > maxTypeName-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// shape describes an event and returns the shape of the description. It prefers typed fields, then args as JSON, then
// the generic type, depending on how many types are left.
func (c *Encoder) shape(e *Event) *shape {
	if names := typeNames(e); names != nil {
		for _, asJSON := range [...]bool{false, true} {
			if sh := c.typed(e, names, asJSON); sh != nil {
				return sh
			}
		}
	}
	return c.generic(e)
}

// typed describes an event by the fields of its args, or with args as one JSON field. It returns nil if the limit of
// shapes is exceeded. It searches for duplicate names only for a shape that has some.
func (c *Encoder) typed(e, names *Event, asJSON bool) *shape {
	for _, c.d.unique = range [...]bool{false, true} {
		c.d.reset()
		c.d.head(names, absentOf(e))
		c.members(e)
		if names.Name != e.Name {
			c.text(e, HasName, codeName, e.Name)
		}
		if names.Category != e.Category {
			c.text(e, HasCategory, codeCategory, e.Category)
		}
		c.other(e, asJSON)
		c.args(e, asJSON)
		limit := maxTypes - 2*reservedTypes
		if asJSON {
			limit += reservedTypes
		}
		sh := c.shapes.find(&c.d, names, limit)
		if sh == nil {
			return nil
		}
		if !sh.duplicates {
			return c.wide(sh, names)
		}
	}
	return nil
}

// wide returns sh with a type that can represent all values of the event. If a number became floating-point, it needs a
// new type; it returns nil if there are too many types.
func (c *Encoder) wide(sh *shape, e *Event) *shape {
	if !sh.mark(c.d.leaves, false) {
		return sh
	}
	if c.shapes.types >= maxTypes-reservedTypes {
		return nil
	}
	sh.mark(c.d.leaves, true)
	sh.typ, _ = c.shapes.newType(c.d.sig, e, sh.floats)
	return sh
}

// members describes the present members that have fields of their own.
func (c *Encoder) members(e *Event) {
	c.nanos(e, HasDuration, codeDuration, e.Duration)
	c.nanos(e, HasThreadDuration, codeThreadDuration, e.ThreadDuration)
	c.nanos(e, HasThreadTime, codeThreadTime, e.ThreadTime)
	if e.Time != int64(c.event.Time) {
		c.nanos(e, HasTime, codeTime, e.Time)
	}
	switch e.ID.Kind {
	case PlainID:
		c.id(codeID, &e.ID)
	case LocalID:
		c.id(codeLocalID, &e.ID)
	case GlobalID:
		c.id(codeGlobalID, &e.ID)
	}
	if e.BindID.Kind != NoID {
		c.id(codeBindID, &e.BindID)
	}
	c.text(e, HasIDScope, codeIDScope, e.IDScope)
	c.text(e, HasScope, codeScope, e.Scope)
	c.text(e, HasBindPoint, codeBindPoint, e.BindPoint)
	c.flag(e, HasFlowIn, codeFlowIn, e.FlowIn)
	c.flag(e, HasFlowOut, codeFlowOut, e.FlowOut)
}

// member appends a field of the signature and its value.
func (c *Encoder) member(code byte, l leaf) {
	c.d.sig = append(c.d.sig, code)
	c.d.leaves = append(c.d.leaves, l)
}

func (c *Encoder) nanos(e *Event, m Member, code byte, n int64) {
	if e.Has&m != 0 {
		c.member(code, leaf{class: classInt, num: n})
	}
}

func (c *Encoder) text(e *Event, m Member, code byte, s string) {
	if e.Has&m != 0 {
		from := len(c.d.scratch)
		c.d.scratch = append(c.d.scratch, s...)
		c.member(code, leaf{class: classText, text: c.d.scratch[from:]})
	}
}

func (c *Encoder) flag(e *Event, m Member, code byte, set bool) {
	if e.Has&m != 0 {
		l := leaf{class: classBool}
		if set {
			l.num = 1
		}
		c.member(code, l)
	}
}

func (c *Encoder) id(code byte, id *ID) {
	if id.Number {
		code = upper(code)
	}
	c.member(code, leaf{class: classText, text: id.Text})
}

// other describes the members in Other: one field per member, or one JSON field for all of them.
func (c *Encoder) other(e *Event, asJSON bool) {
	if len(e.Other) == 0 {
		return
	}
	sig, leaves, scratch := len(c.d.sig), len(c.d.leaves), len(c.d.scratch)
	c.d.scratch = append(append(append(c.d.scratch, '{'), e.Other...), '}')
	object := c.d.scratch[scratch:]
	list := jsonio.MembersOf(object)
	for n := 0; ; n++ {
		name, value, ok := list.Next()
		if !ok {
			break
		}
		c.d.sig = append(c.d.sig, codeOther)
		if asJSON || n >= maxMembers || c.d.unique && hasDuplicates(object) || !c.d.name(name) {
			c.d.sig, c.d.leaves = append(c.d.sig[:sig], codeOthers), append(c.d.leaves[:leaves], leaf{class: classJSON, text: e.Other})
			return
		}
		c.d.value(value, 1)
	}
}

// args describes the args: one field per member, or one JSON field for all of them.
func (c *Encoder) args(e *Event, asJSON bool) {
	if e.Args == nil {
		return
	}
	sig, leaves := len(c.d.sig), len(c.d.leaves)
	c.d.sig = append(c.d.sig, codeArgs)
	switch {
	case isEmpty(e.Args):
		c.d.sig = append(c.d.sig, classOpen, classClose)
	case asJSON || e.Args[0] != '{' || !c.d.members(e.Args, 0):
		c.d.sig, c.d.leaves = append(c.d.sig[:sig], codeWhole), c.d.leaves[:leaves]
		c.d.json(e.Args)
	}
}

// isEmpty reports whether a value is an object without members.
func isEmpty(value []byte) bool {
	i := jsonio.SkipSpace(value, 1)
	return value[0] == '{' && i < len(value) && value[i] == '}'
}

// genericName returns an event with the phase of the generic type of e, or with phaseField if the phase is unknown.
func genericName(e *Event) *Event {
	names := &Event{Phase: phaseField, TopLevel: e.TopLevel}
	if len(e.Phase) == 1 && strings.Contains("BEXiICbneSTpFstfNODMPRcvV()", e.Phase) {
		names.Phase = e.Phase
	}
	return names
}

// generic describes an event with the generic type of its phase. The duration is a field, and so are all other members
// as text, and an unknown phase.
func (c *Encoder) generic(e *Event) *shape {
	names := genericName(e)
	rest := *e
	rest.Phase, rest.Category, rest.Name, rest.Args = "", "", "", nil
	rest.Has &^= HasName | HasCategory | HasDuration
	c.d.reset()
	c.d.head(names, absentOf(e)|HasName|HasCategory)
	c.nanos(e, HasDuration, codeDuration, e.Duration)
	if e.Time != int64(c.event.Time) {
		c.nanos(e, HasTime, codeTime, e.Time)
	}
	c.d.sig = append(c.d.sig, codeGeneric)
	members := AppendMembers(nil, &rest)
	if len(members) > 0 {
		members = members[1:] // the comma
	}
	quoted := func(m Member, s string) (b []byte) {
		if e.Has&m != 0 {
			b = jsonio.AppendQuoted(nil, s)
		}
		return b
	}
	for _, text := range [...][]byte{[]byte(e.Phase), quoted(HasCategory, e.Category), quoted(HasName, e.Name), members, e.Args} {
		c.d.leaves = append(c.d.leaves, leaf{class: classText, text: text})
	}
	return c.shapes.find(&c.d, names, math.MaxInt)
}

// divide splits an event that is too large for one payload. The last event has only its times and the number of parts.
func (c *Encoder) divide(e *Event) {
	whole := *e
	whole.PID, whole.TID = nil, nil
	c.data = AppendJSON(c.data[:0], &whole)
	if names := typeNames(e); names != nil && c.divided(e, names, maxTypes-reservedTypes) {
		return
	}
	c.divided(e, genericName(e), math.MaxInt)
}

// divided selects the types of the parts and of the last event. It returns false if there are too many types.
func (c *Encoder) divided(e, names *Event, limit int) bool {
	absent := absentOf(e)
	c.d.reset()
	c.d.head(names, absent)
	c.d.sig = append(c.d.sig, codePart)
	c.d.leaves = append(c.d.leaves, leaf{class: classUint}, leaf{class: classText})
	c.parts = c.shapes.find(&c.d, names, limit)
	c.d.reset()
	c.d.head(names, absent)
	c.nanos(e, HasDuration, codeDuration, e.Duration)
	c.nanos(e, HasThreadDuration, codeThreadDuration, e.ThreadDuration)
	c.nanos(e, HasThreadTime, codeThreadTime, e.ThreadTime)
	if e.Time != int64(c.event.Time) {
		c.nanos(e, HasTime, codeTime, e.Time)
	}
	c.member(codeParts, leaf{class: classUint})
	c.final = c.shapes.find(&c.d, names, limit)
	return c.parts != nil && c.final != nil
}

// nextPart sets c.event to the next part. It does not split UTF-8 sequences.
func (c *Encoder) nextPart() {
	size := min(len(c.data), maxPayload-binary.MaxVarintLen64-2)
	for size > 0 && size < len(c.data) && !utf8.RuneStart(c.data[size]) {
		size--
	}
	c.payload = binary.AppendUvarint(c.payload[:0], c.part)
	c.payload = bin.AppendU16(c.payload, uint16(size))
	c.payload = append(c.payload, c.data[:size]...)
	c.data = c.data[size:]
	c.part++
	c.event.Type, c.event.Payload = c.parts.typ, c.payload
}

// append encodes the described values as the payload of a shape's type.
func (c *Encoder) append(sh *shape) {
	b := c.payload[:0]
	c.over = false
	leaves := c.d.leaves
	for i, slot := 0, 0; i < len(leaves); slot++ {
		n := 1
		if leaves[i].class == classArray {
			n = leaves[i].count
			c.over = c.over || n > math.MaxUint16
			b = bin.AppendU16(b, uint16(n))
			i++
		}
		for range n {
			b = c.value(b, &leaves[i], sh.floats[slot])
			i++
		}
	}
	c.payload = b
}

// value appends a value. If a string is too large, it sets over instead, and the payload must be discarded.
func (c *Encoder) value(b []byte, l *leaf, float bool) []byte {
	switch {
	case l.class == classText, l.class == classJSON:
		if len(l.text) > maxPayload {
			c.over = true
			return b
		}
		return append(bin.AppendU16(b, uint16(len(l.text))), l.text...)
	case l.class == classBool:
		return bin.AppendU32(b, uint32(l.num))
	case l.class == classUint:
		return binary.AppendUvarint(b, uint64(l.num))
	case float && l.integer:
		return bin.AppendU64(b, math.Float64bits(float64(l.num)))
	case float:
		return bin.AppendU64(b, math.Float64bits(l.float))
	}
	return binary.AppendVarint(b, l.num)
}
