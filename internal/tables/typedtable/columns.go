// Package typedtable defines the columns of typed tables, which have one row per event of a name and one column per field.
//
// The columns of a table are those of the schemas of its events. The tables of the runtime's events (Runtime) have the columns of
// all known versions, so that they are the same for every trace.
package typedtable

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
	EventID = iota
	Time
	Nanos
	Process
	PID
	Thread
	TID
	CPU
	Stack
	TraceID
	SpanID
	Activity
	Version
	Fixed
)

// newFixedColumns returns the columns that all typed tables have.
func newFixedColumns() []parquetwriter.ColumnSpec {
	return []parquetwriter.ColumnSpec{
		EventID:  {Name: "event_id", Kind: parquetwriter.KindInt64, Delta: true},
		Time:     {Name: "ts", Kind: parquetwriter.KindTimestamp, Delta: true},
		Nanos:    {Name: "ts_ns", Kind: parquetwriter.KindInt64, Delta: true},
		Process:  {Name: "process_id", Kind: parquetwriter.KindInt32, Dict: true},
		PID:      {Name: "pid", Kind: parquetwriter.KindInt64, Dict: true},
		Thread:   {Name: "thread_id", Kind: parquetwriter.KindInt32, Dict: true},
		TID:      {Name: "tid", Kind: parquetwriter.KindInt64, Dict: true},
		CPU:      {Name: "cpu", Kind: parquetwriter.KindInt32, Dict: true},
		Stack:    {Name: "stack_id", Kind: parquetwriter.KindInt64, Delta: true, Optional: true},
		TraceID:  {Name: "trace_id", Kind: parquetwriter.KindString, Dict: true, Optional: true},
		SpanID:   {Name: "span_id", Kind: parquetwriter.KindString, Dict: true, Optional: true},
		Activity: {Name: "activity_id", Kind: parquetwriter.KindString, Dict: true, Optional: true},
		Version:  {Name: "version", Kind: parquetwriter.KindInt32, Dict: true},
	}
}

// MaxFields limits the field columns per table, because the metadata of a trace may describe any number of
// fields. Further fields are only in the table events.
const MaxFields = 2000

// A Form states how the values of a field are stored.
type Form struct {
	Kind parquetwriter.Kind // 0 means no column
	List bool
	JSON bool // JSON text; Kind is KindString
}

// formOf returns the form for a field type.
func formOf(t *ntconv.FieldType) Form {
	switch t.Code {
	case ntconv.TypePad64:
		return Form{}
	case ntconv.TypeRest:
		return Form{Kind: parquetwriter.KindBytes}
	case ntconv.TypeArray, ntconv.TypeFixedArray, ntconv.TypeRelLoc, ntconv.TypeDataLoc, ntconv.TypeCounted:
		if t.Elem != nil {
			return listForm(t.Elem)
		}
	default:
		if kind := scalarKind(t.Code); kind != 0 {
			return Form{Kind: kind}
		}
	}
	return Form{Kind: parquetwriter.KindString, JSON: true}
}

