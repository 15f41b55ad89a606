package where

import (
	"errors"
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

// A Matcher tells for the events of one trace whether an expression holds. It is for use by one goroutine, and
// allocates only for types of events that it has not met before.
type Matcher struct {
	x     *Expr
	clock ntconv.Clock

	schemas  schema.Table
	programs map[*schema.Schema]*program
	last     *program

	values  []ntconv.Value // of the fields that the last program needs, for the current event
	loaded  bool           // values are those of the current event
	scratch []byte
	seen    []found // by test
}

// Bind returns a matcher for a trace with that clock. The error says what the clock cannot tell.
func (x *Expr) Bind(clock ntconv.Clock) (*Matcher, error) {
	for _, t := range x.tests {
		for i := range t.lits {
			if t.attr == attrTime && t.lits[i].isDate && clock.Wall.IsZero() {
				return nil, &Error{
					Text: x.text,
					Pos:  t.pos,
					Msg:  "the trace does not say what its clock showed; compare $time with a duration from its start, such as 1.5s",
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

// Match reports whether the expression holds for an event of kind ntconv.KindEvent.
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

// load decodes the fields that a program needs.
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

// found is what the types of events say about a test.
type found struct {
	types  int    // that were looked at
	fits   int    // have the field, and it can be compared
	misfit string // why another cannot, for the first of them
	others int    // of the same misfortune
	near   string // a field whose name differs by the case of letters, in types that do not have the field
}

// Notes returns what a user should know about tests that no event could pass, in the order of the expression: a line
// each.
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
			notes = append(notes, fmt.Sprintf("%s, and so in %d more", f.misfit, f.others))
		default:
			notes = append(notes, f.misfit)
		}
	}
	return notes
}
