package schema

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/layout"
)

// A Projection reads some fields of the events of one schema. It does not allocate per event and decodes only what is
// necessary: fields at fixed offsets directly, all others sequentially up to the last requested one. It is immutable
// and safe for concurrent use.
type Projection struct {
	s       *Schema
	columns []column
	loads   []load   // in the order of the payload
	plans   [2]plan  // for pointers of 4 and 8 bytes
	copies  []copied // columns that share a field with an earlier one
	nested  []int    // indices of columns that are members of an object
	names   []string // for GCDynamicEvent: the names of the columns, which are searched per event; otherwise nil
}

// A column is one requested field.
type column struct {
	field *ntconv.Field // nil if the path leads to no field
	index []int         // indices of the fields on the path
	steps int           // number of indices up to the first list on the path, or to the field
}

// A load is a field of the payload that columns need.
type load struct {
	index  int // of the field in Schema.Fields
	column int // first column that needs the field
}

type copied struct{ from, to int }

// A plan states how the requested fields of a payload are located: fields at fixed offsets first, then the others in
// order. A plan that is not usable requires readInOrder.
type plan struct {
	usable bool
	fixed  []fixedLoad
	size   int    // bytes of the fields before tail
	tail   int    // index of the first field that is decoded sequentially
	rest   []load // loads in the tail, with indices relative to tail
}

type fixedLoad struct {
	load
	from, to int // byte offsets in the payload
	op       layout.Op
}

// Project prepares reading the fields with the given paths, which it parses with ParsePath. A path may omit objects
// without a name: Payload.Mean is the mean of an event counter. Cache the result per *Schema, because Project
// allocates. missing lists the paths that lead to no field; Read returns ValueNull for them. For schemas of
// GCDynamicEvent missing is empty, because each payload names its own fields.
func (s *Schema) Project(paths ...string) (p *Projection, missing []string) {
	parsed := make([]Path, len(paths))
	for i := range paths {
		parsed[i] = ParsePath(paths[i])
	}
	p = s.ProjectPaths(parsed...)
	for i := range paths {
		if p.columns[i].field == nil && p.names == nil {
			missing = append(missing, paths[i])
		}
	}
	return p, missing
}

// ProjectPaths is Project for parsed paths. Use Lookup to check whether a path leads to a field.
func (s *Schema) ProjectPaths(paths ...Path) *Projection {
	p := &Projection{s: s, columns: make([]column, len(paths))}
	if s.IsDynamic() {
		p.names = make([]string, len(paths))
	}
	for i, path := range paths {
		index := resolve(s.Fields, path, exactly)
		if p.names != nil && len(path) == 1 {
			p.names[i] = path[0]
		}
		if index == nil {
			continue
		}
		p.add(i, index)
	}
	slices.SortFunc(p.loads, func(a, b load) int { return cmp.Compare(a.index, b.index) })
	if !s.ambiguous && p.names == nil {
		p.plans = [2]plan{s.planFor(p.loads, 4), s.planFor(p.loads, 8)}
	}
	return p
}

// add sets column i to the field at index.
func (p *Projection) add(i int, index []int) {
	fields := p.s.Fields
	p.columns[i] = column{field: fieldAt(fields, index), index: index, steps: stepsToList(fields, index)}
	if j := slices.IndexFunc(p.loads, func(l load) bool { return l.index == index[0] }); j >= 0 {
		p.copies = append(p.copies, copied{p.loads[j].column, i})
	} else {
		p.loads = append(p.loads, load{index[0], i})
	}
	if p.columns[i].steps > 1 {
		p.nested = append(p.nested, i)
	}
}

// IsDynamic reports whether each payload names further fields, in addition to those of the schema, as in
// GCDynamicEvent.
func (s *Schema) IsDynamic() bool { return s.decoding == decodeDynamic }

// stepsToList returns the number of indices up to the first list on a path, or to its end.
func stepsToList(fields []ntconv.Field, index []int) int {
	for n, i := range index {
		if t := &fields[i].Type; t.Elem != nil {
			return n + 1
		}
		fields = fields[i].Type.Fields
	}
	return len(index)
}

// Members returns the indices of the members that lead from an element of column i's list to the field. It returns an
// empty slice if the path of the column does not lead through a list. The caller must not change the result.
func (p *Projection) Members(i int) []int { return p.columns[i].index[p.columns[i].steps:] }

