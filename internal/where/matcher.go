package where

import (
	"errors"
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
)

// A Matcher tells for the events of one trace whether an expression holds. It is for use by one goroutine, and allocates
// only for types of events that it has not met before.
type Matcher struct {
	x     *Expr
	clock ntconv.Clock

	programs map[programKey]*program
	last     *program
	lastKey  programKey

	values  []ntconv.Value // of the fields that the last program needs, for the current event
	loaded  bool           // values are those of the current event
	scratch []byte
	seen    []found // by test
}

// programKey: a label may override the version of a type, and with it the layout of the payload.
type programKey struct {
	typ     *ntconv.Type
	version uint8
}

// Bind returns a matcher for a trace with that clock. The error says what the clock cannot tell.
func (x *Expr) Bind(clock ntconv.Clock) (*Matcher, error) {
	for _, t := range x.tests {
		for i := range t.lits {
			if t.attr == attrTime && t.lits[i].isDate && clock.Wall.IsZero() {
				return nil, &Error{Text: x.text, Pos: t.pos, Msg: "the trace does not say what its clock showed; compare $time with a duration from its start, such as 1.5s"}
			}
		}
	}
	if clock.Freq <= 0 {
		return nil, errors.New("the trace's clock has no frequency")
	}
	return &Matcher{
		x: x, clock: clock,
		programs: make(map[programKey]*program),
		values:   make([]ntconv.Value, len(x.tests)),
		seen:     make([]found, len(x.tests)),
	}, nil
}

// Match reports whether the expression holds for an event of kind ntconv.KindEvent.
func (m *Matcher) Match(e *ntconv.Event) bool {
	key := programKey{e.Type, e.Version()}
	p := m.last
	if p == nil || key != m.lastKey {
		if p = m.programs[key]; p == nil {
			p = m.bind(e)
			m.programs[key] = p
		}
		m.last, m.lastKey = p, key
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
		return m.property(t, e)
	}
	if !m.loaded {
		m.load(p, e)
	}
	return m.fieldTest(t, m.values[b.slot], b.path, b.layout)
}

// load decodes the fields that a program needs.
func (m *Matcher) load(p *program, e *ntconv.Event) {
	m.loaded = true
	clear(m.values)
	if p.dynamic {
		m.loadNames(e)
		return
	}
	i, next := 0, 0
	for f, v := range clr.Fields(e) {
		if l := &p.loads[next]; l.index == i {
			if l.field == f { // not so where clr knows better than the type, see isTracepoint there
				m.values[l.slot] = v
			}
			if next++; next == len(p.loads) {
				return
			}
		}
		i++
	}
}

// loadNames decodes the fields of an event whose layout its payload tells: there, tests have a slot each.
func (m *Matcher) loadNames(e *ntconv.Event) {
	for f, v := range clr.Fields(e) {
		for i, t := range m.x.tests {
			if t.attr == attrNone && len(t.path) == 1 && t.path[0] == f.Name && m.values[i].Kind() == ntconv.ValueNull {
				m.values[i] = v
				m.seen[i].fits++
			}
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

// Notes returns what a user should know about tests that no event could pass, in the order of the expression: a line each.
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
