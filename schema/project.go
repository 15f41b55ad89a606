package schema

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv"
)

// A Projection reads some fields of the events of one schema. It does not allocate per event, and it decodes only what
// it needs: fields of fixed size at the beginning of a payload by their position, others up to the last one that is
// wanted. It is immutable and safe for concurrent use.
type Projection struct {
	s       *Schema
	columns []column
	loads   []load   // in the order of the payload
	plans   [2]plan  // for pointers of 4 and 8 bytes
	copies  []copied // columns that share a field with an earlier one
	nested  []int    // columns that are members of an object
	names   []string // GCDynamicEvent: the columns' names, to be found event by event
}

// column is one wanted field.
type column struct {
	field *ntconv.Field // nil if there is none
	index []int         // of the field and the members on the path
	steps int           // how many of index lead to the first list on the path, or to the field
}

// load is a field of the payload that columns need.
type load struct {
	index  int
	column int // the first column that needs it
}

type copied struct{ from, to int }

// A plan is how the fields of a payload are reached: those of fixed size at the beginning by position, the rest in
// order.
type plan struct {
	usable bool
	fixed  []fixedLoad
	size   int    // of the fields before tail, in bytes
	tail   int    // index of the first field that is decoded in order
	rest   []load // in the tail, with indexes that count from it
}

type fixedLoad struct {
	load
	from, to int // position in the payload
	number   number
}

// number says how the bytes of an integer are read without a decoder.
type number uint8

const (
	numberNone number = iota
	numberUnsigned
	numberSigned
)

func numberOf(t *ntconv.FieldType) number {
	switch t.Code {
	case ntconv.TypeUint8, ntconv.TypeUint16, ntconv.TypeUint32, ntconv.TypeUint64, ntconv.TypePointer:
		return numberUnsigned
	case ntconv.TypeInt8, ntconv.TypeInt16, ntconv.TypeInt32, ntconv.TypeInt64:
		return numberSigned
	}
	return numberNone
}

// value returns the little-endian integer of all bytes in b, of which there are 1 to 8.
func (n number) value(b []byte) ntconv.Value {
	var u uint64
	for i := len(b) - 1; i >= 0; i-- {
		u = u<<8 | uint64(b[i])
	}
	if n == numberUnsigned {
		return ntconv.UintValue(u)
	}
	unused := 64 - 8*len(b)
	return ntconv.IntValue(int64(u<<unused) >> unused)
}

// Project prepares reading the fields that paths, as ParsePath reads them, lead to. A path omits objects without a
// name: Payload.Mean is the mean of an event counter. Keep the result per Schema, as in a map by *Schema, because
// preparing allocates. missing are the paths that lead nowhere: Read returns ValueNull for them. A schema of
// GCDynamicEvents has none, since each payload names its own fields.
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

// ProjectPaths is Project for paths. Lookup returns whether one leads to a field.
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

// add makes column i that of the field at index.
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

// IsDynamic reports whether each payload names its own fields in addition to those of the schema.
func (s *Schema) IsDynamic() bool { return s.decoding == decodeDynamic }

// stepsToList returns how many indexes lead to the first list on a path, or to its end.
func stepsToList(fields []ntconv.Field, index []int) int {
	for n, i := range index {
		if t := &fields[i].Type; t.Elem != nil {
			return n + 1
		}
		fields = fields[i].Type.Fields
	}
	return len(index)
}

// Members returns the indexes of the members that lead from an element of column i's list to the field, and nil if the
// path of the column does not lead through a list.
func (p *Projection) Members(i int) []int { return p.columns[i].index[p.columns[i].steps:] }

// Read sets dst, which must have one value per path, to the fields of an event of the schema. The values are those of
// Schema.Values, ValueNull for paths that lead nowhere. If a path leads through a list, the value is the list; Members
// lead on from its elements. If a field before a wanted one cannot be decoded, the wanted one is a ValueError. Read
// does not allocate.
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

// readNames reads fields of an event that names them itself: the first field of each name.
func (p *Projection) readNames(e *ntconv.Event, dst []ntconv.Value) {
	for f, v := range p.s.Values(e) {
		for i, name := range p.names {
			if name == f.Name && dst[i].Kind() == ntconv.ValueNull {
				dst[i] = v
			}
		}
	}
}

// readInOrder decodes the fields from the first to the last one that is wanted.
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

// readByPlan reports whether it could decode the fields. If it could not, readInOrder says where in the payload the
// error is.
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
		if l.number != numberNone {
			dst[l.column] = l.number.value(e.Payload[l.from:l.to])
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
	return false
}

// member returns the member of an object that indexes lead to. A value that is not an object, null or an error, stays.
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

// planFor returns how loads are reached in payloads with that pointer size.
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
			pl.fixed = append(pl.fixed, fixedLoad{loads[0], pl.size, pl.size + n, numberOf(&f.Type)})
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

// isLocated reports whether a field's elements may lie elsewhere in the payload.
func isLocated(f *ntconv.Field) bool {
	return hasCode([]ntconv.Field{*f}, ntconv.TypeRelLoc, ntconv.TypeDataLoc)
}
