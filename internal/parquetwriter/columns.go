package parquetwriter

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"unsafe"

	"github.com/parquet-go/parquet-go"
)

// A Kind is the type of the values of a column.
type Kind uint8

const (
	KindInt32     Kind = iota + 1 // Int32
	KindInt64                     // Int
	KindDouble                    // Float
	KindBool                      // Bool
	KindString                    // Text, valid UTF-8
	KindBytes                     // Text
	KindTimestamp                 // Int: microseconds since 1970-01-01 UTC
)

// A ColumnSpec describes a column of a file whose schema is known only at run time.
type ColumnSpec struct {
	Name string
	Kind Kind
	// Optional means that values may be NULL. Elements of a list may not.
	Optional bool
	// List means that a value is a list of values of the kind.
	List bool
	// Dict is for columns with few distinct values, Delta for integers that grow in small steps.
	Dict, Delta bool
}

const (
	// maxColumns is well below the limit of parquet-go, which panics beyond it.
	maxColumns = 16_384
	// Rows are handed to parquet-go in batches: a call per value costs more than the value.
	writeRows, batchValues = 1024, 16_384
	batchText, firstText   = 256 << 10, 2 << 10 // bytes of a batch's strings; the first buffer is small, as most files are
	// rowGroupBytes ends a row group before its largest number of rows, because parquet-go keeps a row group in memory.
	rowGroupBytes = 64 << 20
	// A page has pageBytes of values. Files of few rows get smaller buffers: a trace may have thousands of them.
	pageBytes, minPageBytes = 256 << 10, 4 << 10
)

// A ColumnsWriter writes a file whose schema is known only at run time, value by value. Each row gives every column a
// value, in any order of the columns, and ends with EndRow; an optional column that gets no value in any row is NULL. A
// ColumnsWriter is not safe for concurrent use.
type ColumnsWriter struct {
	w       *parquet.GenericWriter[any]
	columns []column
	text    []byte // strings of the batch, to which values refer
	rows    int    // of the batch
	limit   int    // rows of a full batch
	group   int64  // rows of the row group
	most    int64  // rows of a full row group
	bytes   int64  // estimate of the row group before compression
	err     error
}

// A column collects the values of a batch.
type column struct {
	values []parquet.Value // one per row of a batch; as many as there are elements if list is set
	level  byte            // definition level of a value
	list   bool
	elems  int // of the list that has not ended
	w      *parquet.ColumnWriter
}

// NewColumnsWriter begins a file with these columns in their order. rows is an estimate of the number of rows, 0 if it
// is unknown; it decides the size of buffers. Names must be distinct. Nothing is complete before Close.
func NewColumnsWriter(w io.Writer, columns []ColumnSpec, rows int64, o *Options) (*ColumnsWriter, error) {
	if len(columns) == 0 || len(columns) > maxColumns {
		return nil, fmt.Errorf("parquet file with %d columns: want 1 to %d", len(columns), maxColumns)
	}
	root := &orderedGroup{fields: make([]parquet.Field, len(columns))}
	for i, c := range columns {
		node, err := nodeOf(c)
		if err != nil {
			return nil, err
		}
		root.fields[i] = &orderedField{node, c.Name}
	}
	page := pageBytes
	if rows > 0 && rows < pageBytes/8 {
		page = max(minPageBytes, int(rows)*8)
	}
	options := append(o.options(), parquet.NewSchema("row", root), parquet.PageBufferSize(page))
	c := &ColumnsWriter{
		w: parquet.NewGenericWriter[any](w, options...), columns: make([]column, len(columns)),
		limit: max(16, min(writeRows, batchValues/len(columns))), most: o.rowGroupRows(),
	}
	if rows > 0 {
		c.limit = int(min(int64(c.limit), rows))
	}
	for i, cw := range c.w.ColumnWriters() {
		c.columns[i].init(&columns[i], cw, c.limit)
	}
	return c, nil
}

func (c *column) init(description *ColumnSpec, w *parquet.ColumnWriter, rows int) {
	c.w, c.list = w, description.List
	if description.Optional {
		c.level++
	}
	if c.list {
		c.level++
	} else {
		c.values = make([]parquet.Value, rows)
	}
}

// Int adds a value of a column of KindInt64 or KindTimestamp.
func (c *ColumnsWriter) Int(i int, v int64) {
	value, level := c.slot(i)
	*value = parquet.Int64Value(v)
	value.SetDefinitionLevel(int(level))
}

// Int32 adds a value of a column of KindInt32.
func (c *ColumnsWriter) Int32(i int, v int32) {
	value, level := c.slot(i)
	*value = parquet.Int32Value(v)
	value.SetDefinitionLevel(int(level))
}

// Float adds a value of a column of KindDouble.
func (c *ColumnsWriter) Float(i int, v float64) {
	value, level := c.slot(i)
	*value = parquet.DoubleValue(v)
	value.SetDefinitionLevel(int(level))
}

// Bool adds a value of a column of KindBool.
func (c *ColumnsWriter) Bool(i int, v bool) {
	value, level := c.slot(i)
	*value = parquet.BooleanValue(v)
	value.SetDefinitionLevel(int(level))
}