// Read sets dst to the requested fields of an event of the schema. dst must have one element per path. The values are
// those of Schema.Values, and ValueNull for paths that lead to no field. If a path leads through a list, the value is
// the list; use Members to continue from its elements. If a preceding field cannot be decoded, the value is a
// ValueError. Values borrow the event's payload. Read does not allocate.
func (p *Projection) Read(e *ntconv.Event, dst []ntconv.Value) {
	dst = dst[:len(p.columns)]
	clear(dst)
	switch {
	case p.names != nil:
		p.readNames(e, dst)
		return
	case p.s.decoding == decodeOptional && len(e.Payload) == 0 || len(p.loads) == 0:
		return
	}
	if !p.readByPlan(e, dst) {
		p.readInOrder(e, dst)
	}
	for _, c := range p.copies {
		dst[c.to] = dst[c.from]
	}
	for _, i := range p.nested {
		c := &p.columns[i]
		dst[i] = member(dst[i], c.index[1:c.steps])
	}
}

// readNames reads the fields of an event that names them itself. The first field with a name is used.
func (p *Projection) readNames(e *ntconv.Event, dst []ntconv.Value) {
	for f, v := range p.s.Values(e) {
		for i, name := range p.names {
			if name == f.Name && dst[i].Kind() == ntconv.ValueNull {
				dst[i] = v
			}
		}
	}
}

// readInOrder is the slow path: it decodes all fields up to the last requested one.
func (p *Projection) readInOrder(e *ntconv.Event, dst []ntconv.Value) {
	loads := p.loads
	i := 0
	for _, v := range p.s.Values(e) {
		if loads[0].index == i {
			dst[loads[0].column] = v
			if loads = loads[1:]; len(loads) == 0 {
				return
			}
		}
		i++
	}
}

// readByPlan is the fast path. It returns false if it cannot decode the fields; readInOrder then determines where in
// the payload the error is.
func (p *Projection) readByPlan(e *ntconv.Event, dst []ntconv.Value) bool {
	ptr, pl := e.PointerSize(), &p.plans[1]
	if ptr == 4 {
		pl = &p.plans[0]
	}
	if !pl.usable || len(e.Payload) < pl.size {
		return false
	}
	fields := p.s.Fields
	for i := range pl.fixed {
		l := &pl.fixed[i]
		switch b := e.Payload[l.from:l.to]; l.op { // fast path for integers
		case layout.Uint:
			dst[l.column] = ntconv.UintValue(layout.Number(layout.Uint, b))
			continue
		case layout.Int:
			dst[l.column] = ntconv.IntValue(int64(layout.Number(layout.Int, b)))
			continue
		}
		for _, v := range ntconv.DecodeFields(fields[l.index:l.index+1], e.Payload[l.from:l.to], ptr) {
			dst[l.column] = v
		}
	}
	rest := pl.rest
	if len(rest) == 0 {
		return true
	}
	i := 0
	for _, v := range ntconv.DecodeFields(fields[pl.tail:], e.Payload[pl.size:], ptr) {
		if v.Kind() == ntconv.ValueError {
			return false
		}
		if rest[0].index == i {
			dst[rest[0].column] = v
			if rest = rest[1:]; len(rest) == 0 {
				return true
			}
		}
		i++
	}
	return true // the payload ends before the other fields
}

// member returns the member of an object with the given path of indices. It returns values other than objects
// unchanged: they are null or an error.
func member(v ntconv.Value, index []int) ntconv.Value {
	for _, want := range index {
		if v.Kind() != ntconv.ValueObject {
			return v
		}
		var found ntconv.Value
		i := 0
		for _, m := range v.Fields() {
			if i == want {
				found = m
				break
			}
			i++
		}
		v = found
	}
	return v
}

// planFor returns the plan for loads in payloads with the given pointer size.
func (s *Schema) planFor(loads []load, ptr int) plan {
	var pl plan
	for len(loads) > 0 && pl.tail < len(s.Fields) {
		f := &s.Fields[pl.tail]
		n, fixed := f.Type.Size(ptr)
		wanted := loads[0].index == pl.tail
		if !fixed || wanted && isLocated(f) {
			break
		}
		if wanted {
			pl.fixed = append(pl.fixed, fixedLoad{loads[0], pl.size, pl.size + n, layout.OpOf(f.Type.Code)})
			loads = loads[1:]
		}
		pl.size += n
		pl.tail++
	}
	tail := s.Fields[pl.tail:]
	for _, l := range loads {
		pl.rest = append(pl.rest, load{l.index - pl.tail, l.column})
	}
	// Fields that refer to earlier fields, or to positions in the whole payload, cannot be decoded from the tail alone.
	pl.usable = len(loads) == 0 ||
		!slices.ContainsFunc(
			tail,
			func(f ntconv.Field) bool { return f.Type.Code == ntconv.TypeCounted || isLocated(&f) },
		)
	return pl
}

// isLocated reports whether the elements of a field may be elsewhere in the payload.
func isLocated(f *ntconv.Field) bool {
	return hasCode([]ntconv.Field{*f}, ntconv.TypeRelLoc, ntconv.TypeDataLoc)
}
