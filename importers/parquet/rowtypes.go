package parquet

import (
	"cmp"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// A rowType is the event type of rows. stop is the type of their ends; nil if the rows have no duration.
type rowType struct {
	number    uint32
	typ, stop *ntconv.Type
}

// A rowKey determines the rowType of a row.
type rowKey struct {
	provider, name string
	nulls          string // bit set of the fields that are NULL
	paired         bool
}

// rowTypes holds the event types of foreign tables. of sets mask for the current row; isNull reads it.
type rowTypes struct {
	s        *foreign
	byKey    map[rowKey]*rowType
	list     []*rowType
	fields   map[string][]ntconv.Field // by rowKey.nulls
	names    map[[2]string]bool
	origin   *imported.Origin // of samples
	mask     []byte
	last     *rowType
	lastKey  rowKey
	fallback string // name of the first table
	memory   memory
}

// maxNulls limits the distinct sets of NULL fields. For further sets, NULL becomes 0 or an empty string.
const maxNulls = 1000

func newRowTypes(s *foreign) rowTypes {
	t := rowTypes{
		s: s, byKey: map[rowKey]*rowType{}, fields: map[string][]ntconv.Field{}, names: map[[2]string]bool{},
		mask:     make([]byte, (len(s.fields)+7)/8),
		fallback: s.f.names[0], memory: memory{limit: s.o.Limits.TableBytes},
	}
	if s.sample {
		v := imported.ValueType{Type: "samples", Unit: "count"}
		if c := s.roles.of(roleValue); c != nil {
			v = imported.ValueType{Type: c.name, Unit: valueUnit(c.name, s.roles.unit[roleValue])}
		}
		t.origin = &imported.Origin{Columns: imported.Columns{Types: []imported.ValueType{v}}}
	}
	return t
}

// valueUnit returns the unit of weights: the unit that the user stated, or else the suffix of the column's name.
func valueUnit(column, stated string) string {
	unit := stated
	if unit == "" {
		_, unit, _ = cutUnit(column)
	}
	switch unitOf(unit) {
	case 1:
		return "nanoseconds"
	case 1e3:
		return "microseconds"
	case 1e6:
		return "milliseconds"
	case 1e9:
		return "seconds"
	}
	return cmp.Or(unit, "count")
}

// isNull reports whether a field of the current row, by its index in foreign.fields, is not a field of its event.
func (t *rowTypes) isNull(field int) bool { return t.mask[field/8]>>(field%8)&1 != 0 }

// of returns the type of the current row, and adds it if necessary.
func (t *rowTypes) of(provider, name string, paired bool) (*rowType, error) {
	clear(t.mask)
	for i, column := range t.s.fields {
		if values := t.s.reader.batch.Row(column, t.s.reader.at); len(values) == 1 && values[0].IsNull() {
			t.mask[i/8] |= 1 << (i % 8)
		}
	}
	if l := &t.lastKey; t.last != nil && l.paired == paired && l.name == name && l.provider == provider &&
		l.nulls == string(t.mask) {
		return t.last, nil
	}
	if t.fields[string(t.mask)] == nil && len(t.fields) >= maxNulls {
		clear(t.mask)
		t.s.o.Report.Note(ntconv.CodeNotCarried, 1, -1, "NULL became 0 or an empty string, because too many sets of columns are NULL")
	}
	key := rowKey{provider, name, string(t.mask), paired}
	found := t.byKey[key]
	if found == nil {
		var err error
		if found, err = t.add(key); err != nil {
			return nil, err
		}
	}
	t.last, t.lastKey = found, key
	return found, nil
}

// add adds the types for a key.
func (t *rowTypes) add(key rowKey) (*rowType, error) {
	if both := [2]string{key.provider, key.name}; !t.names[both] {
		if n := t.s.o.Limits.Names; len(t.names) >= n {
			return nil, &ntconv.LimitError{Limit: LimitNames, Value: int64(n), Asked: int64(n) + 1}
		}
		t.names[both] = true
	}
	if err := t.memory.add(4*rowBytes + len(key.provider) + len(key.name) + len(key.nulls)); err != nil {
		return nil, err
	}
	provider, name := cmp.Or(key.provider, t.fallback), cmp.Or(key.name, t.fallback)
	fields := t.fieldsOf(key.nulls)
	id := firstID + 2*uint32(len(t.list))
	r := &rowType{number: uint32(len(t.list)), typ: &ntconv.Type{Provider: provider, ID: id, Name: name, Fields: fields}}
	if key.paired {
		r.typ.Name, r.typ.Opcode, r.typ.HasOpcode = name+"Start", 1, true
		r.stop = &ntconv.Type{Provider: provider, ID: id + 1, Name: name + "Stop", Opcode: 2, HasOpcode: true}
	}
	if t.origin != nil {
		r.typ.Attrs = t.origin.Attrs()
	}
	t.byKey[key] = r
	t.list = append(t.list, r)
	return r, nil
}

// fieldsOf returns the fields of events with this set of NULL fields.
func (t *rowTypes) fieldsOf(nulls string) []ntconv.Field {
	fields := t.fields[nulls]
	if fields != nil {
		return fields
	}
	fields = []ntconv.Field{}
	if t.origin != nil {
		fields = t.origin.Fields()
	}
	for i, column := range t.s.fields {
		if nulls[i/8]>>(i%8)&1 == 0 {
			c := &t.s.roles.columns[column]
			fields = append(fields, ntconv.Field{Name: c.name, Type: c.kind.fieldType()})
		}
	}
	t.fields[nulls] = fields
	return fields
}
