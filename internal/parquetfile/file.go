package parquetfile

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// A File is a Parquet file that is open for reading. Its methods are safe for concurrent use; readers of a file are not, but several
// readers of one file can be used at the same time.
type File struct {
	file    *parquet.File
	columns []Column
}

// Open reads the footer of a file of size bytes. It keeps r, which must stay readable until the last use of the file, and does not close
// it. A nil *Limits means the defaults. The error wraps ntconv.ErrFormat if the input is not a Parquet file, ErrTruncated, ErrCorrupt,
// ErrLimit, or ErrUnsupported if it is encrypted or refers to other files.
func Open(r io.ReaderAt, size int64, l *Limits) (*File, error) {
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	file := &File{file: f}
	for _, path := range f.Schema().Columns() {
		leaf, _ := f.Schema().Lookup(path...)
		c := Column{Path: path, Physical: Physical(leaf.Node.Type().Kind()), Optional: leaf.Node.Optional(),
			MaxDefinition: leaf.MaxDefinitionLevel, MaxRepetition: leaf.MaxRepetitionLevel}
		file.columns = append(file.columns, c)
	}
	return file, nil
}

// Rows returns the number of rows of the file.
func (f *File) Rows() int64 { return f.file.NumRows() }

// RowGroups returns the number of row groups.
func (f *File) RowGroups() int { return len(f.file.RowGroups()) }

// RowGroupRows returns the number of rows of the row group i.
func (f *File) RowGroupRows(i int) int64 { return f.file.RowGroups()[i].NumRows() }

// Columns returns the leaf columns in the order of the schema. The slice belongs to the file and must not be changed.
func (f *File) Columns() []Column { return f.columns }

// Metadata returns the value of a key of the file and whether there is one. If a key appears more than once, the last value counts.
func (f *File) Metadata(key string) (string, bool) { return f.file.Lookup(key) }

// Close ends the use of the file. It does not close the underlying input.
func (f *File) Close() error { return nil }

// A Reader reads the rows of a file into values of a Go type whose fields have parquet tags, as package tables defines them. It reads only
// the columns that the type has. It is not safe for concurrent use.
type Reader[T any] struct{ r *parquet.GenericReader[T] }

// NewReader returns a reader of all rows of a file. Fields of T are matched with columns by name: a column that the file lacks leaves the
// field zero, and NULL is the zero value or nil. The error wraps ntconv.ErrUnsupported and names both types if a column has another type
// than the field. Reading costs memory within the Limits of the file.
func NewReader[T any](f *File) (*Reader[T], error) {
	return &Reader[T]{parquet.NewGenericReader[T](f.file)}, nil
}

// Read reads up to len(rows) rows. It returns their number, which is len(rows) before the end of the file, and io.EOF with the last row or
// after it. All that rows hold belongs to the caller: strings and byte slices are never overwritten. Equal strings and byte slices may share
// memory, so byte slices must not be changed. After an error of another kind the reader returns that error again.
func (r *Reader[T]) Read(rows []T) (int, error) { return r.r.Read(rows) }

// Close releases the buffers of the reader.
func (r *Reader[T]) Close() error { return r.r.Close() }

// A Value is a value of a column: a number, a boolean, bytes, or NULL.
type Value struct {
	v parquet.Value
}

// IsNull reports whether the value is NULL, or missing because a group or list around it is NULL or empty.
func (v Value) IsNull() bool { return v.v.IsNull() }

// Definition returns the definition level, with which a reader of nested columns distinguishes NULL, an empty list and a list with NULL.
func (v Value) Definition() int { return v.v.DefinitionLevel() }

// Repetition returns the repetition level: 0 for the first value of a row.
func (v Value) Repetition() int { return v.v.RepetitionLevel() }

// Int64 returns the value of a column of type Int32 or Int64, sign-extended, and 0 or 1 for Boolean.
func (v Value) Int64() int64 { return v.v.Int64() }

// Float64 returns the value of a column of type Float or Double.
func (v Value) Float64() float64 { return v.v.Double() }

// Bytes returns the value of a column of type ByteArray, FixedLenByteArray or Int96 (12 bytes, little-endian). The caller must not change
// it; it stays valid until the next Read of the reader.
func (v Value) Bytes() []byte { return v.v.ByteArray() }

// A ColumnsReader reads some columns of a file without knowing their types beforehand. It is not safe for concurrent use.
type ColumnsReader struct {
	file    *File
	columns []int
	rows    parquet.Rows
	buf     []parquet.Row
	group   int
}

// NewColumnsReader returns a reader of the columns of f at the given positions in f.Columns().
func NewColumnsReader(f *File, columns []int) *ColumnsReader {
	return &ColumnsReader{file: f, columns: columns}
}

// Columns are consecutive rows of the columns that a ColumnsReader reads. The zero value is ready for use; it is reused by the next Read.
type Columns struct {
	// Rows is the number of rows.
	Rows int
	cols []columnRows
}

// columnRows has the values of row i at values[starts[i]:starts[i+1]].
type columnRows struct {
	starts []int
	values []Value
}

// Row returns the values of a row of a column, where column counts the columns of the reader. There is at least one: NULL and an empty list
// are one value that is null. A column without lists around it has exactly one.
func (c *Columns) Row(column, row int) []Value {
	col := &c.cols[column]
	return col.values[col.starts[row]:col.starts[row+1]]
}

// Read reads up to n rows into dst and returns io.EOF if there are no more.
func (r *ColumnsReader) Read(dst *Columns, n int) error {
	if len(dst.cols) != len(r.columns) {
		dst.cols = make([]columnRows, len(r.columns))
	}
	dst.Rows = 0
	for i := range dst.cols {
		dst.cols[i].starts = append(dst.cols[i].starts[:0], 0)
		dst.cols[i].values = dst.cols[i].values[:0]
	}
	if r.buf == nil {
		r.buf = make([]parquet.Row, n)
	}
	for {
		if r.rows == nil {
			if r.group == r.file.RowGroups() {
				return io.EOF
			}
			r.rows = r.file.file.RowGroups()[r.group].Rows()
			r.group++
		}
		k, err := r.rows.ReadRows(r.buf[:min(n, len(r.buf))])
		for _, row := range r.buf[:k] {
			for _, v := range row {
				for i, c := range r.columns {
					if v.Column() == c {
						dst.cols[i].values = append(dst.cols[i].values, Value{v.Clone()})
					}
				}
			}
			for i := range dst.cols {
				dst.cols[i].starts = append(dst.cols[i].starts, len(dst.cols[i].values))
			}
		}
		dst.Rows = k
		if err == io.EOF {
			r.rows = nil
		} else if err != nil {
			return fmt.Errorf("parquet: %w", err)
		}
		if k > 0 {
			return nil
		}
	}
}
