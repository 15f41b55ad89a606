package parquet

import (
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/payload"
	"github.com/ntconv/ntconv/internal/files/spool"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
	"github.com/ntconv/ntconv/internal/tables/typedtable"
	"github.com/ntconv/ntconv/schema"
)

// A typedWriter writes the records of a typed table as rows.
type typedWriter struct {
	table    *typedTable
	columns  *parquetwriter.ColumnsWriter
	forms    []typedtable.Form
	variants []variantWriter
	record   record
	cells    []payload.Cell
	text     []byte // strings that the cells refer to
	scratch  []byte
}

// A variantWriter decodes and writes the payloads of one schema.
type variantWriter struct {
	schema  *schema.Schema
	program *payload.Program
	fields  []typedtable.Column
	used    int   // number of fields up to the last one with a column
	null    []int // columns without a field of the schema
	names   []valueNames
}

// valueNames caches the names of a field's values.
type valueNames struct {
	value uint64 // latest value
	name  string
	known map[uint64]string
}

// maxValueNames limits the cached names per field, because a bit set may have many values.
const maxValueNames = 4096

// newTypedWriter returns a writer for a table. It merges the fields of all variants into one layout, in the order of
// their versions.
func newTypedWriter(table *typedTable, file io.Writer) (*typedWriter, error) {
	order := make([]int, len(table.variants))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return int(table.variants[a].schema.Version) - int(table.variants[b].schema.Version)
	})
	var schemas []*schema.Schema
	if table.known != nil {
		schemas = append(schemas, table.known.Schemas...)
	}
	others := len(schemas)
	for _, v := range order {
		schemas = append(schemas, table.variants[v].schema)
	}
	l := typedtable.New(schemas, table.maxColumns())
	schemas, l.Fields = schemas[others:], l.Fields[others:]
	table.dropped = l.Dropped
	w := &typedWriter{table: table, forms: l.Forms, variants: make([]variantWriter, len(order))}
	for i, v := range order {
		w.variants[v] = newVariantWriter(schemas[i], l.Fields[i], len(l.Columns))
		w.cells = slices.Grow(w.cells, len(schemas[i].Fields))
	}
	var err error
	w.columns, err = parquetwriter.NewColumnsWriter(file, l.Columns, table.count, typedOptions(table))
	return w, err
}

// typedOptions returns the options for the file of a typed table.
func typedOptions(table *typedTable) *parquetwriter.Options {
	o := options(tables.Table{Name: table.table, Row: reflect.TypeFor[struct{}]()})
	if o.Sort = "ts_ns"; table.unsorted {
		o.Sort = ""
	}
	if table.flags&recordTrace != 0 {
		o.Bloom = append(o.Bloom, "trace_id")
	}
	if table.flags&recordSpan != 0 {
		o.Bloom = append(o.Bloom, "span_id")
	}
	return o
}

// newVariantWriter returns a writer for the payloads of one schema. It determines the columns that stay NULL for them.
func newVariantWriter(s *schema.Schema, fields []typedtable.Column, columns int) variantWriter {
	v := variantWriter{schema: s, program: payload.Compile(s), fields: fields, names: make([]valueNames, len(fields))}
	used := make([]bool, columns)
	for i, f := range fields {
		used[f.Value], used[f.Names] = true, true
		if f.Value != 0 {
			v.used = min(i+1, len(s.Fields))
		}
	}
	for i := typedtable.Fixed; i < columns; i++ {
		if !used[i] {
			v.null = append(v.null, i)
		}
	}
	return v
}

// chunk writes the records of a chunk as rows.
func (w *typedWriter) chunk(b []byte) (err error) {
	w.record.fixed = fixedValues{}
	for len(b) > 0 {
		if b, err = w.record.read(b); err != nil {
			return err
		}
		if w.record.variant >= len(w.variants) {
			return &spool.Error{Err: spool.ErrChanged}
		}
		v := &w.variants[w.record.variant]
		w.writeFixed(v.schema.Version)
		w.writePayload(v)
		if err := w.columns.EndRow(); err != nil {
			return err
		}
	}
	return nil
}

