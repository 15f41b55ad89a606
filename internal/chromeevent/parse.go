package chromeevent

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/jsonscan"
)

func appendUint(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }

// A Parser reads events in JSON. The zero value is ready to use. It is not safe for concurrent use.
type Parser struct {
	// Rounded counts the events with a time that is finer than a nanosecond.
	Rounded int64
	// Repaired counts the events with text that is not UTF-8, which becomes U+FFFD.
	Repaired int64
	// Valid means that the JSON is UTF-8: Parse does not check it.
	Valid bool

	names   map[string]string
	scratch []byte
	other   []byte
	ids     []byte
}

// maxNames bounds the strings that a Parser remembers so as not to make them again.
const maxNames = 1 << 16

// Parse sets e to the event in a JSON object that jsonscan.Skip has validated. Byte slices of e refer to text or are
// valid until the next call. If a name occurs twice, the last member counts. A member that is not of its type, such as
// a name that is a number, becomes one of Other.
func (p *Parser) Parse(text []byte, e *Event) {
	*e = Event{}
	p.other, p.ids = p.other[:0], p.ids[:0]
	if !p.Valid && !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
		p.Repaired++
	}
	var times times
	members := jsonscan.MembersOf(text)
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

func (p *Parser) addOther(name, value []byte) {
	if len(p.other) > 0 {
		p.other = append(p.other, ',')
	}
	p.other = append(p.other, name...)
	p.other = append(p.other, ':')
	p.other = append(p.other, value...)
}

// times are the times of an event before they are rounded.
type times struct{ ts, dur, tts, tdur timeText }

// A timeText is a time and its text.
type timeText struct {
	Micros
	text []byte
}

// isExact reports whether rounding the time loses nothing.
func (t *timeText) isExact() bool {
	n, exact := t.Round()
	return exact || isNearest(t.text, n)
}

// set rounds the times. It returns false if one was finer than nanoseconds.
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

// member reads a member. It returns false if it is one of Other.
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

// note notes that a member is present if ok is true, which it returns.
func (e *Event) note(m Member, ok bool) bool {
	if ok {
		e.Has |= m
	}
	return ok
}

// text reads a string that Unicode can represent.
func (p *Parser) text(s *string, value []byte) bool {
	if value[0] != '"' {
		return false
	}
	b := value[1 : len(value)-1]
	if !jsonscan.IsPlain(b) {
		var exact bool
		if p.scratch, exact = jsonscan.AppendUnquoted(p.scratch[:0], value); !exact {
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
		const maxKept = 256 // bytes of a string that is remembered
		if len(b) <= maxKept {
			p.names[known] = known
		}
	}
	*s = known
	return true
}

// micros reads a time. That of a string counts, too: some programs write them to keep digits that JavaScript would
// lose.
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

// id reads an ID, which is a string or a number. An event has one.
func (p *Parser) id(id *ID, kind IDKind, value []byte) bool {
	if id.Kind != NoID {
		return false
	}
	switch c := value[0]; {
	case c == '"' && jsonscan.IsPlain(value):
		*id = ID{Kind: kind, Text: value[1 : len(value)-1]}
	case c == '"':
		from := len(p.ids)
		out, exact := jsonscan.AppendUnquoted(p.ids, value)
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

// id2 reads an object with one ID.
func (p *Parser) id2(id *ID, value []byte) bool {
	members := jsonscan.MembersOf(value)
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
