package where

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/schema"
)

// Columns reads the values of operands from the events of one trace. It allocates memory only when it encounters a new
// schema. It is not safe for concurrent use.
type Columns struct {
	operands []*Operand
	clock    ntconv.Clock

	schemas  schema.Table
	bindings map[*schema.Schema]*binding
	last     *binding
	fields   []ntconv.Value // of last.fields
	values   []ntconv.Value // of the current event, by operand
	ids      [][16]byte     // memory for values that are IDs, by operand
	id       []ntconv.Field
	seen     []search // by operand
}

// A binding states where the operands are in the events of one schema.
type binding struct {
	schema *schema.Schema
	fields *schema.Projection
	places []place // by operand
}

// A place is the location of one operand in the events of a schema.
type place struct {
	column int            // index into binding.fields, -1 for a property
	path   []int          // indices of members, from the column's value or its elements to the field
	field  *ntconv.Field  // nil if unknown
	named  *schema.Schema // set if the manifest has names for values of field
}

// A search records what is known about a field that events may lack.
type search struct {
	found    bool   // an event type has the field
	near     string // a field with a similar name
	distance int    // Levenshtein distance of near from the operand; 0 if they differ by letter case alone
}

// NewColumns returns Columns that read the operands from the events of a trace with the given clock.
func NewColumns(clock ntconv.Clock, operands []*Operand) *Columns {
	n := len(operands)
	return &Columns{
		operands: operands, clock: clock,
		bindings: make(map[*schema.Schema]*binding),
		fields:   make([]ntconv.Value, n), values: make([]ntconv.Value, n),
		ids: make([][16]byte, n), id: guidFields(), seen: make([]search, n),
	}
}

// Read reads the operands from an event, which must be of KindEvent. Values of Columns borrow the event's payload and
// are valid until the next call of Read.
func (c *Columns) Read(e *ntconv.Event) {
	s, b := c.schemas.Of(e), c.last
	if b == nil || b.schema != s {
		if b = c.bindings[s]; b == nil {
			b = c.bind(s)
			c.bindings[s] = b
		}
		c.last = b
	}
	if b.fields != nil {
		b.fields.Read(e, c.fields)
	}
	for i := range b.places {
		if p := &b.places[i]; p.column >= 0 {
			c.values[i] = c.fields[p.column]
		} else {
			c.values[i] = c.property(i, s, e)
		}
	}
}

// bind finds the operands in a schema.
func (c *Columns) bind(s *schema.Schema) *binding {
	b := &binding{schema: s, places: make([]place, len(c.operands))}
	var paths []schema.Path
	for i, o := range c.operands {
		p := &b.places[i]
		p.column = -1
		if o.t.attr != attrNone {
			continue
		}
		p.column = len(paths)
		paths = append(paths, o.t.path)
		if p.field = s.Lookup(o.t.path); p.field == nil {
			c.seen[i].compare(o, s)
			continue
		}
		c.seen[i].found = true
		if s.HasValueNames(p.field.Name) {
			p.named = s
		}
	}
	if len(paths) > 0 {
		b.fields = s.ProjectPaths(paths...)
	}
	for i := range b.places {
		if p := &b.places[i]; p.field != nil {
			p.path = b.fields.Members(p.column)
		}
	}
	return b
}

// compare remembers the field of s whose name is most similar to that of the operand.
func (f *search) compare(o *Operand, s *schema.Schema) {
	if path := s.Similar(o.t.path); path != nil {
		f.near, f.distance = (&test{path: path}).operand(), 0
		return
	}
	last := strings.ToLower(o.t.path[len(o.t.path)-1])
	most := (len(last) + 1) / 3
	for i := range s.Fields {
		name := s.Fields[i].Name
		if name == "" || len(name) > len(last)+most || len(last) > len(name)+most {
			continue
		}
		if d := distance(last, strings.ToLower(name)); d <= most && (f.near == "" || d < f.distance) {
			f.near, f.distance = (&test{path: []string{name}}).operand(), d
		}
	}
}

// property returns the value of operand i, which is a property, and ValueNull if it was not recorded.
func (c *Columns) property(i int, s *schema.Schema, e *ntconv.Event) ntconv.Value {
	t := c.operands[i].t
	switch attrs[t.attr].kind {
	case kindTime:
		return ntconv.IntValue(c.clock.Nanos(e.Time))
	case kindNumber:
		if n, ok := numberOf(t.attr, s, e); ok {
			return ntconv.UintValue(n.mag)
		}
		return ntconv.Value{}
	case kindText:
		switch {
		case t.attr == attrProvider:
			return ntconv.StringValue(s.Provider)
		case s.Name == "":
			return ntconv.UintValue(uint64(s.ID)) // distinguishes events without a name
		}
		return ntconv.StringValue(s.Name)
	case kindID:
		return c.idValue(i, e)
	case kindOwner:
		return ntconv.Value{}
	}
	return labelValue(t.path[0], e)
}

