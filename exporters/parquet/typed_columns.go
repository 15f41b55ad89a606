package parquet

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/parquetwriter"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/schema"
)

// Columns that all typed tables have, before those of the fields.
const (
	columnEventID = iota
	columnTS
	columnNanos
	columnProcess
	columnPID
	columnThread
	columnTID
	columnCPU
	columnStack
	columnTrace
	columnSpan
	columnActivity
	columnVersion
	fixedColumns
)

// newFixedColumns returns the columns that all typed tables have.
func newFixedColumns() []parquetwriter.ColumnSpec {
	return []parquetwriter.ColumnSpec{
		columnEventID:  {Name: "event_id", Kind: parquetwriter.KindInt64, Delta: true},
		columnTS:       {Name: "ts", Kind: parquetwriter.KindTimestamp, Delta: true},
		columnNanos:    {Name: "ts_ns", Kind: parquetwriter.KindInt64, Delta: true},
		columnProcess:  {Name: "process_id", Kind: parquetwriter.KindInt32, Dict: true},
		columnPID:      {Name: "pid", Kind: parquetwriter.KindInt64, Dict: true},
		columnThread:   {Name: "thread_id", Kind: parquetwriter.KindInt32, Dict: true},
		columnTID:      {Name: "tid", Kind: parquetwriter.KindInt64, Dict: true},
		columnCPU:      {Name: "cpu", Kind: parquetwriter.KindInt32, Dict: true},
		columnStack:    {Name: "stack_id", Kind: parquetwriter.KindInt64, Delta: true, Optional: true},
		columnTrace:    {Name: "trace_id", Kind: parquetwriter.KindString, Dict: true, Optional: true},
		columnSpan:     {Name: "span_id", Kind: parquetwriter.KindString, Dict: true, Optional: true},
		columnActivity: {Name: "activity_id", Kind: parquetwriter.KindString, Dict: true, Optional: true},
		columnVersion:  {Name: "version", Kind: parquetwriter.KindInt32, Dict: true},
	}
}

// maxFieldColumns bounds the columns of fields of a table, because the metadata of a trace may describe any number of
// fields. Fields after them are only in the table events.
const maxFieldColumns = 2000

// A table has at most maxNulls values per field of its events, and anyCells in addition: types with one name and
// different fields would make tables that are all NULL.
const (
	maxNulls = 32
	anyCells = 1 << 20
)

// maxColumns returns how many columns of fields a table has at most.
func (t *typedTable) maxColumns() int {
	cells := int64(anyCells)
	for _, v := range t.variants {
		cells += maxNulls * v.count * int64(len(v.schema.Fields))
	}
	return int(min(cells/max(t.count, 1), maxFieldColumns))
}

// A form is how values of a field are stored.
type form struct {
	kind parquetwriter.Kind // 0: no column
	list bool
	json bool // the value as JSON, with kind String
}

// formOf returns how values of a type are stored.
func formOf(t *ntconv.FieldType) form {
	switch t.Code {
	case ntconv.TypePad64:
		return form{}
	case ntconv.TypeRest:
		return form{kind: parquetwriter.KindBytes}
	case ntconv.TypeArray, ntconv.TypeFixedArray, ntconv.TypeRelLoc, ntconv.TypeDataLoc, ntconv.TypeCounted:
		if t.Elem != nil {
			return listForm(t.Elem)
		}
	default:
		if kind := scalarKind(t.Code); kind != 0 {
			return form{kind: kind}
		}
	}
	return form{kind: parquetwriter.KindString, json: true}
}

// listForm returns how a list of values of a type is stored. Lists of characters are strings and those of unsigned
// bytes are bytes.
func listForm(elem *ntconv.FieldType) form {
	switch elem.Code {
	case ntconv.TypeUTF16Unit, ntconv.TypeUTF8Unit:
		return form{kind: parquetwriter.KindString}
	case ntconv.TypeUint8:
		return form{kind: parquetwriter.KindBytes}
	}
	if kind := scalarKind(elem.Code); kind != 0 {
		return form{kind: kind, list: true}
	}
	return form{kind: parquetwriter.KindString, json: true}
}

// scalarKind returns the kind of column for a type without elements, and 0 for others.
func scalarKind(code ntconv.TypeCode) parquetwriter.Kind {
	switch code {
	case ntconv.TypeBool8, ntconv.TypeBool32:
		return parquetwriter.KindBool
	case ntconv.TypeInt8, ntconv.TypeInt16, ntconv.TypeInt32, ntconv.TypeUint8, ntconv.TypeUint16:
		return parquetwriter.KindInt32
	case ntconv.TypeUint32,
		ntconv.TypeInt64,
		ntconv.TypeUint64,
		ntconv.TypePointer,
		ntconv.TypeVarInt,
		ntconv.TypeVarUint:
		return parquetwriter.KindInt64
	case ntconv.TypeFloat32, ntconv.TypeFloat64, ntconv.TypeDecimal:
		return parquetwriter.KindDouble
	case ntconv.TypeDateTime:
		return parquetwriter.KindTimestamp
	case ntconv.TypeUTF16Unit, ntconv.TypeUTF8Unit, ntconv.TypeUTF16String, ntconv.TypeANSIString, ntconv.TypeGUID:
		return parquetwriter.KindString
	}
	return 0
}

