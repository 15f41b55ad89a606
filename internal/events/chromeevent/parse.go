package chromeevent

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/data/jsonio"
)

func appendUint(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }

// A Parser parses events in JSON. The zero value is ready to use. It is not safe for concurrent use.
type Parser struct {
	// Rounded counts the events with a time that is not a whole number of nanoseconds.
	Rounded int64
	// Repaired counts the events with invalid UTF-8, which becomes U+FFFD.
	Repaired int64
	// Valid states that all JSON is valid UTF-8. The caller sets it; Parse then does not check.
	Valid bool

	names   map[string]string
	scratch []byte
	other   []byte
	ids     []byte
}

// maxNames bounds the strings that a Parser interns.
const maxNames = 1 << 16

// Parse sets e to the event in a JSON object, which jsonio.Skip must have validated. Byte slices of e alias text or
// are borrowed until the next call. If a name occurs more than once, the last member is used. A member with a value of
// the wrong type, such as a name that is a number, becomes part of Other.
func (p *Parser) Parse(text []byte, e *Event) {
	*e = Event{}
	p.other, p.ids = p.other[:0], p.ids[:0]
	if !p.Valid && !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
		p.Repaired++
	}
	var times times
	members := jsonio.MembersOf(text)
	for {
		name, value, ok := members.Next()
		if !ok {
			break
		}
		if !p.member(e, &times, name, value) {
			p.addOther(name, value)
		}
	}
	if len(p.other) > 0 {
		e.Other = p.other
	}
	if !times.set(e) {
		p.Rounded++
	}
}

// addOther appends a member to Event.Other.
func (p *Parser) addOther(name, value []byte) {
	if len(p.other) > 0 {
		p.other = append(p.other, ',')
	}
	p.other = append(p.other, name...)
	p.other = append(p.other, ':')
	p.other = append(p.other, value...)
}

// times holds the times of an event before rounding.
type times struct{ ts, dur, tts, tdur timeText }

// A timeText is a time and the JSON from which it was parsed.
type timeText struct {
	Micros
	text []byte
}

// isExact reports whether rounding the time loses no information.
func (t *timeText) isExact() bool {
	n, exact := t.Round()
	return exact || isNearest(t.text, n)
}

// set stores the rounded times in e. It returns false if rounding loses information.
func (t *times) set(e *Event) bool {
	e.Time, _ = t.ts.Round()
	e.Duration, _ = t.ts.RoundDuration(t.dur.Micros)
	e.ThreadTime, _ = t.tts.Round()
	e.ThreadDuration, _ = t.tts.RoundDuration(t.tdur.Micros)
	if e.Has&HasDuration == 0 {
		e.Duration = 0
	}
	if e.Has&HasThreadDuration == 0 {
		e.ThreadDuration = 0
	}
	return t.ts.isExact() && t.dur.isExact() && t.tts.isExact() && t.tdur.isExact()
}

// member parses a member. It returns false if the member belongs in Other.
func (p *Parser) member(e *Event, t *times, name, value []byte) bool {
	switch string(name) {
	case `"ph"`:
		return p.text(&e.Phase, value) && e.Phase != ""
	case `"name"`:
		return e.note(HasName, p.text(&e.Name, value))
	case `"cat"`:
		return e.note(HasCategory, p.text(&e.Category, value))
	case `"ts"`:
		return e.note(HasTime, micros(&t.ts, value))
	case `"dur"`:
		return e.note(HasDuration, micros(&t.dur, value))
	case `"pid"`:
		e.PID, e.Has = value, e.Has|HasPID
	case `"tid"`:
		e.TID, e.Has = value, e.Has|HasTID
	case `"args"`:
		e.Args = value
	case `"id"`:
		return p.id(&e.ID, PlainID, value)
	case `"id2"`:
		return p.id2(&e.ID, value)
	default:
		return p.rareMember(e, t, name, value)
	}
	return true
}

// rareMember is member for the names that few events have.
func (p *Parser) rareMember(e *Event, t *times, name, value []byte) bool {
	switch string(name) {
	case `"tts"`:
		return e.note(HasThreadTime, micros(&t.tts, value))
	case `"tdur"`:
		return e.note(HasThreadDuration, micros(&t.tdur, value))
	case `"s"`:
		return e.note(HasScope, p.text(&e.Scope, value))
	case `"scope"`:
		return e.note(HasIDScope, p.text(&e.IDScope, value))
	case `"bp"`:
		return e.note(HasBindPoint, p.text(&e.BindPoint, value))
	case `"bind_id"`:
		return p.id(&e.BindID, PlainID, value)
	case `"flow_in"`:
		return e.note(HasFlowIn, flag(&e.FlowIn, value))
	case `"flow_out"`:
		return e.note(HasFlowOut, flag(&e.FlowOut, value))
	case `"sf"`:
		e.StackID = value
	case `"stack"`:
		e.StackNames = value
	default:
		return false
	}
	return true
}

// note adds m to e.Has if ok is true, and returns ok.
func (e *Event) note(m Member, ok bool) bool {
	if ok {
		e.Has |= m
	}
	return ok
}

// text parses a string and interns it. It returns false if the value is not a string of valid Unicode.
func (p *Parser) text(s *string, value []byte) bool {
	if value[0] != '"' {
		return false
	}
	b := value[1 : len(value)-1]
	if !jsonio.IsPlain(b) {
		var exact bool
		if p.scratch, exact = jsonio.AppendUnquoted(p.scratch[:0], value); !exact {
			return false
		}
		b = p.scratch
	}
	known, ok := p.names[string(b)]
	if !ok {
		known = string(b)
		if p.names == nil || len(p.names) >= maxNames {
			p.names = map[string]string{}
		}
		const maxKept = 256 // maximum length in bytes of an interned string
		if len(b) <= maxKept {
			p.names[known] = known
		}
	}
	*s = known
	return true
}

// micros parses a time, which may be a string: some programs write strings to keep digits that JavaScript would lose.
func micros(t *timeText, value []byte) bool {
	parsed, ok := ParseMicros(value)
	if ok {
		*t = timeText{parsed, value}
	}
	return ok
}

func flag(f *bool, value []byte) bool {
	switch value[0] {
	case 't', 'f':
		*f = value[0] == 't'
		return true
	}
	return false
}

// id parses an ID, a string or a number. It returns false if the event already has one.
func (p *Parser) id(id *ID, kind IDKind, value []byte) bool {
	if id.Kind != NoID {
		return false
	}
	switch c := value[0]; {
	case c == '"' && jsonio.IsPlain(value):
		*id = ID{Kind: kind, Text: value[1 : len(value)-1]}
	case c == '"':
		from := len(p.ids)
		out, exact := jsonio.AppendUnquoted(p.ids, value)
		if !exact {
			return false
		}
		p.ids = out
		*id = ID{Kind: kind, Text: out[from:]}
	case c == '-' || c >= '0' && c <= '9':
		*id = ID{Kind: kind, Number: true, Text: value}
	default:
		return false
	}
	return true
}

// id2 parses an object with exactly one ID.
func (p *Parser) id2(id *ID, value []byte) bool {
	members := jsonio.MembersOf(value)
	name, first, ok := members.Next()
	if _, _, more := members.Next(); !ok || more {
		return false
	}
	switch string(name) {
	case `"local"`:
		return p.id(id, LocalID, first)
	case `"global"`:
		return p.id(id, GlobalID, first)
	}
	return false
}
