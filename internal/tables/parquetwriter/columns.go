package parquetwriter

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"unsafe"

	"github.com/parquet-go/parquet-go"
)

// A Kind is the type of the values of a column. The comment of each constant names the method that adds its values.
type Kind uint8

const (
	KindInt32     Kind = iota + 1 // Int32
	KindInt64                     // Int
	KindDouble                    // Float
	KindBool                      // Bool
	KindString                    // Text, valid UTF-8
	KindBytes                     // Text
	KindTimestamp                 // Int: microseconds since 1970-01-01 UTC
	KindDate                      // Int32: days since 1970-01-01
)

// A ColumnSpec describes a column of a file whose schema is known only at run time.
type ColumnSpec struct {
	Name string
	Kind Kind
	// Optional means that values may be NULL. Elements of a list cannot be NULL.
	Optional bool
	// List means that each value is a list of elements of the kind.
	List bool
	// Dict selects dictionary encoding, for columns with few distinct values. Delta selects delta encoding, for
	// integers that grow in small steps.
	Dict, Delta bool
}

const (
	// maxColumns is well below the limit of parquet-go, which panics if it is exceeded.
	maxColumns = 16_384
	// Rows are passed to parquet-go in batches, because a call costs more than adding a value.
	writeRows, batchValues = 1024, 16_384
	// Bytes of a batch's strings; the first buffer is small, because most files are small.
	batchText, firstText = 256 << 10, 2 << 10
	// rowGroupBytes ends a row group even if it has few rows, because parquet-go keeps a row group in memory.
	rowGroupBytes = 64 << 20
	// pageBytes is the size of a page. Files with few rows get smaller buffers, because a trace may have thousands of
	// files.
	pageBytes, minPageBytes = 256 << 10, 4 << 10
)

// A ColumnsWriter writes a file whose schema is known only at run time, value by value. For each row the caller adds
// one value per column, in any order of columns, and calls EndRow. An optional column is NULL if the caller adds no
// value for it in the whole file; otherwise it calls Null for each NULL. A ColumnsWriter is not safe for concurrent
// use.
type ColumnsWriter struct {
	w       *parquet.GenericWriter[any]
	columns []column
	text    []byte // strings of the batch; values share its memory
	rows    int    // of the batch
	limit   int    // maximum rows of a batch
	group   int64  // rows in the current row group
	maxRows int64  // maximum rows of a row group
	bytes   int64  // estimated size of the row group before compression
	err     error
}

// A column collects the values of a batch.
type column struct {
	values []parquet.Value // one per row of the batch, or one per element of a list
	level  byte            // definition level of a value that is not NULL
	list   bool
	elems  int // elements added to the current list
	w      *parquet.ColumnWriter
}

// NewColumnsWriter starts a file with these columns, in this order. rows is an estimate of the number of rows, or 0 if
// it is unknown; it determines the size of buffers. Column names must be distinct. o may not be nil. The file is
// incomplete until Close returns nil.
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
		limit: max(16, min(writeRows, batchValues/len(columns))), maxRows: o.rowGroupRows(),
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

// Int adds a value to column i, whose kind is KindInt64 or KindTimestamp.
func (c *ColumnsWriter) Int(i int, v int64) {
	value, level := c.slot(i)
	*value = parquet.Int64Value(v)
	value.SetDefinitionLevel(int(level))
}

// Int32 adds a value to column i, whose kind is KindInt32.
func (c *ColumnsWriter) Int32(i int, v int32) {
	value, level := c.slot(i)
	*value = parquet.Int32Value(v)
	value.SetDefinitionLevel(int(level))
}

// Float adds a value to column i, whose kind is KindDouble.
func (c *ColumnsWriter) Float(i int, v float64) {
	value, level := c.slot(i)
	*value = parquet.DoubleValue(v)
	value.SetDefinitionLevel(int(level))
}

// Bool adds a value to column i, whose kind is KindBool.
func (c *ColumnsWriter) Bool(i int, v bool) {
	value, level := c.slot(i)
	*value = parquet.BooleanValue(v)
	value.SetDefinitionLevel(int(level))
}

// Text adds a value to column i, whose kind is KindString or KindBytes. It copies text.
func (c *ColumnsWriter) Text(i int, text []byte) {
	at := len(c.text)
	if at+len(text) > cap(c.text) {
		size := max(firstText, min(4*cap(c.text), batchText+batchText/4), len(text))
		c.text = make([]byte, 0, size) // values still refer to the old buffer
		at = 0
	}
	c.text = append(c.text, text...)
	c.bytes += int64(len(text))
	c.reference(i, c.text[at:])
}

// Static adds a value to column i, whose kind is KindString or KindBytes. It retains text without copying it.
func (c *ColumnsWriter) Static(i int, text string) {
	c.bytes += int64(len(text))
	c.reference(i, unsafe.Slice(unsafe.StringData(text), len(text)))
}

func (c *ColumnsWriter) reference(i int, text []byte) {
	value, level := c.slot(i)
	*value = parquet.ByteArrayValue(text)
	value.SetDefinitionLevel(int(level))
}

// Null adds NULL to column i, which must be optional.
func (c *ColumnsWriter) Null(i int) {
	if col := &c.columns[i]; col.list {
		col.values = append(col.values, parquet.Value{})
	} else {
		col.values[c.rows] = parquet.Value{}
	}
}

// EndList ends the list in column i. Its elements are the values added since the previous EndList. A list without
// elements is empty, not NULL.
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

// slot returns a pointer to the next value of a column and its definition level. The caller builds the value in place:
// copying a value whose level was just written would wait for store forwarding.
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

// EndRow ends a row. After an error all further calls of EndRow and Close return it.
func (c *ColumnsWriter) EndRow() error {
	c.rows++
	if c.rows < c.limit && len(c.text) < batchText && c.group+int64(c.rows) < c.maxRows {
		return c.err
	}
	c.write()
	return c.err
}

var errRow = errors.New("a row of a parquet file has no list for a column")

// write passes the batch to parquet-go.
func (c *ColumnsWriter) write() {
	for i := range c.columns {
		c.writeColumn(&c.columns[i])
	}
	c.bytes += int64(c.rows) * int64(len(c.columns)) * 8
	c.group += int64(c.rows)
	c.rows, c.text = 0, c.text[:0]
	if c.err == nil && (c.group >= c.maxRows || c.bytes >= rowGroupBytes) {
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

// Close writes buffered rows and the footer. It does not close the underlying writer.
func (c *ColumnsWriter) Close() error {
	c.write()
	if c.err != nil {
		return c.err
	}
	return c.w.Close()
}

// nodeOf returns the schema node of a column.
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
	case KindDate:
		node = parquet.Date()
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

// An orderedGroup is a schema group that keeps the order of its fields. A parquet.Group sorts them by name.
type orderedGroup struct {
	parquet.Group // empty; implements the other methods of a node
	fields        []parquet.Field
}

func (g *orderedGroup) Fields() []parquet.Field { return g.fields }

func (g *orderedGroup) String() string { return fmt.Sprintf("group of %d columns", len(g.fields)) }

// An orderedField is a column of an orderedGroup.
type orderedField struct {
	parquet.Node
	name string
}

func (f *orderedField) Name() string { return f.name }

// Value implements parquet.Field. It is needed only to write Go values, so it is never called here.
func (f *orderedField) Value(reflect.Value) reflect.Value { return reflect.Value{} }