// listForm returns the form for lists of a type. Lists of characters are stored as strings, lists of unsigned bytes as
// bytes.
func listForm(elem *ntconv.FieldType) Form {
	switch elem.Code {
	case ntconv.TypeUTF16Unit, ntconv.TypeUTF8Unit:
		return Form{Kind: parquetwriter.KindString}
	case ntconv.TypeUint8:
		return Form{Kind: parquetwriter.KindBytes}
	}
	if kind := scalarKind(elem.Code); kind != 0 {
		return Form{Kind: kind, List: true}
	}
	return Form{Kind: parquetwriter.KindString, JSON: true}
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
func (f Form) integer() bool {
	return !f.List && (f.Kind == parquetwriter.KindInt32 || f.Kind == parquetwriter.KindInt64)
}

// A Layout holds the columns of a typed table, and for each schema the columns of its fields.
type Layout struct {
	Columns []parquetwriter.ColumnSpec
	Forms   []Form     // by column
	Fields  [][]Column // by schema, then by field; the last element per schema is for dynamic fields
	Dropped int        // fields without a column, because the limit was exceeded
}

// A Column holds the column of a field's value and of the name of that value. 0 means none, because column 0 never
// belongs to a field.
type Column struct {
	Value, Names int
}

// dynamicColumn contains the fields that the payload of a dynamic event names itself, as a JSON object.
const dynamicColumn = "data_json"

// A layoutBuilder merges the fields of several schemas into one list of columns.
type layoutBuilder struct {
	max int // maximum number of field columns
	Layout
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

// New returns the columns for schemas, which must be sorted by version.
func New(schemas []*schema.Schema, maxColumns int) *Layout {
	b := layoutBuilder{known: make(map[fieldKey]int), max: maxColumns}
	b.Columns = newFixedColumns()
	b.Forms = make([]Form, Fixed)
	for _, s := range schemas {
		b.addSchema(s)
	}
	var names tables.Names
	for _, name := range reserved {
		names.Add(name)
	}
	for i := range b.Columns {
		b.Columns[i].Name = names.Add(b.Columns[i].Name)
	}
	return &b.Layout
}

// addSchema adds the columns of a schema. The last element of its fields is for the fields that a dynamic event names.
func (b *layoutBuilder) addSchema(s *schema.Schema) {
	fields := make([]Column, len(s.Fields)+1)
	seen := make(map[string]int)
	for i := range s.Fields {
		f := &s.Fields[i]
		form := formOf(&f.Type)
		if form.Kind == 0 {
			continue
		}
		key := fieldKey{name: f.Name, occurrence: seen[f.Name], version: -1}
		seen[f.Name]++
		fields[i].Value = b.column(key, int(s.Version), form)
		if form.integer() && fields[i].Value != 0 && s.HasValueNames(f.Name) {
			key.names = true
			fields[i].Names = b.namesColumn(key)
		}
	}
	if s.IsDynamic() {
		fields[len(s.Fields)].Value = b.column(
			fieldKey{name: dynamicColumn, version: -1},
			int(s.Version),
			Form{Kind: parquetwriter.KindString, JSON: true},
		)
	}
	b.Fields = append(b.Fields, fields)
}

// column returns the column of a field, or 0 if the limit was exceeded. Integers of different sizes share a column of
// the larger size. A field of any other form gets a column with the suffix _vN.
func (b *layoutBuilder) column(key fieldKey, version int, want Form) int {
	i, ok := b.known[key]
	if !ok {
		return b.newColumn(key, strings.ToValidUTF8(key.name, "\uFFFD"), want)
	}
	if i == 0 || b.Forms[i] == want {
		return i
	}
	if b.Forms[i].integer() && want.integer() {
		b.Forms[i].Kind, b.Columns[i].Kind = parquetwriter.KindInt64, parquetwriter.KindInt64
		return i
	}
	key.version = version
	if i, ok := b.known[key]; ok && (i == 0 || b.Forms[i] == want) {
		return i
	}
	return b.newColumn(key, fmt.Sprintf("%s_v%d", strings.ToValidUTF8(key.name, "\uFFFD"), version), want)
}

func (b *layoutBuilder) namesColumn(key fieldKey) int {
	if i, ok := b.known[key]; ok {
		return i
	}
	return b.newColumn(key, strings.ToValidUTF8(key.name, "\uFFFD")+"_name", Form{Kind: parquetwriter.KindString})
}

// newColumn adds a column and returns its index, or 0 if the table has too many field columns.
func (b *layoutBuilder) newColumn(key fieldKey, name string, f Form) int {
	if len(b.Columns) >= Fixed+b.max {
		b.known[key] = 0
		b.Dropped++
		return 0
	}
	if name == "" {
		name = "unnamed"
	}
	i := len(b.Columns)
	b.Columns = append(b.Columns, parquetwriter.ColumnSpec{
		Name: name, Kind: f.Kind, List: f.List, Optional: true, Dict: f.Kind == parquetwriter.KindString && !f.JSON,
	})
	b.Forms = append(b.Forms, f)
	b.known[key] = i
	return i
}
