package where

import (
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

// An attr is a property that every event can have, regardless of its payload.
type attr uint8

const (
	attrNone attr = iota
	attrTime
	attrTID
	attrPID
	attrCPU
	attrProvider
	attrEvent
	attrLevel
	attrOpcode
	attrKeywords
	attrID
	attrVersion
	attrSize
	attrActivity
	attrRelated
	attrTrace
	attrSpan
	attrProcess
	attrThread
	attrLabel // the last, see attrList
)

// attrKind states with which values a property can be compared.
type attrKind uint8

const (
	kindAny attrKind = iota // depends on the event
	kindNumber
	kindText
	kindID // a string, case-insensitive
	kindTime
	kindOwner // a name that may be known only at the end of a trace: an Operand, but not part of an expression
)

// attrs is indexed by attr. A fixed property is the same for all events with one schema, so bind evaluates its tests
// once.
var attrs = [...]struct {
	name  string
	kind  attrKind
	fixed bool
}{
	attrNone:     {"", kindAny, false},
	attrTime:     {"time", kindTime, false},
	attrTID:      {"tid", kindNumber, false},
	attrPID:      {"pid", kindNumber, false},
	attrCPU:      {"cpu", kindNumber, false},
	attrProvider: {"provider", kindText, true},
	attrEvent:    {"event", kindText, true},
	attrLevel:    {"level", kindNumber, false}, // as opcode and keywords: a label may override the type
	attrOpcode:   {"opcode", kindNumber, false},
	attrKeywords: {"keywords", kindNumber, false},
	attrID:       {"id", kindNumber, true},
	attrVersion:  {"version", kindNumber, true},
	attrSize:     {"size", kindNumber, false},
	attrActivity: {"activity_id", kindID, false},
	attrRelated:  {"related_activity_id", kindID, false},
	attrTrace:    {"trace_id", kindID, false},
	attrSpan:     {"span_id", kindID, false},
	attrProcess:  {"process", kindOwner, false},
	attrThread:   {"thread", kindOwner, false},
	attrLabel:    {"label", kindAny, false},
}

// attrByName returns the property with a name, without the $, or else attrNone.
func attrByName(name string) attr {
	for i := range attrs {
		if attrs[i].name == name && name != "" {
			return attr(i)
		}
	}
	return attrNone
}

// OperandNames returns the properties that ParseOperands accepts, without those that need a key.
func OperandNames() (list []string) {
	for _, a := range attrs[attrTime:attrLabel] {
		list = append(list, "$"+a.name)
	}
	return list
}

// attrList returns the names of all properties, for messages; those of kindOwner only if owners is set.
func attrList(owners bool) string {
	var list []string
	for _, a := range attrs[1:] {
		if owners || a.kind != kindOwner {
			list = append(list, "$"+a.name)
		}
	}
	return strings.Join(list, " ") + ".KEY"
}

// property evaluates the test of a property.
func (m *Matcher) property(t *test, s *schema.Schema, e *ntconv.Event) bool {
	switch attrs[t.attr].kind {
	case kindTime:
		return m.timeTest(t, e)
	case kindNumber:
		n, ok := numberOf(t.attr, s, e)
		return ok && t.numberTest(n)
	case kindText:
		if t.attr == attrProvider {
			m.scratch = append(m.scratch[:0], s.Provider...)
		} else {
			m.scratch = append(m.scratch[:0], s.Name...)
		}
		return t.textTest(m.scratch)
	case kindID:
		return m.idTest(t, e)
	}
	return m.labelTest(t, e)
}

// numberOf returns a numeric property, and false if it was not recorded.
func numberOf(a attr, s *schema.Schema, e *ntconv.Event) (number, bool) {
	switch a {
	case attrTID:
		if e.Thread == nil || e.Thread.TID == ntconv.TIDUnknown {
			return number{}, false
		}
		return unsigned(e.Thread.TID), true
	case attrPID:
		if e.Thread == nil || e.Thread.Process == nil {
			return number{}, false
		}
		return unsigned(e.Thread.Process.PID), true
	case attrCPU:
		return unsigned(uint64(uint32(e.CPU))), e.CPU != ntconv.CPUUnknown
	case attrLevel:
		return unsigned(uint64(e.Level())), true
	case attrOpcode:
		return unsigned(uint64(s.OpcodeOf(e))), true
	case attrKeywords:
		return unsigned(e.Keywords()), true
	case attrID:
		return unsigned(uint64(e.Type.ID)), true
	case attrVersion:
		return unsigned(uint64(e.Version())), true
	}
	return unsigned(uint64(len(e.Payload))), true
}

// timeTest compares the time of an event. Durations and dates are both compared as nanoseconds since the clock's Tick.
func (m *Matcher) timeTest(t *test, e *ntconv.Event) bool {
	if t.op == opHas {
		return true
	}
	at := m.clock.Nanos(e.Time)
	for i := range t.lits {
		l := &t.lits[i]
		d := l.dur
		if l.isDate {
			d = l.date.Sub(m.clock.Wall)
		}
		if t.op.holds(order(compare(at, int64(d)))) {
			return true
		}
	}
	return false
}

// idKind returns the kind of the label that holds an ID.
func idKind(a attr) ntconv.LabelKind {
	switch a {
	case attrActivity:
		return ntconv.LabelActivityID
	case attrRelated:
		return ntconv.LabelRelatedActivityID
	case attrTrace:
		return ntconv.LabelTraceID
	}
	return ntconv.LabelSpanID
}

// idTest compares an ID in text form: activity IDs as GUIDs, trace and span IDs in hexadecimal.
func (m *Matcher) idTest(t *test, e *ntconv.Event) bool {
	id := e.Labels.Find(idKind(t.attr))
	if id == nil || id.ID == [16]byte{} {
		return false
	}
	m.scratch = id.AppendText(m.scratch[:0])
	return t.idTest(m.scratch)
}

// labelTest compares the last label with the key; earlier ones are ignored, as Labels.ID ignores earlier IDs.
func (m *Matcher) labelTest(t *test, e *ntconv.Event) bool {
	if e.Labels == nil {
		return false
	}
	for i := len(e.Labels.List()) - 1; i >= 0; i-- {
		switch l := &e.Labels.List()[i]; {
		case l.Key != t.path[0]:
		case l.Kind == ntconv.LabelInt:
			return t.numberTest(signed(l.Num))
		case l.Kind == ntconv.LabelString:
			m.scratch = append(m.scratch[:0], l.Str...)
			return t.textTest(m.scratch)
		}
	}
	return false
}
