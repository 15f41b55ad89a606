package scrub

import (
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/schema"
)

// A plan says how to replace the payloads of one type and version.
type plan struct {
	fields  []node
	ptr     int  // size of a pointer
	open    bool // bool and decimal may have short sizes (schema.Schema.HasOpenSizes)
	located bool // some bytes are found by a location
	fixed   int  // size of payloads that need no change; -1 if they may need one, or vary in size
	tail    *site
	dropped bool
}

// A node is a field, a member or an element of a layout.
type node struct {
	code   ntconv.TypeCode
	elem   *node
	fields []node
	count  int

	size  int // in bytes of a value that holds no text, 0 if it varies or there is text
	class *class
	site  *site
	// key and value are the indexes of the members of a pair plus 1, or 0 if the object is not a pair.
	key, value int
	context    string // of keys, if this is the key of a pair
	dynamic    bool   // the data of a GCDynamicEvent
	secret     bool   // a number to replace
	numeric    bool   // arrays of small integers are numbers, because the layout is known
}

// planner builds plans and collects the sites of their fields.
type planner struct {
	policy *Policy
	sites  *[]*site
	rules  map[string][]fieldRule // by provider
	seen   *names
}

// rulesFor returns the rules for the fields of a provider.
func (p *planner) rulesFor(provider string) []fieldRule {
	rules, ok := p.rules[provider]
	if !ok {
		rules = p.policy.rulesFor(provider)
		p.rules[provider] = rules
		p.seen.providers[provider] = true
		for _, r := range rules {
			if r.path == allFields { // also if its events have no fields
				p.policy.mark(r.rule)
			}
		}
	}
	return rules
}

// plan returns the plan for events of a schema. t is the type of the events.
func (p *planner) plan(s *schema.Schema, t *ntconv.Type, ptr int) *plan {
	provider, event := ProviderName(t, s), s.Name
	out := &plan{
		ptr: ptr, open: s.HasOpenSizes(), located: hasLocation(s.Fields), dropped: p.policy.drops(s.Provider),
		tail: p.site(s.Provider, event, "(bytes after the fields)"),
	}
	b := nodeBuilder{
		planner: p, rules: p.rulesFor(provider), provider: provider, shown: s.Provider, event: event, ptr: ptr,
		native: clr.IsRuntime(s.Provider),
	}
	b.chosen = slices.ContainsFunc(b.rules, func(r fieldRule) bool { return r.class == classChosen })
	out.fields = b.members(s.Fields, "", nil)
	if s.Provider == clr.Runtime && s.ID == 39 {
		for i := range out.fields {
			out.fields[i].dynamic = s.Fields[i].Name == "Data"
		}
	}
	for i := range out.fields {
		n := out.fields[i].size
		if n == 0 || out.open {
			out.fixed = -1
			break
		}
		out.fixed += n
	}
	return out
}

func (p *planner) site(provider, event, field string) *site {
	s := &site{Provider: provider, Event: event, Field: field}
	*p.sites = append(*p.sites, s)
	return s
}

func hasLocation(fields []ntconv.Field) bool {
	for i := range fields {
		for t := &fields[i].Type; t != nil; t = t.Elem {
			if t.Code == ntconv.TypeRelLoc || t.Code == ntconv.TypeDataLoc || hasLocation(t.Fields) {
				return true
			}
		}
	}
	return false
}

// A nodeBuilder builds the nodes of one type.
type nodeBuilder struct {
	*planner
	rules        []fieldRule
	chosen       bool   // some rule is for chosen fields, also for numbers
	provider     string // in the form that patterns match
	shown, event string
	ptr          int
	native       bool
}

