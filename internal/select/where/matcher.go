package where

import (
	"errors"
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

// A Matcher evaluates an expression for the events of one trace. It is not safe for concurrent use. It allocates memory
// only when it encounters a new schema.
//
// Match sets last to the program of the event's schema and clears loaded. The first test that needs a field value loads
// all of them.
type Matcher struct {
	x     *Expr
	clock ntconv.Clock

	schemas  schema.Table
	programs map[*schema.Schema]*program
	last     *program

	values  []ntconv.Value // fields that last needs; valid only if loaded
	loaded  bool           // load has been called for the current event
	scratch []byte         // string form of the value under test; each test overwrites it
	seen    []found        // by test
}

// Bind returns a Matcher for a trace with the given clock. It fails with an *Error if the expression compares $time
// with a date and clock.Wall is zero, and with another error if the clock has no frequency.
func (x *Expr) Bind(clock ntconv.Clock) (*Matcher, error) {
	for _, t := range x.tests {
		for i := range t.lits {
			if t.attr == attrTime && t.lits[i].isDate && clock.Wall.IsZero() {
				return nil, &Error{
					Text: x.text,
					Pos:  t.pos,
					Msg:  "the trace does not state its start date; compare $time with a duration since its start, such as 1.5s",
				}
			}
		}
	}
	if clock.Freq <= 0 {
		return nil, errors.New("the trace's clock has no frequency")
	}
	return &Matcher{
		x: x, clock: clock,
		programs: make(map[*schema.Schema]*program),
		values:   make([]ntconv.Value, len(x.tests)),
		seen:     make([]found, len(x.tests)),
	}, nil
}

// Match reports whether the expression holds for an event, which it borrows and which must be of KindEvent.
func (m *Matcher) Match(e *ntconv.Event) bool {
	s, p := m.schemas.Of(e), m.last
	if p == nil || p.schema != s {
		if p = m.programs[s]; p == nil {
			p = m.bind(s, e)
			m.programs[s] = p
		}
		m.last = p
	}
	if p.result != unknown {
		return p.result == yes
	}
	m.loaded = false
	return m.eval(p, m.x.root, e)
}

func (m *Matcher) eval(p *program, n *node, e *ntconv.Event) bool {
	switch n.kind {
	case nodeAnd:
		return m.eval(p, n.left, e) && m.eval(p, n.right, e)
	case nodeOr:
		return m.eval(p, n.left, e) || m.eval(p, n.right, e)
	case nodeNot:
		return !m.eval(p, n.left, e)
	}
	t, b := m.x.tests[n.test], &p.tests[n.test]
	switch {
	case b.result != unknown:
		return b.result == yes
	case t.attr != attrNone:
		return m.property(t, p.schema, e)
	}
	if !m.loaded {
		m.load(p, e)
	}
	return m.fieldTest(t, m.values[b.column], b.path, b)
}

// load decodes the fields that the program needs. If the schema is dynamic, only the event shows which fields exist, so
// load counts them for Notes; bindField has done so for all others.
func (m *Matcher) load(p *program, e *ntconv.Event) {
	m.loaded = true
	p.fields.Read(e, m.values)
	if !p.schema.IsDynamic() {
		return
	}
	for i := range p.tests {
		if b := &p.tests[i]; b.result == unknown && m.x.tests[i].attr == attrNone &&
			m.values[b.column].Kind() != ntconv.ValueNull {
			m.seen[i].fits++
		}
	}
}

// A found records for one test what Notes needs.
type found struct {
	types  int    // event types examined
	fits   int    // event types, or events with a dynamic schema, that have a comparable field
	misfit string // message for the first type whose field cannot be compared
	others int    // further types whose field cannot be compared
	near   string // a field whose name differs only in letter case
}

// Notes returns one line for each test that could not hold for any event so far, in the order of the expression: no
// event type has the field, or its values cannot be compared with those of the test. Call it after the last Match.
func (m *Matcher) Notes() []string {
	var notes []string
	for i, t := range m.x.tests {
		f := &m.seen[i]
		switch {
		case t.attr != attrNone || f.fits > 0 || f.types == 0:
		case f.misfit == "" && f.near != "":
			notes = append(notes, fmt.Sprintf("no event has a field %s, but there is %s", t.operand(), f.near))
		case f.misfit == "":
			notes = append(notes, fmt.Sprintf("no event has a field %s", t.operand()))
		case f.others > 0:
			notes = append(notes, fmt.Sprintf("%s; further event types with such a mismatch: %d", f.misfit, f.others))
		default:
			notes = append(notes, f.misfit)
		}
	}
	return notes
}