// integer reports whether values are integers, which may have names.
func (f form) integer() bool {
	return !f.list && (f.kind == parquetwriter.KindInt32 || f.kind == parquetwriter.KindInt64)
}

// A layout is the columns of a typed table and where the fields of each schema go.
type layout struct {
	columns []parquetwriter.ColumnSpec
	forms   []form // of the columns
	fields  [][]fieldColumn
	dropped int // fields that have no column, because there are too many
}

// A fieldColumn says which columns a field has: 0 for none, as the first column belongs to no field.
type fieldColumn struct {
	value, names int
}

// dynamicColumn holds the fields that the payload of a dynamic event names, as a JSON object.
const dynamicColumn = "data_json"

// A layoutBuilder merges the fields of several schemas into one list of columns.
type layoutBuilder struct {
	max int // columns of fields
	layout
	known map[fieldKey]int // column
}

// A fieldKey identifies a column: fields of equal names in different schemas share it. A schema may have a name several
// times.
type fieldKey struct {
	name       string
	occurrence int
	version    int // for fields whose form differs from that of the column of the same name; else -1
	names      bool
}

// reserved are names of columns that a dataset, or the views of ntconv sql, add to every table: readers replace columns
// of these names.
var reserved = []string{"trace", "day", "service"}

// newLayout returns the columns for schemas that are in the order of their versions.
func newLayout(schemas []*schema.Schema, maxColumns int) *layout {
	b := layoutBuilder{known: make(map[fieldKey]int), max: maxColumns}
	b.columns = newFixedColumns()
	b.forms = make([]form, fixedColumns)
	for _, s := range schemas {
		b.addSchema(s)
	}
	var names tables.Names
	for _, name := range reserved {
		names.Add(name)
	}
	for i := range b.columns {
		b.columns[i].Name = names.Add(b.columns[i].Name)
	}
	return &b.layout
}

// addSchema adds the columns of a schema. The last element of its fields is for what a dynamic event names.
func (b *layoutBuilder) addSchema(s *schema.Schema) {
	fields := make([]fieldColumn, len(s.Fields)+1)
	seen := make(map[string]int)
	for i := range s.Fields {
		f := &s.Fields[i]
		form := formOf(&f.Type)
		if form.kind == 0 {
			continue
		}
		key := fieldKey{name: f.Name, occurrence: seen[f.Name], version: -1}
		seen[f.Name]++
		fields[i].value = b.column(key, int(s.Version), form)
		if form.integer() && fields[i].value != 0 && s.HasValueNames(f.Name) {
			key.names = true
			fields[i].names = b.namesColumn(key)
		}
	}
	if s.IsDynamic() {
		fields[len(s.Fields)].value = b.column(
			fieldKey{name: dynamicColumn, version: -1},
			int(s.Version),
			form{kind: parquetwriter.KindString, json: true},
		)
	}
	b.fields = append(b.fields, fields)
}

// column returns the column of a field, 0 if there are too many. Integers of different sizes share a column of the
// larger one.
func (b *layoutBuilder) column(key fieldKey, version int, want form) int {
	i, ok := b.known[key]
	if !ok {
		return b.newColumn(key, strings.ToValidUTF8(key.name, "\uFFFD"), want)
	}
	if i == 0 || b.forms[i] == want {
		return i
	}
	if b.forms[i].integer() && want.integer() {
		b.forms[i].kind, b.columns[i].Kind = parquetwriter.KindInt64, parquetwriter.KindInt64
		return i
	}
	key.version = version
	if i, ok := b.known[key]; ok && (i == 0 || b.forms[i] == want) {
		return i
	}
	return b.newColumn(key, fmt.Sprintf("%s_v%d", strings.ToValidUTF8(key.name, "\uFFFD"), version), want)
}

func (b *layoutBuilder) namesColumn(key fieldKey) int {
	if i, ok := b.known[key]; ok {
		return i
	}
	return b.newColumn(key, strings.ToValidUTF8(key.name, "\uFFFD")+"_name", form{kind: parquetwriter.KindString})
}

func (b *layoutBuilder) newColumn(key fieldKey, name string, f form) int {
	if len(b.columns) >= fixedColumns+b.max {
		b.known[key] = 0
		b.dropped++
		return 0
	}
	if name == "" {
		name = "unnamed"
	}
	i := len(b.columns)
	b.columns = append(b.columns, parquetwriter.ColumnSpec{
		Name: name, Kind: f.kind, List: f.list, Optional: true, Dict: f.kind == parquetwriter.KindString && !f.json,
	})
	b.forms = append(b.forms, f)
	b.known[key] = i
	return i
}
