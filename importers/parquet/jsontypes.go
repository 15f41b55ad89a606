package parquet

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/payload"
	"github.com/ntconv/ntconv/internal/tables"
)

// jsonTypes infers event types from the JSON of payloads.
type jsonTypes struct {
	o       *Options
	events  map[eventKey]*jsonEvent
	last    *jsonEvent
	lastKey eventKey
	count   int // number of types
	layouts layouts
	memory  memory // of types

	members []member
}

// An eventKey holds what a row states about its event type.
type eventKey struct {
	provider, event string
	level, opcode   int32
}

// A jsonEvent holds what is known about the events of a key.
type jsonEvent struct {
	shapes []*shape // most recent first
	// decoders and types belong to the layouts that the runtime defines for the event, in the order of versions.
	decoders []*payload.Decoder
	types    []*ntconv.Type
}

// A shape is a list of field names, with the kinds that restore all values so far.
type shape struct {
	typ      *ntconv.Type
	names    []string
	kinds    []valueKind
	negative []bool // the field has had a negative number
}

// A member is a field of a payload.
type member struct {
	name string
	kind valueKind
	text string // contents of a string, otherwise JSON
}

const (
	// maxShapes limits the types of a file. Payloads with further shapes become one string.
	maxShapes = 10_000
	// maxEventShapes limits the search for a shape of an event.
	maxEventShapes = 64
	// firstID is the ID of the first type. IDs of runtime events are smaller.
	firstID = 100_000
	// wholePayload is the field name for a payload that is one string of JSON.
	wholePayload = "payload"
)

func newJSONTypes(o *Options) jsonTypes {
	return jsonTypes{o: o, events: map[eventKey]*jsonEvent{}, layouts: layouts{}, memory: memory{limit: o.Limits.TableBytes}}
}

// event returns the type for a row, and appends the row's payload to dst.
func (t *jsonTypes) event(dst []byte, row *tables.SingleEvent) (*ntconv.Type, []byte, error) {
	key := eventKey{row.Provider, row.Event, row.Level, row.Opcode}
	if t.last == nil || key != t.lastKey {
		e := t.events[key]
		if e == nil {
			var err error
			if e, err = t.newEvent(key); err != nil {
				return nil, dst, err
			}
		}
		t.last, t.lastKey = e, key
	}
	for i, dec := range t.last.decoders {
		if out, err := dec.Append(dst, []byte(row.Payload)); err == nil {
			return t.last.types[i], out, nil
		}
	}
	t.parse(row.Payload)
	s, err := t.shape(t.last, key)
	if err != nil {
		return nil, dst, err
	}
	return s.typ, t.append(dst, s), nil
}

// newEvent adds an event with the layouts that the runtime defines for it.
func (t *jsonTypes) newEvent(key eventKey) (*jsonEvent, error) {
	if n := len(t.events); n >= t.o.Limits.Names {
		return nil, &ntconv.LimitError{Limit: LimitNames, Value: int64(t.o.Limits.Names), Asked: int64(n) + 1}
	}
	e := &jsonEvent{}
	for _, l := range t.layouts.named(key.provider, key.event) {
		e.decoders = append(e.decoders, payload.NewDecoder(l.Fields, defaultPointerSize))
		e.types = append(e.types, &ntconv.Type{
			Provider: l.Provider, ID: l.ID, Version: l.Version, Level: uint8(key.level), Opcode: uint8(key.opcode), Keywords: l.Keywords,
		})
	}
	t.events[key] = e
	return e, nil
}

// parse splits a payload into t.members. A payload that is not an object becomes one member.
func (t *jsonTypes) parse(text string) {
	t.members = t.members[:0]
	if text == "" {
		return
	}
	if err := t.object([]byte(text)); err != nil {
		t.o.Report.Note(ntconv.CodePayload, 1, -1, fmt.Sprintf("column payload: %v", err))
		t.members = append(t.members[:0], member{wholePayload, kindString, text})
	}
}

var errNoObject = errors.New("not a JSON object")

// object parses the members of an object.
func (t *jsonTypes) object(text []byte) error {
	if _, err := jsonio.Skip(text, 0); err != nil {
		return err
	}
	if i := jsonio.SkipSpace(text, 0); text[i] != '{' {
		return errNoObject
	}
	for members := jsonio.MembersOf(text); ; {
		name, value, ok := members.Next()
		if !ok {
			return nil
		}
		var m member
		name, _ = jsonio.AppendUnquoted(nil, name)
		m.name = string(name)
		switch value[0] {
		case 'n':
			continue // null is not a field
		case 't', 'f':
			m.kind, m.text = kindBool, string(value)
		case '"':
			text, _ := jsonio.AppendUnquoted(nil, value)
			m.kind, m.text = kindString, string(text)
		case '{', '[':
			m.kind, m.text = kindString, string(value)
		default:
			m.kind, m.text = numberKind(string(value)), string(value)
		}
		t.members = append(t.members, m)
	}
}

// numberKind returns the smallest kind that restores a number.
func numberKind(text string) valueKind {
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return kindInt
	}
	if _, err := strconv.ParseUint(text, 10, 64); err == nil {
		return kindUint
	}
	return kindFloat
}

