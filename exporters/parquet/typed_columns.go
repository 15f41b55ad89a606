package parquet

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
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

// maxFieldColumns limits the field columns per table, because the metadata of a trace may describe any number of
// fields. Further fields are only in the table events.
const maxFieldColumns = 2000

// A table has at most maxNulls cells per field value of its events, plus anyCells. Otherwise event types with the same
// name but different fields, or with many fields but no payload, would produce huge tables of NULLs. A payload has at
// most one value per byte; few values have none.
const (
	maxNulls = 32
	anyCells = 1 << 20
)

// maxColumns returns the maximum number of field columns of the table.
func (t *typedTable) maxColumns() int {
	cells := int64(anyCells)
	for _, v := range t.variants {
		cells += maxNulls * min(v.count*int64(len(v.schema.Fields)), v.bytes)
	}
	return int(min(cells/max(t.count, 1), maxFieldColumns))
}

// A form states how the values of a field are stored.
type form struct {
	kind parquetwriter.Kind // 0 means no column
	list bool
	json bool // JSON text; kind is KindString
}

// formOf returns the form for a field type.
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

// listForm returns the form for lists of a type. Lists of characters are stored as strings, lists of unsigned bytes as
// bytes.
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

// scalarKind returns the column kind for a type without elements, or 0 for other types.
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

// integer reports whether the values are integers, which may have names.
func (f form) integer() bool {
	return !f.list && (f.kind == parquetwriter.KindInt32 || f.kind == parquetwriter.KindInt64)
}

// A layout holds the columns of a typed table, and for each schema the columns of its fields.
type layout struct {
	columns []parquetwriter.ColumnSpec
	forms   []form          // by column
	fields  [][]fieldColumn // by schema, then by field; the last element per schema is for dynamic fields
	dropped int             // fields without a column, because the limit was exceeded
}

// A fieldColumn holds the column of a field's value and of the name of that value. 0 means none, because column 0 never
// belongs to a field.
type fieldColumn struct {
	value, names int
}

// dynamicColumn contains the fields that the payload of a dynamic event names itself, as a JSON object.
const dynamicColumn = "data_json"

// A layoutBuilder merges the fields of several schemas into one list of columns.
type layoutBuilder struct {
	max int // maximum number of field columns
	layout
	known map[fieldKey]int // column of a field; 0 if the limit was exceeded
}

// A fieldKey identifies a column, which fields with the same name in different schemas share. A schema may contain a
// name several times; occurrence counts them.
type fieldKey struct {
	name       string
	occurrence int
	version    int // version of the schema if the form differs from the column of that name; otherwise -1
	names      bool
}

// reserved lists the columns that a dataset or the views of ntconv sql add to every table. Readers would replace
// columns with these names.
var reserved = []string{"trace", "day", "service"}

// newLayout returns the columns for schemas, which must be sorted by version.
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

// addSchema adds the columns of a schema. The last element of its fields is for the fields that a dynamic event names.
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

// column returns the column of a field, or 0 if the limit was exceeded. Integers of different sizes share a column of
// the larger size. A field of any other form gets a column with the suffix _vN.
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

// newColumn adds a column and returns its index, or 0 if the table has too many field columns.
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