// writeFixed writes the columns that all typed tables have.
func (w *typedWriter) writeFixed(version uint8) {
	r, c := &w.record, w.columns
	nanos := r.fixed[valueNanos]
	micros := nanos / 1000
	if nanos%1000 < 0 {
		micros--
	}
	c.Int(typedtable.EventID, r.fixed[valueID])
	c.Int(typedtable.Time, micros)
	c.Int(typedtable.Nanos, nanos)
	c.Int32(typedtable.Process, int32(r.fixed[valueProcess]))
	c.Int(typedtable.PID, r.fixed[valuePID])
	c.Int32(typedtable.Thread, int32(r.fixed[valueThread]))
	c.Int(typedtable.TID, r.fixed[valueTID])
	c.Int32(typedtable.CPU, int32(r.fixed[valueCPU]))
	if stack := r.fixed[valueStack]; stack != 0 {
		c.Int(typedtable.Stack, stack)
	} else {
		c.Null(typedtable.Stack)
	}
	c.Int32(typedtable.Version, int32(version))
	if w.table.flags&recordIDs != 0 {
		w.writeIDs()
	}
}

// writeIDs writes the columns of trace, span and activity IDs. It is not called for tables without any ID, whose
// columns remain NULL.
func (w *typedWriter) writeIDs() {
	r, c := &w.record, w.columns
	var text [36]byte
	if r.flags&recordTrace != 0 {
		c.Text(typedtable.TraceID, hex.AppendEncode(text[:0], r.trace[:]))
	} else {
		c.Null(typedtable.TraceID)
	}
	if r.flags&recordSpan != 0 {
		c.Text(typedtable.SpanID, hex.AppendEncode(text[:0], r.span[:]))
	} else {
		c.Null(typedtable.SpanID)
	}
	if r.flags&recordActivity != 0 {
		c.Text(typedtable.Activity, ntconv.GUID(r.active).Append(text[:0]))
	} else {
		c.Null(typedtable.Activity)
	}
}

// writePayload writes the field columns. A payload that cannot be decoded yields NULL after the error and is counted.
func (w *typedWriter) writePayload(v *variantWriter) {
	pointerSize := 8
	if w.record.flags&recordPointer4 != 0 {
		pointerSize = 4
	}
	var cells []payload.Cell
	var err error
	cells, w.text, err = v.program.Read(w.cells[:len(v.schema.Fields)], w.text[:0], w.record.payload, pointerSize)
	for i := range cells {
		f := v.fields[i]
		if f.Value == 0 {
			continue
		}
		if listErr := w.writeField(v, i, &cells[i]); err == nil {
			err = listErr
		}
		if f.Names != 0 {
			w.writeName(v, i, &cells[i])
		}
	}
	for i := len(cells); i < v.used; i++ {
		f := v.fields[i]
		if f.Value != 0 {
			w.columns.Null(f.Value)
		}
		if f.Names != 0 {
			w.columns.Null(f.Names)
		}
	}
	if last := v.fields[len(v.schema.Fields)]; last.Value != 0 {
		w.writeDynamic(v, last.Value)
	}
	for _, column := range v.null {
		w.columns.Null(column)
	}
	if err != nil {
		w.table.failed++
		if w.table.err == nil {
			w.table.err = err
		}
	}
}

// writeField writes a field value. It returns the error of a list element that cannot be decoded.
func (w *typedWriter) writeField(v *variantWriter, i int, cell *payload.Cell) error {
	column := v.fields[i].Value
	form := w.forms[column]
	switch {
	case cell.Kind == ntconv.ValueNull:
		w.columns.Null(column)
	case form.JSON:
		w.scratch = v.program.AppendJSON(w.scratch[:0], i)
		w.columns.Text(column, w.scratch)
	case form.List && cell.Kind == ntconv.ValueList:
		return w.writeList(column, form.Kind, v.program.Value(i))
	default:
		w.writeScalar(column, form.Kind, cell)
	}
	return nil
}