// shape returns a shape that can hold t.members, and adds or widens one if necessary.
func (t *jsonTypes) shape(e *jsonEvent, key eventKey) (_ *shape, err error) {
	for i, s := range e.shapes {
		if !s.hasNames(t.members) {
			continue
		}
		if !s.holds(t.members) {
			if s, err = t.widen(s, key); err != nil {
				return nil, err
			}
		}
		copy(e.shapes[1:i+1], e.shapes[:i])
		e.shapes[0] = s
		return s, nil
	}
	if t.count >= maxShapes || len(e.shapes) >= maxEventShapes {
		t.o.Report.Note(ntconv.CodeNotCarried, 1, -1, "payloads of events whose fields differ too often are one string")
		t.members = append(t.members[:0], member{wholePayload, kindString, t.whole()})
		for _, s := range e.shapes {
			if s.hasNames(t.members) && s.holds(t.members) {
				return s, nil
			}
		}
	}
	s := &shape{}
	for _, m := range t.members {
		s.names = append(s.names, m.name)
		s.kinds = append(s.kinds, m.kind)
		s.negative = append(s.negative, m.kind == kindInt && m.text[0] == '-')
	}
	if s.typ, err = t.newType(key, s); err != nil {
		return nil, err
	}
	e.shapes = append(e.shapes, s)
	return s, nil
}

// whole returns the JSON of t.members.
func (t *jsonTypes) whole() string {
	b := []byte{'{'}
	for i, m := range t.members {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonio.AppendQuoted(b, m.name)
		b = append(b, ':')
		if m.kind == kindString {
			b = jsonio.AppendQuoted(b, m.text)
		} else {
			b = append(b, m.text...)
		}
	}
	return string(append(b, '}'))
}

// hasNames reports whether the fields have the names of the members, in this order.
func (s *shape) hasNames(members []member) bool {
	if len(s.names) != len(members) {
		return false
	}
	for i := range members {
		if s.names[i] != members[i].name {
			return false
		}
	}
	return true
}

// holds reports whether the fields can restore the values of the members. It records negative numbers for widen.
func (s *shape) holds(members []member) bool {
	for i, m := range members {
		have := s.kinds[i]
		if m.kind == kindInt && m.text[0] == '-' {
			if s.negative[i] = true; have == kindUint {
				return false
			}
		}
		if have != m.kind && have != kindString &&
			!(have == kindFloat && m.kind != kindBool && m.kind != kindString || have == kindUint && m.kind == kindInt) {
			return false
		}
	}
	return true
}

// widen returns a shape that can also hold t.members. Earlier events keep the narrower type.
func (t *jsonTypes) widen(s *shape, key eventKey) (*shape, error) {
	wide := &shape{names: s.names, negative: s.negative}
	for i, m := range t.members {
		a, b := s.kinds[i], m.kind
		switch {
		case a == b:
		case a == kindString || b == kindString || a == kindBool || b == kindBool:
			a = kindString
		case a == kindFloat || b == kindFloat || s.negative[i]:
			a = kindFloat
		default:
			a = kindUint
		}
		wide.kinds = append(wide.kinds, a)
	}
	var err error
	wide.typ, err = t.newType(key, wide)
	return wide, err
}

// newType returns a type for a shape. It charges the memory of the type, because payloads determine the number of
// types.
func (t *jsonTypes) newType(key eventKey, s *shape) (*ntconv.Type, error) {
	size := 2*rowBytes + len(key.provider) + len(key.event)
	for _, name := range s.names {
		size += rowBytes + len(name)
	}
	if err := t.memory.add(size); err != nil {
		return nil, err
	}
	typ := &ntconv.Type{
		Provider: key.provider, ID: uint32(firstID + t.count), Name: key.event, Level: uint8(key.level), Opcode: uint8(key.opcode), HasOpcode: key.opcode != 0,
	}
	for i := range s.names {
		typ.Fields = append(typ.Fields, ntconv.Field{Name: s.names[i], Type: s.kinds[i].fieldType()})
	}
	t.count++
	return typ, nil
}

// append appends the payload of t.members, which s must be able to hold.
func (t *jsonTypes) append(dst []byte, s *shape) []byte {
	for i, m := range t.members {
		switch s.kinds[i] {
		case kindBool:
			dst = appendBool(dst, m.text == "true")
		case kindInt:
			n, _ := strconv.ParseInt(m.text, 10, 64)
			dst = bin.AppendU64(dst, uint64(n))
		case kindUint:
			n, _ := strconv.ParseUint(m.text, 10, 64)
			dst = bin.AppendU64(dst, n)
		case kindFloat:
			v, _ := strconv.ParseFloat(m.text, 64) // infinity if out of range
			dst = appendFloat(dst, v)
		default:
			dst = appendText(dst, m.text, t.o.Report)
		}
	}
	return dst
}

// layouts caches, by provider and event name, the layouts of runtime events, which have neither names nor fields in a
// trace.
type layouts map[string]map[string][]*clr.Layout

// Exclusive upper bounds of the IDs and versions of runtime events.
const (
	layoutIDs      = 1024
	layoutVersions = 8
)

// named returns the layouts of an event in the order of versions. It returns none if the provider describes its events
// in the trace.
func (l layouts) named(provider, name string) []*clr.Layout {
	if !clr.IsRuntime(provider) {
		return nil
	}
	byName := l[provider]
	if byName == nil {
		byName = map[string][]*clr.Layout{}
		var last *clr.Layout
		for id := range uint32(layoutIDs) {
			for version := range uint8(layoutVersions) {
				if found := clr.Lookup(provider, id, version); found != nil && found != last && found.ID == id &&
					found.Version == version {
					byName[found.Name()] = append(byName[found.Name()], found)
					last = found
				}
			}
		}
		l[provider] = byName
	}
	return byName[name]
}
