package where

import (
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

// An answer is the result of a test or an expression, as far as it is known without the values of an event.
type answer uint8

const (
	unknown answer = iota
	yes
	no
)

func answerOf(b bool) answer {
	if b {
		return yes
	}
	return no
}

// A program is an expression prepared for the events of one schema. It is immutable.
type program struct {
	schema *schema.Schema
	result answer // of the whole expression; unless it is unknown, no event needs to be decoded
	tests  []bound
	fields *schema.Projection
}

// A bound is the state of one test in a program. It needs a value only if result is unknown.
type bound struct {
	result answer
	column int            // index into program.fields and Matcher.values
	path   []int          // indices of members, from the column's value or its elements to the field
	schema *schema.Schema // set if the manifest has names for the values of field
	field  *ntconv.Field
}

// named reports whether the manifest has names for values of the field.
func (b *bound) named() bool { return b.schema != nil }

// bind returns the program for the events with schema s. e is any of these events: it supplies the fixed properties.
func (m *Matcher) bind(s *schema.Schema, e *ntconv.Event) *program {
	p := &program{schema: s, tests: make([]bound, len(m.x.tests))}
	var paths []schema.Path
	for i, t := range m.x.tests {
		switch b := &p.tests[i]; {
		case t.attr != attrNone && attrs[t.attr].fixed:
			b.result = answerOf(m.property(t, s, e))
		case t.attr != attrNone:
		case s.IsDynamic():
			m.seen[i].types++
		default:
			m.bindField(b, i, s)
		}
		if b := &p.tests[i]; t.attr == attrNone && b.result == unknown {
			b.column = len(paths)
			paths = append(paths, t.path)
		}
	}
	p.fields = s.ProjectPaths(paths...)
	for i := range p.tests {
		if b := &p.tests[i]; b.field != nil {
			b.path = p.fields.Members(b.column)
		}
	}
	p.result = p.fold(m.x.root)
	return p
}

// bindField finds the field of test i in s. If s has no such field, or its values cannot be compared with the test's,
// the result is no. It records in m.seen what Notes reports.
func (m *Matcher) bindField(b *bound, i int, s *schema.Schema) {
	t, seen := m.x.tests[i], &m.seen[i]
	seen.types++
	field := s.Lookup(t.path)
	if field == nil {
		b.result = no
		if seen.near == "" {
			near := test{path: s.Similar(t.path)}
			seen.near = near.operand()
		}
		return
	}
	named := s.HasValueNames(field.Name)
	if want := t.wants(&field.Type, named); want != "" {
		b.result = no
		if seen.misfit != "" {
			seen.others++
			return
		}
		seen.misfit = fmt.Sprintf("%s is %s in %s; %s", t.operand(), kindOf(&field.Type), typeName(s), want)
		return
	}
	seen.fits++
	b.field = field
	if named {
		b.schema = s
	}
}

// typeName returns provider/name of the events with a schema, for messages.
func typeName(s *schema.Schema) string {
	if s.Name == "" {
		return fmt.Sprintf("%s/%d", s.Provider, s.ID)
	}
	return s.Provider + "/" + s.Name
}

// fieldKind groups the types of fields by the values with which they can be compared.
type fieldKind uint8

const (
	fieldUnknown fieldKind = iota
	fieldNumber
	fieldText
	fieldBool
	fieldGUID
	fieldDate
	fieldBytes
	fieldObject
)

func (k fieldKind) String() string {
	return [...]string{"of an unknown type", "a number", "a string", "a Boolean", "an ID", "a date", "bytes", "an object"}[k]
}

// kindOf returns the kind of a field, or of the elements if the field is a list.
func kindOf(t *ntconv.FieldType) fieldKind {
	bytes := false
	for ; t.Elem != nil; t = t.Elem {
		bytes = t.Elem.Code == ntconv.TypeUint8
	}
	switch t.Code {
	case ntconv.TypeObject:
		return fieldObject
	case ntconv.TypeUint8:
		if bytes {
			return fieldBytes
		}
		return fieldNumber
	case ntconv.TypeUTF16Unit, ntconv.TypeUTF8Unit, ntconv.TypeUTF16String, ntconv.TypeANSIString:
		return fieldText
	case ntconv.TypeBool8, ntconv.TypeBool32:
		return fieldBool
	case ntconv.TypeGUID:
		return fieldGUID
	case ntconv.TypeDateTime:
		return fieldDate
	case ntconv.TypeRest:
		return fieldBytes
	case ntconv.TypePad64, 0:
		return fieldUnknown
	}
	return fieldNumber
}

// wants returns "" if one of the test's values can be compared with the field, or else a description of the values that
// can be. named states that the field's numbers have names.
func (t *test) wants(f *ntconv.FieldType, named bool) string {
	kind := kindOf(f)
	if t.op == opHas {
		return ""
	}
	for i := range t.lits {
		if t.fits(kind, named, &t.lits[i]) {
			return ""
		}
	}
	switch kind {
	case fieldNumber:
		if named {
			return "compare it with a number or the name of one"
		}
		return "compare it with a number"
	case fieldText:
		return "compare it with a string in quotes"
	case fieldBool:
		return "compare it with true or false"
	case fieldGUID:
		return `compare it with an ID in quotes, by == or in: "00000000-0000-0000-0000-000000000000"`
	case fieldDate:
		return `compare it with a date in quotes: "2026-11-21T06:52:53.5Z"`
	case fieldObject:
		return "compare one of its members: " + t.operand() + ".NAME"
	}
	return "has(" + t.operand() + ") tests whether it is present"
}

// fits reports whether a value can be compared with fields of a kind.
func (t *test) fits(kind fieldKind, named bool, l *literal) bool {
	switch kind {
	case fieldNumber:
		return l.kind == litNumber || named && l.kind == litString && t.op.takesNames()
	case fieldText:
		return l.kind == litString
	case fieldBool:
		return l.kind == litNumber || l.kind == litBool && t.op.takesNames()
	case fieldGUID:
		return t.op == opMatch || l.isGUID && t.op.takesNames()
	case fieldDate:
		return l.isDate && t.op != opMatch
	}
	return false
}

// fold returns the result of a subtree for all events with the program's schema, as far as it is known.
func (p *program) fold(n *node) answer {
	if n.kind == nodeTest {
		return p.tests[n.test].result
	}
	left := p.fold(n.left)
	if n.kind == nodeNot {
		return [...]answer{unknown: unknown, yes: no, no: yes}[left]
	}
	decides := no // the answer of one operand that decides the result
	if n.kind == nodeOr {
		decides = yes
	}
	switch right := p.fold(n.right); {
	case left == decides || right == decides:
		return decides
	case left == unknown || right == unknown:
		return unknown
	}
	return [...]answer{yes: no, no: yes}[decides]
}
