package schema

import "github.com/ntconv/ntconv"

// A Table returns the schemas of the events of one trace. The zero value is ready to use. Its memory is bounded by the
// trace's metadata. A Table is not safe for concurrent use, but the schemas that it returns are.
type Table struct {
	recent  [16]*Schema // by the ID of the type, so that alternating types need no map
	schemas map[typeVersion]*Schema
	pairs   map[Pair]*Pair
}

// A typeVersion is the key of a schema: a label may override the version of a type.
type typeVersion struct {
	typ     *ntconv.Type
	version uint8
}

// empty is the schema of events without a type.
var empty = &Schema{typ: new(ntconv.Type)}

// Of returns the schema of an event, which it borrows. Events with equal type and version have the same *Schema. Of
// never returns nil: marks, losses and other events without a type have a schema without a name and fields. Of
// allocates only for the first event with a type and version.
func (t *Table) Of(e *ntconv.Event) *Schema {
	if e.Type == nil {
		return empty
	}
	version := e.Version()
	recent := &t.recent[(e.Type.ID^uint32(version))%uint32(len(t.recent))]
	if s := *recent; s != nil && s.typ == e.Type && s.Version == version {
		return s
	}
	s := t.schemas[typeVersion{e.Type, version}]
	if s == nil {
		s = t.add(e.Type, version)
	}
	*recent = s
	return s
}

func (t *Table) add(typ *ntconv.Type, version uint8) *Schema {
	if t.schemas == nil {
		t.schemas = make(map[typeVersion]*Schema)
	}
	s := newSchema(typ, version)
	s.begins, s.ends = t.pairsOf(s)
	t.schemas[typeVersion{typ, version}] = s
	return s
}