// idValue returns an ID: a GUID, or bytes for trace and span IDs.
func (c *Columns) idValue(i int, e *ntconv.Event) (v ntconv.Value) {
	a := c.operands[i].t.attr
	id, ok := e.Labels.ID(idKind(a))
	if !ok {
		return v
	}
	c.ids[i] = id
	switch a {
	case attrTrace:
		return ntconv.BytesValue(c.ids[i][:])
	case attrSpan:
		return ntconv.BytesValue(c.ids[i][:8])
	}
	for _, guid := range ntconv.DecodeFields(c.id, c.ids[i][:], 8) {
		v = guid
	}
	return v
}

// labelValue returns the value of the last label with a key, as labelTest does.
func labelValue(key string, e *ntconv.Event) ntconv.Value {
	if e.Labels == nil {
		return ntconv.Value{}
	}
	for i := len(e.Labels.List()) - 1; i >= 0; i-- {
		switch l := &e.Labels.List()[i]; {
		case l.Key != key:
		case l.Kind == ntconv.LabelInt:
			return ntconv.IntValue(l.Num)
		case l.Kind == ntconv.LabelString:
			return ntconv.StringValue(l.Str)
		}
	}
	return ntconv.Value{}
}

// Each calls use for the value of operand i in the event of the last Read, and for each value if the operand leads to
// or through a list. It calls use for no ValueNull, ValueError and ValueList.
func (c *Columns) Each(i int, use func(ntconv.Value)) { each(c.values[i], c.last.places[i].path, use) }

func each(v ntconv.Value, path []int, use func(ntconv.Value)) {
	switch v.Kind() {
	case ntconv.ValueNull, ntconv.ValueError:
	case ntconv.ValueList:
		for e := range v.Elems() {
			each(e, path, use)
		}
	case ntconv.ValueObject:
		if len(path) == 0 {
			use(v)
			return
		}
		i := 0
		for _, member := range v.Fields() {
			if i == path[0] {
				each(member, path[1:], use)
				return
			}
			i++
		}
	default:
		if len(path) == 0 {
			use(v)
		}
	}
}

// ValueName returns the name that the runtime's manifest has for a value of operand i in the event of the last Read, or
// "" if there is none.
func (c *Columns) ValueName(i int, v ntconv.Value) string {
	p := &c.last.places[i]
	if p.named == nil || v.Kind() != ntconv.ValueInt && v.Kind() != ntconv.ValueUint {
		return ""
	}
	return p.named.ValueName(p.field.Name, v.Uint())
}

// NoField returns why operand i never has a value: "no event has a field Typ, but there is Type". It returns "" if it
// is a property other than a label, or if an event type declares the field. Call it only if there was no value: it does
// not know the fields that payloads name.
func (c *Columns) NoField(i int) string {
	f, o := &c.seen[i], c.operands[i]
	switch {
	case f.found || o.t.attr != attrNone && o.t.attr != attrLabel:
		return ""
	case o.t.attr == attrLabel:
		return fmt.Sprintf("no event has a label %s", o.t.path[0])
	case f.near != "":
		return fmt.Sprintf("no event has a field %s, but there is %s", o, f.near)
	}
	return fmt.Sprintf("no event has a field %s", o)
}

// Is describes operand i in the event of the last Read, which has the value v: "TypeName is a string in
// Provider/Event".
func (c *Columns) Is(i int, v ntconv.Value) string {
	kind := map[ntconv.ValueKind]fieldKind{
		ntconv.ValueBool: fieldBool, ntconv.ValueInt: fieldNumber, ntconv.ValueUint: fieldNumber,
		ntconv.ValueFloat: fieldNumber, ntconv.ValueString: fieldText, ntconv.ValueBytes: fieldBytes,
		ntconv.ValueGUID: fieldGUID, ntconv.ValueTime: fieldDate, ntconv.ValueObject: fieldObject,
	}[v.Kind()]
	return fmt.Sprintf("%s is %s in %s", c.operands[i], kind, typeName(c.last.schema))
}
