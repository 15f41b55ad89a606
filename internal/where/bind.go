package where

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
)

// answer is what can be said before an event is looked at.
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

// A program is an expression made ready for events of one type and version.
type program struct {
	result  answer // of the whole expression
	tests   []bound
	loads   []load // in the order of the payload
	dynamic bool   // fields go by name, event by event
}

// bound is a test of a program. It needs a value unless result says everything.
type bound struct {
	result answer
	slot   int         // of Matcher.values
	path   []int       // indexes of members, where the value is an object
	layout *clr.Layout // if it has names for the value
}

// load is a field of the payload that is needed.
type load struct {
	index int
	field *ntconv.Field
	slot  int
}

// gcDynamicEvent is an event of the runtime in which a name tells the layout of the rest.
const gcDynamicEvent = 39

// bind makes the program for the type and version of an event.
func (m *Matcher) bind(e *ntconv.Event) *program {
	p := &program{tests: make([]bound, len(m.x.tests))}
	fields, layout := layoutOf(e)
	p.dynamic = e.Type.Provider == clr.Runtime && e.Type.ID == gcDynamicEvent
	for i, t := range m.x.tests {
		switch b := &p.tests[i]; {
		case t.attr != attrNone && attrs[t.attr].fixed:
			b.result = answerOf(m.property(t, e))
		case t.attr != attrNone:
		case p.dynamic:
			b.slot = i
			m.seen[i].types++
		default:
			m.bindField(p, i, e.Type, fields, layout)
		}
	}
	slices.SortFunc(p.loads, func(a, b load) int { return cmp.Compare(a.index, b.index) })
	p.result = p.fold(m.x.root)
	return p
}

// layoutOf returns the fields that clr.Fields has for an event, as far as the type tells, and their layout if they come from
// clr's tables.
func layoutOf(e *ntconv.Event) ([]ntconv.Field, *clr.Layout) {
	if len(e.Type.Fields) == 0 || e.Type.Provider == clr.UniversalSystem {
		if l := clr.LayoutOf(e); l != nil {
			return l.Fields, l
		}
	}
	return e.Type.Fields, nil
}

// bindField finds the field of a test and checks whether it can be compared.
func (m *Matcher) bindField(p *program, i int, typ *ntconv.Type, fields []ntconv.Field, layout *clr.Layout) {
	t, b, seen := m.x.tests[i], &p.tests[i], &m.seen[i]
	seen.types++
	path := resolve(fields, t.path, exactly)
	if path == nil {
		b.result = no
		if seen.near == "" {
			seen.near = nearOperand(fields, t.path)
		}
		return
	}
	field := fieldAt(fields, path)
	if layout != nil && layout.HasMap(field.Name) {
		b.layout = layout
	}
	if want := t.wants(&field.Type, b.layout != nil); want != "" {
		b.result = no
		if seen.misfit != "" {
			seen.others++
			return
		}
		seen.misfit = fmt.Sprintf("%s is %s in %s; compare it with %s", t.operand(), kindOf(&field.Type), typeName(typ), want)
		return
	}
	seen.fits++
	b.path = path[1:]
	b.slot = p.slot(path[0], &fields[path[0]])
}

// slot returns the place for a field's value.
func (p *program) slot(index int, f *ntconv.Field) int {
	for _, l := range p.loads {
		if l.index == index {
			return l.slot
		}
	}
	p.loads = append(p.loads, load{index, f, len(p.loads)})
	return len(p.loads) - 1
}

func typeName(t *ntconv.Type) string {
	if t.Name == "" {
		return fmt.Sprintf("%s/%d", t.Provider, t.ID)
	}
	return t.Provider + "/" + t.Name
}

// resolve returns the indexes of the field that names lead to, from the outside in, and nil if there is none. As names of
// fields may hold dots, as many names as possible are taken for one. An object without a name need not be named: the runtime
// wraps what counters report in one.
func resolve(fields []ntconv.Field, names []string, same func(a, b string) bool) []int {
	for n := len(names); n > 0; n-- {
		name := strings.Join(names[:n], ".")
		i := slices.IndexFunc(fields, func(f ntconv.Field) bool { return same(f.Name, name) })
		switch {
		case i < 0:
		case n == len(names):
			return []int{i}
		default:
			if rest := resolve(elem(&fields[i].Type).Fields, names[n:], same); rest != nil {
				return append([]int{i}, rest...)
			}
		}
	}
	for i := range fields {
		if inside := elem(&fields[i].Type).Fields; fields[i].Name == "" && len(inside) > 0 {
			if rest := resolve(inside, names, same); rest != nil {
				return append([]int{i}, rest...)
			}
		}
	}
	return nil
}

func exactly(a, b string) bool { return a == b }

// nearOperand returns the field that names lead to but for the case of letters, as an expression writes it, and "" if there is none.
func nearOperand(fields []ntconv.Field, names []string) string {
	var near test
	for _, i := range resolve(fields, names, strings.EqualFold) {
		if fields[i].Name != "" {
			near.path = append(near.path, fields[i].Name)
		}
		fields = elem(&fields[i].Type).Fields
	}
	if near.path == nil {
		return ""
	}
	return near.operand()
}

// elem returns what a list of lists is made of.
func elem(t *ntconv.FieldType) *ntconv.FieldType {
	for t.Elem != nil {
		t = t.Elem
	}
	return t
}

func fieldAt(fields []ntconv.Field, path []int) *ntconv.Field {
	f := &fields[path[0]]
	for _, i := range path[1:] {
		f = &elem(&f.Type).Fields[i]
	}
	return f
}

// fieldKind is what the values of a field are.
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
	return [...]string{"of an unknown type", "a number", "text", "true or false", "an id", "a date", "bytes", "an object"}[k]
}

// kindOf returns what a field is, or what the elements of a list are.
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

// wants returns with what a field should be compared if none of the test's values fits, and "" if one does. named says that
// the field's numbers have names.
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
			return "a number or the name of one"
		}
		return "a number"
	case fieldText:
		return "a text in quotes"
	case fieldBool:
		return "true or false"
	case fieldGUID:
		return `an id in quotes by == or in: "00000000-0000-0000-0000-000000000000"`
	case fieldDate:
		return `a date in quotes: "2026-11-21T06:52:53.5Z"`
	case fieldObject:
		return "nothing but one of its members, as " + t.operand() + ".NAME"
	}
	return "nothing: has(" + t.operand() + ") asks whether it is there"
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

// fold returns what a program says of all events.
func (p *program) fold(n *node) answer {
	if n.kind == nodeTest {
		return p.tests[n.test].result
	}
	left := p.fold(n.left)
	if n.kind == nodeNot {
		return [...]answer{unknown: unknown, yes: no, no: yes}[left]
	}
	decides := no // one is enough
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
