package parquetreader

import (
	"fmt"

	"github.com/ntconv/ntconv"
)

// A footer is the part of FileMetaData (parquet.thrift) that the reader needs.
type footer struct {
	rows     int64
	schema   []element
	groups   []rowGroup
	metadata map[string]string
}

// An element is a SchemaElement: a group if physical is -1, otherwise a column.
type element struct {
	name      string
	physical  Physical
	length    int64
	repeats   repetition
	children  int64
	converted int64 // ConvertedType, -1 if absent
	scale     int64
	unit      int64
	utc       bool
	bits      int64
	unsigned  bool
	// annotation is the field ID of the set member of the union LogicalType, and 0 if it is absent.
	annotation int16
}

// A repetition is a FieldRepetitionType of parquet.thrift.
type repetition int8

const (
	required repetition = iota
	optional
	repeated
)

// A rowGroup is a RowGroup of parquet.thrift. It has one chunk per leaf column.
type rowGroup struct {
	rows   int64
	chunks []chunk
}

// A chunk is a ColumnChunk of parquet.thrift with its ColumnMetaData.
type chunk struct {
	physical Physical
	codec    compression
	// values is the number of values, including NULL.
	values int64
	// start and end are the offsets of the first page and after the last page in the file.
	start, end int64

	data, dictionary, size int64
	external, encrypted    bool
}

// Smallest number of bytes of a structure with its required fields. Counts of structures are checked against it, so
// that a decoded list needs little more memory than its bytes.
const (
	minElement  = 3
	minRowGroup = 5
	minChunk    = 12
	minKeyValue = 3
)

// parseFooter decodes FileMetaData.
func parseFooter(b []byte, l *Limits) (*footer, error) {
	t := &thrift{b: b}
	m := &footer{rows: -1, metadata: map[string]string{}}
	for f := (thriftField{}); t.next(&f); {
		switch f.id {
		case 2:
			t.schema(f, m, l)
		case 3:
			m.rows = t.int(f)
		case 4:
			t.groups(f, m, l)
		case 5:
			for n := t.structs(f, minKeyValue); n > 0 && t.err == nil; n-- {
				t.keyValue(m.metadata)
			}
		default:
			t.skip(f.typ, 0)
		}
	}
	if t.err == errThriftEnds {
		t.err = fmt.Errorf("%w: %w", ntconv.ErrCorrupt, errThriftEnds)
	}
	return m, t.err
}

func (t *thrift) limit(limit string, value, asked int64) {
	if t.err == nil && asked > value {
		t.err = &ntconv.LimitError{Limit: limit, Value: value, Asked: asked}
	}
}

func (t *thrift) schema(f thriftField, m *footer, l *Limits) {
	n := t.structs(f, minElement)
	t.limit(LimitColumns, int64(l.Columns), int64(n)-1)
	for ; n > 0 && t.err == nil; n-- {
		m.schema = append(m.schema, t.element())
	}
}

func (t *thrift) element() element {
	e := element{physical: -1, converted: -1}
	for f := (thriftField{}); t.next(&f); {
		switch f.id {
		case 1:
			if e.physical = Physical(t.int(f)); e.physical < 0 || e.physical > FixedLenByteArray {
				t.fail("physical type %d", int(e.physical))
			}
		case 2:
			e.length = t.int(f)
		case 3:
			r := t.int(f)
			if r < 0 || r > int64(repeated) {
				t.fail("repetition type %d", r)
			}
			e.repeats = repetition(r)
		case 4:
			e.name = string(t.binary(f))
		case 5:
			e.children = t.int(f)
		case 6:
			e.converted = t.int(f)
		case 7:
			e.scale = t.int(f)
		case 10:
			t.logical(f, &e)
		default:
			t.skip(f.typ, 0)
		}
	}
	return e
}

// logical decodes the union LogicalType into e.
func (t *thrift) logical(f thriftField, e *element) {
	if !t.isStruct(f) {
		return
	}
	for u := (thriftField{}); t.next(&u); {
		if !t.isStruct(u) {
			return
		}
		e.annotation = u.id
		for p := (thriftField{}); t.next(&p); {
			switch {
			case u.id == 5 && p.id == 1:
				e.scale = t.int(p)
			case (u.id == 7 || u.id == 8) && p.id == 1:
				e.utc = t.bool(p)
			case (u.id == 7 || u.id == 8) && p.id == 2:
				t.unit(p, e)
			case u.id == 10 && p.id == 1:
				e.bits = t.int(p)
			case u.id == 10 && p.id == 2:
				e.unsigned = !t.bool(p)
			default:
				t.skip(p.typ, 0)
			}
		}
	}
}

// unit decodes the union TimeUnit into e.
func (t *thrift) unit(f thriftField, e *element) {
	if !t.isStruct(f) {
		return
	}
	for u := (thriftField{}); t.next(&u); {
		switch u.id {
		case 1:
			e.unit = 1_000_000
		case 2:
			e.unit = 1000
		case 3:
			e.unit = 1
		}
		t.skip(u.typ, 0)
	}
}

func (t *thrift) groups(f thriftField, m *footer, l *Limits) {
	n := t.structs(f, minRowGroup)
	t.limit(LimitRowGroups, int64(l.RowGroups), int64(n))
	for ; n > 0 && t.err == nil; n-- {
		g := rowGroup{rows: -1}
		for f := (thriftField{}); t.next(&f); {
			switch f.id {
			case 1:
				count := t.structs(f, minChunk)
				t.limit(LimitColumns, int64(l.Columns), int64(count))
				for ; count > 0 && t.err == nil; count-- {
					g.chunks = append(g.chunks, t.chunk())
				}
			case 3:
				g.rows = t.int(f)
			default:
				t.skip(f.typ, 0)
			}
		}
		m.groups = append(m.groups, g)
	}
}

func (t *thrift) chunk() chunk {
	c := chunk{physical: -1, values: -1}
	for f := (thriftField{}); t.next(&f); {
		switch f.id {
		case 1:
			c.external = len(t.binary(f)) > 0
		case 3:
			if t.isStruct(f) {
				t.columnMetadata(&c)
			}
		case 8, 9:
			c.encrypted = true
			t.skip(f.typ, 0)
		default:
			t.skip(f.typ, 0)
		}
	}
	return c
}

func (t *thrift) columnMetadata(c *chunk) {
	for f := (thriftField{}); t.next(&f); {
		switch f.id {
		case 1:
			c.physical = Physical(t.int(f))
		case 4:
			c.codec = compression(t.int(f))
		case 5:
			c.values = t.int(f)
		case 7:
			c.size = t.int(f)
		case 9:
			c.data = t.int(f)
		case 11:
			c.dictionary = t.int(f)
		default:
			t.skip(f.typ, 0)
		}
	}
}

func (t *thrift) keyValue(metadata map[string]string) {
	var key, value string
	for f := (thriftField{}); t.next(&f); {
		switch f.id {
		case 1:
			key = string(t.binary(f))
		case 2:
			value = string(t.binary(f))
		default:
			t.skip(f.typ, 0)
		}
	}
	if t.err == nil {
		metadata[key] = value
	}
}
