package chromeevent

import (
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// A plan states how the payloads of a type are decoded. It is immutable.
type plan struct {
	phase, category, name string
	has                   Member // present members among name, cat and ts
	topLevel              bool
	ops                   []op
	part, parts, generic  bool
	invalid               bool // the layout does not match the fields
}

// An op decodes one field, or begins or ends an object.
type op struct {
	code  byte   // code of the layout; codeValue, classOpen, classArray or classClose for values
	class byte   // class of a value, or of the elements of an array
	float bool   // the value is a float64
	key   []byte // `"name":` of a member's value; nil for a value without a name
}

// codeValue is the code of ops for scalar values.
const codeValue = 'v'

// newPlan returns the plan of a type, with invalid set if the attributes and fields contradict each other.
func newPlan(t *ntconv.Type) *plan {
	p := &plan{has: HasName | HasCategory | HasTime, category: t.Provider, name: t.Name}
	p.phase, _ = t.Attrs.Get(attrPhase)
	if p.phase == phaseField {
		p.phase = ""
	}
	if s, ok := t.Attrs.Get(attrCategory); ok {
		p.category = s
	}
	if s, ok := t.Attrs.Get(attrName); ok {
		p.name = s
	}
	absent, _ := t.Attrs.Get(attrAbsent)
	for name := range strings.SplitSeq(absent, ",") {
		for _, a := range absentNames {
			if a.name == name {
				p.has &^= a.member
				p.topLevel = p.topLevel || a.member == topLevel
			}
		}
	}
	if p.has&HasCategory == 0 {
		p.category = ""
	}
	if p.has&HasName == 0 {
		p.name = ""
	}
	layout, _ := t.Attrs.Get(attrLayout)
	c := compiler{plan: p, layout: layout}
	p.invalid = !c.event(t.Fields) || p.part && len(t.Fields) != 2
	return p
}

// A compiler derives the ops of a plan from the layout and the fields of a type. Both are untrusted.
type compiler struct {
	plan   *plan
	layout string
}

func (c *compiler) next() byte {
	if c.layout == "" {
		return 0
	}
	code := c.layout[0]
	c.layout = c.layout[1:]
	return code
}

func (c *compiler) add(o op) { c.plan.ops = append(c.plan.ops, o) }

// event compiles a layout. It returns false if the fields do not match it.
func (c *compiler) event(fields []ntconv.Field) bool {
	for c.layout != "" {
		code, n := c.next(), 1
		switch code {
		case codeArgs:
			if c.next() != classOpen {
				return false
			}
			c.add(op{code: codeArgs})
			return c.members(fields, 0) && c.layout == ""
		case codeWhole, codeOther:
			c.add(op{code: code})
			if len(fields) == 0 || !c.value(&fields[0], code == codeOther, 0) {
				return false
			}
		case codePart, codeGeneric:
			want := fieldBuilder{sig: []byte{code}}
			list := want.event()
			if n = len(list); len(fields) != n || !slices.EqualFunc(fields, list, equalFields) {
				return false
			}
			c.plan.part, c.plan.generic = code == codePart, code == codeGeneric
			c.add(op{code: code})
		default:
			f, ok := fieldOf(code)
			if !ok || len(fields) == 0 || !equalTypes(&fields[0].Type, &f.typ) {
				return false
			}
			c.plan.parts = c.plan.parts || code == codeParts
			c.add(op{code: code})
		}
		fields = fields[n:]
	}
	return len(fields) == 0
}

func equalFields(f, g ntconv.Field) bool { return equalTypes(&f.Type, &g.Type) }

// equalTypes compares the type of a field with a type of fieldOf or typeOf.
func equalTypes(have, want *ntconv.FieldType) bool {
	return have.Code == want.Code && (want.Elem == nil || have.Elem != nil && equalTypes(have.Elem, want.Elem))
}

// members compiles all fields of an object, and its end.
func (c *compiler) members(fields []ntconv.Field, depth int) bool {
	for i := range fields {
		if !c.value(&fields[i], true, depth) {
			return false
		}
	}
	c.add(op{code: classClose})
	return c.next() == classClose
}

// value compiles a value. depth is the number of enclosing objects.
func (c *compiler) value(f *ntconv.Field, named bool, depth int) bool {
	o := op{code: codeValue, class: c.next()}
	if named {
		o.key = append(jsonio.AppendQuoted(nil, f.Name), ':')
	}
	switch o.class {
	case classOpen:
		o.code = classOpen
		c.add(o)
		return depth < maxDepth && f.Type.Code == ntconv.TypeObject && c.members(f.Type.Fields, depth+1)
	case classArray:
		o.code, o.class = classArray, c.next()
		if f.Type.Code != ntconv.TypeArray || f.Type.Elem == nil {
			return false
		}
		o.float = f.Type.Elem.Code == ntconv.TypeFloat64
		want := typeOf(o.class, o.float)
		c.add(o)
		return isScalar(o.class) && equalTypes(f.Type.Elem, &want)
	}
	o.float = f.Type.Code == ntconv.TypeFloat64
	want := typeOf(o.class, o.float)
	c.add(o)
	return isScalar(o.class) && equalTypes(&f.Type, &want)
}

func isScalar(class byte) bool {
	switch class {
	case classText, classBool, classNumber, classInt, classUint, classJSON:
		return true
	}
	return false
}
