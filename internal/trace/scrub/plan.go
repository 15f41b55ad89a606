package scrub

import (
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/layout"
	"github.com/ntconv/ntconv/schema"
)

// A plan says how to replace the payloads of one type and version.
type plan struct {
	layout  *layout.Layout[treatment]
	short   *layout.Layout[treatment] // with the short sizes of bool and decimal; nil unless schema.Schema.HasOpenSizes
	ptr     int                       // size of a pointer
	fixed   int                       // size of payloads that need no change; -1 if they may need one, or vary in size
	tail    *site
	dropped bool
}

// A node is a field, a member or an element of a layout.
type node = layout.Node[treatment]

// A treatment says how the values of a node are replaced.
type treatment struct {
	plain int // size in bytes of a value that holds no text, 0 if it varies or there is text
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
		layout: layout.Compile[treatment](s.Fields, ptr), ptr: ptr, dropped: p.policy.drops(s.Provider),
		tail: p.site(s.Provider, event, "(bytes after the fields)"),
	}
	b := nodeBuilder{
		planner: p, rules: p.rulesFor(provider), provider: provider, shown: s.Provider, event: event,
		native: clr.IsRuntime(s.Provider),
	}
	b.chosen = slices.ContainsFunc(b.rules, func(r fieldRule) bool { return r.class == classChosen })
	fields := out.layout.Members
	b.members(fields, s.Fields, "", nil)
	for i := range fields {
		fields[i].Info.dynamic = s.Provider == clr.Runtime && s.ID == 39 && s.Fields[i].Name == "Data"
		if fields[i].Info.plain == 0 {
			out.fixed = -1
		} else if out.fixed >= 0 {
			out.fixed += fields[i].Info.plain
		}
	}
	if s.HasOpenSizes() {
		out.fixed = -1
		out.short = layout.Compile[treatment](layout.Short(s.Fields), ptr)
		adopt(out.short.Members, fields)
	}
	return out
}

// adopt gives nodes the treatments of others, which differ only in the sizes of values.
func adopt(to, from []node) {
	for i := range to {
		n, other := &to[i], &from[i]
		for ; n != nil; n, other = n.Elem, other.Elem {
			n.Info = other.Info
			adopt(n.Members, other.Members)
		}
		setPlain(&to[i])
	}
}

// setPlain sets the plain sizes of a node and its elements.
func setPlain(n *node) {
	if n.Elem != nil {
		setPlain(n.Elem)
	}
	n.Info.plain = plainSize(n)
}

func (p *planner) site(provider, event, field string) *site {
	s := &site{Provider: provider, Event: event, Field: field}
	*p.sites = append(*p.sites, s)
	return s
}

// A nodeBuilder sets the treatments of the nodes of one type.
type nodeBuilder struct {
	*planner
	rules        []fieldRule
	chosen       bool   // some rule is for chosen fields, also for numbers
	provider     string // in the form that patterns match
	shown, event string
	native       bool
}

// members sets the treatments of the members of an object. outer is the class of the object, or nil if no rule names
// it.
func (b *nodeBuilder) members(nodes []node, fields []ntconv.Field, prefix string, outer *class) {
	for i := range fields {
		path := prefix + fields[i].Name
		b.seen.addField(b.provider, b.event+"."+path)
		c := outer
		if b.chosen || !isNumber(nodes[i].Op) {
			if named := b.policy.field(b.rules, b.event+"."+path); named != nil {
				c = named
			}
		}
		b.node(&nodes[i], path, c)
	}
	for i := range nodes {
		if k := int(nodes[i].Type.Count); nodes[i].Op == layout.Counted && k < i { // the count must stay
			nodes[k].Info.secret = false
			nodes[k].Info.plain = plainSize(&nodes[k])
		}
	}
}

// node sets the treatment of a node. c is its class, or nil if no rule names it.
func (b *nodeBuilder) node(n *node, path string, c *class) {
	info := &n.Info
	info.class, info.numeric = c, b.native
	if c == nil {
		info.class = b.policy.class(classText)
	}
	switch {
	case n.Op == layout.Object:
		b.members(n.Members, n.Type.Fields, path+".", c)
		if info.key, info.value = pair(n.Type.Fields); info.key > 0 {
			n.Members[info.key-1].Info.context = info.class.name
		}
	case n.Elem != nil:
		b.node(n.Elem, path, c)
	}
	if c == nil && isBytes(n) {
		info.class = b.policy.class(classBytes)
	}
	info.secret = info.class.name == classChosen && isNumber(n.Op)
	if info.plain = plainSize(n); info.plain == 0 {
		info.site = b.site(b.shown, b.event, path)
	}
}

// isNumber reports whether values are numbers, times or GUIDs.
func isNumber(op layout.Op) bool {
	return op.IsInteger() || op == layout.Float || op == layout.Bool || op == layout.Time || op == layout.Decimal ||
		op == layout.GUID
}

// isBytes reports whether values are bytes or, in a layout that a program defines, small integers that may be
// characters.
func isBytes(n *node) bool {
	if n.Op == layout.Rest {
		return true
	}
	e := n.Elem
	return e != nil && (e.Op == layout.Uint && e.Size == 1 ||
		(e.Op == layout.Uint || e.Op == layout.Int) && e.Size <= 2 && !n.Info.numeric)
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
func plainSize(n *node) int {
	switch {
	case n.Info.secret, n.Op == layout.Unit8, n.Op == layout.Unit16:
		return 0
	case n.Op == layout.Object:
		total := 0
		for i := range n.Members {
			if n.Members[i].Info.plain == 0 {
				return 0
			}
			total += n.Members[i].Info.plain
		}
		return total
	case n.Op == layout.Fixed && n.Elem != nil && !isBytes(n):
		return n.Count * n.Elem.Info.plain // 0 for elements that are secret
	case n.Op <= layout.GUID:
		return int(n.Size)
	}
	return 0
}