// members returns the nodes of the members of an object. outer is the class of the object, or nil if no rule names it.
func (b *nodeBuilder) members(fields []ntconv.Field, prefix string, outer *class) []node {
	out := make([]node, len(fields))
	for i := range fields {
		path := prefix + fields[i].Name
		b.seen.addField(b.provider, b.event+"."+path)
		c := outer
		if b.chosen || !isNumber(fields[i].Type.Code) {
			if named := b.policy.field(b.rules, b.event+"."+path); named != nil {
				c = named
			}
		}
		out[i] = b.node(&fields[i].Type, path, c)
	}
	for i := range out {
		if k := out[i].count; out[i].code == ntconv.TypeCounted && k < i { // the count must stay
			out[k].secret = false
			out[k].size = b.plainSize(&out[k])
		}
	}
	return out
}

// node returns the node of a type. c is its class, or nil if no rule names it.
func (b *nodeBuilder) node(t *ntconv.FieldType, path string, c *class) node {
	n := node{code: t.Code, count: int(t.Count), class: c, numeric: b.native}
	if c == nil {
		n.class = b.policy.class(classText)
	}
	switch {
	case t.Code == ntconv.TypeObject:
		n.fields = b.members(t.Fields, path+".", c)
		if n.key, n.value = pair(t.Fields); n.key > 0 {
			n.fields[n.key-1].context = n.class.name
		}
	case t.Elem != nil:
		elem := b.node(t.Elem, path, c)
		n.elem = &elem
	}
	if c == nil && n.isBytes() {
		n.class = b.policy.class(classBytes)
	}
	n.secret = n.class.name == classChosen && isNumber(t.Code)
	n.size = b.plainSize(&n)
	if n.size == 0 {
		n.site = b.site(b.shown, b.event, path)
	}
	return n
}

// isNumber reports whether values of a code are numbers, times or GUIDs.
func isNumber(c ntconv.TypeCode) bool {
	switch c {
	case ntconv.TypeVarInt, ntconv.TypeVarUint:
		return true
	case ntconv.TypeUTF8Unit, ntconv.TypeUTF16Unit, ntconv.TypeRelLoc, ntconv.TypeDataLoc, ntconv.TypePad64:
		return false
	}
	return scalarSize(c, 8, false) > 0
}

// isBytes reports whether values are bytes or, in a layout that a program defines, small integers that may be
// characters.
func (n *node) isBytes() bool {
	if n.code == ntconv.TypeRest {
		return true
	}
	if n.elem == nil {
		return false
	}
	switch n.elem.code {
	case ntconv.TypeUint8:
		return true
	case ntconv.TypeInt8, ntconv.TypeUint16, ntconv.TypeInt16:
		return !n.numeric
	}
	return false
}

// pair returns the positions plus 1 of the members key and value of an object, or zeros.
func pair(fields []ntconv.Field) (key, value int) {
	for i := range fields {
		switch strings.ToLower(fields[i].Name) {
		case "key":
			key = i + 1
		case "value":
			value = i + 1
		}
	}
	if key == 0 || value < key {
		return 0, 0
	}
	return key, value
}

// plainSize returns the size of values without text, or 0 if there may be some or the size varies.
func (b *nodeBuilder) plainSize(n *node) int {
	if n.secret {
		return 0
	}
	switch n.code {
	case ntconv.TypeUTF8Unit, ntconv.TypeUTF16Unit, ntconv.TypeRelLoc, ntconv.TypeDataLoc:
		return 0
	case ntconv.TypePad64:
		return 0 // none with pointers of 4 bytes
	case ntconv.TypeObject:
		total := 0
		for i := range n.fields {
			if n.fields[i].size == 0 {
				return 0
			}
			total += n.fields[i].size
		}
		return total
	case ntconv.TypeFixedArray:
		if n.isBytes() || n.elem == nil {
			return 0
		}
		return n.count * n.elem.size // 0 for elements that are secret
	}
	return scalarSize(n.code, b.ptr, false)
}

// scalarSize returns the size of a scalar, or 0 if the type has no fixed one.
func scalarSize(c ntconv.TypeCode, ptr int, narrow bool) int {
	switch {
	case c == ntconv.TypePointer:
		return ptr
	case narrow && c == ntconv.TypeBool32:
		return 1
	case narrow && c == ntconv.TypeDecimal:
		return 8
	}
	return bin.FixedSize(uint8(c))
}