// writeScalar writes a value, or NULL if the kind of the value differs from that of the column, as for a 16-byte
// decimal.
func (w *typedWriter) writeScalar(column int, kind parquetwriter.Kind, cell *payload.Cell) {
	integer := cell.Kind == ntconv.ValueInt || cell.Kind == ntconv.ValueUint
	switch {
	case kind == parquetwriter.KindInt64 && integer:
		w.columns.Int(column, int64(cell.Bits))
	case kind == parquetwriter.KindInt32 && integer:
		w.columns.Int32(column, int32(cell.Bits))
	case kind == parquetwriter.KindString && (cell.Kind == ntconv.ValueString || cell.Kind == ntconv.ValueGUID),
		kind == parquetwriter.KindBytes && cell.Kind == ntconv.ValueBytes:
		w.columns.Text(column, cell.Bytes)
	case kind == parquetwriter.KindDouble && cell.Kind == ntconv.ValueFloat:
		w.columns.Float(column, math.Float64frombits(cell.Bits))
	case kind == parquetwriter.KindBool && cell.Kind == ntconv.ValueBool:
		w.columns.Bool(column, cell.Bits != 0)
	case kind == parquetwriter.KindTimestamp && cell.Kind == ntconv.ValueTime:
		w.columns.Int(column, fileTimeMicros(cell.Bits))
	default:
		w.columns.Null(column)
	}
}

// fileTimeMicros converts a Windows file time, 100 ns units since 1601-01-01, to microseconds since 1970-01-01, rounded
// down.
func fileTimeMicros(t uint64) int64 { return int64(t/10) - 11_644_473_600_000_000 }

// writeList writes a list up to the first element that cannot be decoded, and returns the error of that element.
func (w *typedWriter) writeList(column int, kind parquetwriter.Kind, list ntconv.Value) (err error) {
	for v := range list.Elems() {
		if v.Kind() == ntconv.ValueError {
			err = v.Err()
			break
		}
		w.writeElem(column, kind, v)
	}
	w.columns.EndList(column)
	return err
}

// writeElem writes a list element, or the zero value if its kind differs from that of the column: elements cannot be
// NULL.
func (w *typedWriter) writeElem(column int, kind parquetwriter.Kind, v ntconv.Value) {
	switch kind {
	case parquetwriter.KindInt64:
		w.columns.Int(column, v.Int())
	case parquetwriter.KindInt32:
		w.columns.Int32(column, int32(v.Int()))
	case parquetwriter.KindDouble:
		w.columns.Float(column, v.Float())
	case parquetwriter.KindBool:
		w.columns.Bool(column, v.Bool())
	case parquetwriter.KindTimestamp:
		w.columns.Int(column, fileTimeMicros(v.FileTime()))
	default:
		if v.Kind() == ntconv.ValueGUID {
			w.scratch = v.GUID().Append(w.scratch[:0])
		} else {
			w.scratch = v.AppendString(w.scratch[:0])
		}
		w.columns.Text(column, w.scratch)
	}
}

// writeName writes the name of a field's value, or NULL if the value has no name.
func (w *typedWriter) writeName(v *variantWriter, i int, cell *payload.Cell) {
	column := v.fields[i].Names
	if cell.Kind != ntconv.ValueInt && cell.Kind != ntconv.ValueUint {
		w.columns.Null(column)
		return
	}
	names := &v.names[i]
	if names.value != cell.Bits || names.known == nil {
		names.look(v.schema, v.schema.Fields[i].Name, cell.Bits)
	}
	if names.name == "" {
		w.columns.Null(column)
	} else {
		w.columns.Static(column, names.name)
	}
}

// look sets n.name to the name of a value. It discards all cached names when there are too many.
func (n *valueNames) look(s *schema.Schema, field string, value uint64) {
	name, ok := n.known[value]
	if !ok {
		name = s.ValueName(field, value)
		if n.known == nil || len(n.known) >= maxValueNames {
			n.known = make(map[uint64]string)
		}
		n.known[value] = name
	}
	n.value, n.name = value, name
}

// writeDynamic writes the fields that a payload names itself as a JSON object, or NULL if their layout is unknown.
func (w *typedWriter) writeDynamic(v *variantWriter, column int) {
	if w.scratch = v.program.AppendData(w.scratch[:0]); len(w.scratch) > 0 {
		w.columns.Text(column, w.scratch)
	} else {
		w.columns.Null(column)
	}
}

// report reports what the table omits.
func (t *typedTable) report(r *ntconv.Report) {
	if t.failed > 0 {
		r.Note(ntconv.CodePayload, uint64(t.failed), -1, fmt.Sprintf("table %s: %v", t.table, t.err))
	}
	if t.dropped > 0 {
		r.Note(
			ntconv.CodeNotCarried,
			uint64(t.dropped),
			-1,
			fmt.Sprintf("fields of the table %s after %d columns", t.table, t.maxColumns()),
		)
	}
}