// Text adds a value of a column of KindString or KindBytes. It copies text.
func (c *ColumnsWriter) Text(i int, text []byte) {
	at := len(c.text)
	if at+len(text) > cap(c.text) {
		size := max(firstText, min(4*cap(c.text), batchText+batchText/4), len(text))
		c.text = make([]byte, 0, size) // values refer to the old one, which the collector keeps
		at = 0
	}
	c.text = append(c.text, text...)
	c.bytes += int64(len(text))
	c.reference(i, c.text[at:])
}

// Static adds a value of a column of KindString or KindBytes. It keeps a reference to text.
func (c *ColumnsWriter) Static(i int, text string) {
	c.bytes += int64(len(text))
	c.reference(i, unsafe.Slice(unsafe.StringData(text), len(text)))
}

func (c *ColumnsWriter) reference(i int, text []byte) {
	value, level := c.slot(i)
	*value = parquet.ByteArrayValue(text)
	value.SetDefinitionLevel(int(level))
}

// Null adds NULL to an optional column.
func (c *ColumnsWriter) Null(i int) {
	if col := &c.columns[i]; col.list {
		col.values = append(col.values, parquet.Value{})
	} else {
		col.values[c.rows] = parquet.Value{}
	}
}

// EndList ends the list of a column, whose elements were added as values before. A list without elements is empty, not
// NULL.
func (c *ColumnsWriter) EndList(i int) {
	col := &c.columns[i]
	if col.elems == 0 {
		value, level := col.append()
		value.SetDefinitionLevel(int(level) - 1)
	}
	elems := col.values[len(col.values)-col.elems:]
	for j := range elems[1:] {
		elems[1+j].SetRepetitionLevel(1)
	}
	c.bytes += int64(col.elems) * 8
	col.elems = 0
}

// slot returns where the next value of a column goes, and its definition level. Values are made there: a copy of a
// value whose level was just set waits for that store.
func (c *ColumnsWriter) slot(i int) (value *parquet.Value, level byte) {
	col := &c.columns[i]
	if col.list {
		return col.append()
	}
	return &col.values[c.rows], col.level
}

func (c *column) append() (value *parquet.Value, level byte) {
	c.elems++
	c.values = append(c.values, parquet.Value{})
	return &c.values[len(c.values)-1], c.level
}

// EndRow ends a row. An error ends the file: all further calls return it.
func (c *ColumnsWriter) EndRow() error {
	c.rows++
	if c.rows < c.limit && len(c.text) < batchText && c.group+int64(c.rows) < c.most {
		return c.err
	}
	c.write()
	return c.err
}

var errRow = errors.New("a row of a parquet file has no list for a column")

// write hands the batch to parquet-go.
func (c *ColumnsWriter) write() {
	for i := range c.columns {
		c.writeColumn(&c.columns[i])
	}
	c.bytes += int64(c.rows) * int64(len(c.columns)) * 8
	c.group += int64(c.rows)
	c.rows, c.text = 0, c.text[:0]
	if c.err == nil && (c.group >= c.most || c.bytes >= rowGroupBytes) {
		c.err = c.w.Flush()
		c.group, c.bytes = 0, 0
	}
}

func (c *ColumnsWriter) writeColumn(col *column) {
	values := col.values
	if col.list {
		col.values = values[:0]
	} else {
		values = values[:c.rows]
	}
	if c.err != nil || c.rows == 0 {
		return
	}
	n, err := col.w.WriteRowValues(values)
	if c.err = err; err == nil && n != c.rows {
		c.err = errRow
	}
}

// Close completes the file. It does not close the underlying writer.
func (c *ColumnsWriter) Close() error {
	c.write()
	if c.err != nil {
		return c.err
	}
	return c.w.Close()
}

// nodeOf returns the node of a column in a schema.
func nodeOf(c ColumnSpec) (parquet.Node, error) {
	var node parquet.Node
	switch c.Kind {
	case KindInt32:
		node = parquet.Leaf(parquet.Int32Type)
	case KindInt64:
		node = parquet.Leaf(parquet.Int64Type)
	case KindDouble:
		node = parquet.Leaf(parquet.DoubleType)
	case KindBool:
		node = parquet.Leaf(parquet.BooleanType)
	case KindString:
		node = parquet.String()
	case KindBytes:
		node = parquet.Leaf(parquet.ByteArrayType)
	case KindTimestamp:
		node = parquet.Timestamp(parquet.Microsecond)
	default:
		return nil, fmt.Errorf("column %q of a parquet file: unknown kind %d", c.Name, c.Kind)
	}
	switch {
	case c.Dict:
		node = parquet.Encoded(node, &parquet.RLEDictionary)
	case c.Delta:
		node = parquet.Encoded(node, &parquet.DeltaBinaryPacked)
	}
	if c.List {
		node = parquet.List(node)
	}
	if c.Optional {
		node = parquet.Optional(node)
	}
	return node, nil
}

// An orderedGroup is a group of a schema with its fields in order. A parquet.Group sorts them by name.
type orderedGroup struct {
	parquet.Group // empty; the rest of what a node must have
	fields        []parquet.Field
}

func (g *orderedGroup) Fields() []parquet.Field { return g.fields }

func (g *orderedGroup) String() string { return fmt.Sprintf("group of %d columns", len(g.fields)) }

// An orderedField is a column in an orderedGroup.
type orderedField struct {
	parquet.Node
	name string
}

func (f *orderedField) Name() string { return f.name }

// Value is for writers of Go values, and not called.
func (f *orderedField) Value(reflect.Value) reflect.Value { return reflect.Value{} }
