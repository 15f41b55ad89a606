package parquetreader

import (
	"io"
	"math"
	"slices"
	"unsafe"
)

// A Value is a value of a column: a number, a boolean, bytes, or NULL.
type Value struct {
	number   uint64
	text     string
	physical uint8
	null     bool
	// definition and repetition are the levels of the value.
	definition, repetition uint8
}

// IsNull reports whether the value is NULL, or absent because a group or list around it is NULL or empty.
func (v Value) IsNull() bool { return v.null }

// Definition returns the definition level. For nested columns it distinguishes NULL, an empty list and a list that
// contains NULL.
func (v Value) Definition() int { return int(v.definition) }

// Repetition returns the repetition level, which is 0 for the first value of a row.
func (v Value) Repetition() int { return int(v.repetition) }

// Int64 returns the value of a column of type Int32 or Int64, sign-extended, and 0 or 1 for Boolean. It is 0 for NULL.
func (v Value) Int64() int64 { return int64(v.number) }

// Float64 returns the value of a column of type Float or Double. It is 0 for NULL.
func (v Value) Float64() float64 {
	if Physical(v.physical) == Float {
		return float64(math.Float32frombits(uint32(v.number)))
	}
	return math.Float64frombits(v.number)
}

// Text returns the value of a column of type ByteArray, FixedLenByteArray or Int96 (12 bytes, little-endian). The
// string remains valid; it shares memory with other values of its page. It is empty for NULL.
func (v Value) Text() string { return v.text }

// Bytes returns the bytes of Text. The caller must not change them.
func (v Value) Bytes() []byte { return bytesOf(v.text) }

// bytesOf returns the bytes of a string without copying them.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// A ColumnsReader reads some columns of a file whose types are not known at compile time. It is not safe for concurrent
// use.
type ColumnsReader struct{ b *batcher }

// NewColumnsReader returns a reader of the columns of f at the given positions in f.Columns(). The reader uses memory
// within the Limits of the file.
func NewColumnsReader(f *File, columns []int) *ColumnsReader {
	b := newBatcher(f, columns)
	for _, c := range b.columns {
		c.copies = int64(unsafe.Sizeof(Value{}))
	}
	return &ColumnsReader{b}
}

// Columns holds consecutive rows of the columns of a ColumnsReader. The zero value is ready for use. The next Read into
// it reuses its memory.
type Columns struct {
	// Rows is the number of rows.
	Rows int
	cols []columnRows
}

// columnRows has the values of row i at values[starts[i]:starts[i+1]], and at values[i:i+1] if starts is empty.
type columnRows struct {
	starts []int
	values []Value
}

// Row returns the values of a row of a column; column is a position in the list of NewColumnsReader. A row has at least
// one value: NULL and an empty list are one value with IsNull. A column outside of lists has exactly one. The slice is
// valid until the next Read into c.
func (c *Columns) Row(column, row int) []Value {
	col := &c.cols[column]
	if len(col.starts) == 0 {
		return col.values[row : row+1]
	}
	return col.values[col.starts[row]:col.starts[row+1]]
}

// Read reads up to n rows into dst, but at most some thousand. It returns io.EOF after the last row. After an error
// dst.Rows is 0, and the next call returns the same error. Errors wrap ntconv.ErrCorrupt, ErrTruncated, ErrLimit or
// ErrUnsupported, or are those of the input.
func (r *ColumnsReader) Read(dst *Columns, n int) error {
	dst.Rows = 0
	if n <= 0 {
		return nil
	}
	n, err := r.b.next(n)
	if err != nil {
		return err
	}
	dst.cols = slices.Grow(dst.cols[:0], len(r.b.columns))[:len(r.b.columns)]
	for i, c := range r.b.columns {
		dst.cols[i].set(c)
	}
	dst.Rows = n
	return nil
}

// Close releases the buffers of the reader.
func (r *ColumnsReader) Close() error {
	r.b.close()
	return nil
}

// set copies the batch of a column reader.
func (col *columnRows) set(c *columnReader) {
	maximum := uint8(c.column.MaxDefinition)
	col.starts = col.starts[:0]
	values := slices.Grow(col.values[:0], c.length)[:c.length]
	next := 0
	for i := range values {
		v := Value{physical: uint8(c.column.Physical)}
		if len(c.reps) > 0 {
			if v.repetition = c.reps[i]; v.repetition == 0 {
				col.starts = append(col.starts, i)
			}
		}
		if maximum > 0 {
			v.definition = c.defs[i]
		}
		switch v.null = v.definition < maximum; {
		case v.null:
		case len(c.numbers) > 0:
			v.number = c.numbers[next]
			next++
		default:
			v.text = c.strings[next]
			next++
		}
		values[i] = v
	}
	if len(c.reps) > 0 {
		col.starts = append(col.starts, len(values))
	}
	col.values = values
}

var _ io.Closer = (*ColumnsReader)(nil)
