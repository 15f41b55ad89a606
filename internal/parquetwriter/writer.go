package parquetwriter

import (
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Defaults of Options.
const (
	// DefaultRowGroupRows is a compromise: readers work on row groups in parallel and skip those outside of a time
	// range, and every row group has dictionaries of its own.
	DefaultRowGroupRows = 500_000
	// dictionaryBytes is the size from which a column is written without a dictionary.
	dictionaryBytes = 1 << 20
)

// Options describe a file. The zero value is a file without metadata and sort order.
type Options struct {
	// Sort names the column by which the rows are in ascending order. The writer does not sort.
	Sort string
	// Bloom are the columns with a bloom filter.
	Bloom []string
	// Metadata are keys and values of the file.
	Metadata map[string]string
	// RowGroupRows is the largest number of rows of a row group, DefaultRowGroupRows if it is 0.
	RowGroupRows int64
}

func (o *Options) rowGroupRows() int64 {
	if o.RowGroupRows == 0 {
		return DefaultRowGroupRows
	}
	return o.RowGroupRows
}

// options returns what parquet-go needs to know.
func (o *Options) options() []parquet.WriterOption {
	list := []parquet.WriterOption{
		parquet.Compression(sharedEncoders),
		parquet.DictionaryMaxBytes(dictionaryBytes),
		parquet.MaxRowsPerRowGroup(o.rowGroupRows()),
		parquet.CreatedBy("ntconv", "", ""),
		// The column index has the bounds of pages. In the headers of pages they would not be cut and not be
		// compressed: a payload of a megabyte would be there twice.
		parquet.DataPageStatistics(false),
	}
	if o.Sort != "" {
		list = append(list, parquet.SortingWriterConfig(parquet.SortingColumns(parquet.Ascending(o.Sort))))
	}
	var filters []parquet.BloomFilterColumn
	for _, name := range o.Bloom {
		filters = append(filters, parquet.SplitBlockFilter(10, name))
	}
	if len(filters) > 0 {
		list = append(list, parquet.BloomFilters(filters...))
	}
	for _, key := range slices.Sorted(maps.Keys(o.Metadata)) {
		list = append(list, parquet.KeyValueMetadata(key, o.Metadata[key]))
	}
	return list
}

// BloomColumns returns the columns of a row type that have the tag bloom.
func BloomColumns(row reflect.Type) []string { return tagged(row, "bloom") }

func tagged(row reflect.Type, tag string) (names []string) {
	for i := range row.NumField() {
		if f := row.Field(i); f.Tag.Get(tag) != "" {
			name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
			names = append(names, name)
		}
	}
	return names
}

// A Writer writes rows of type T to a file. It is not safe for concurrent use.
type Writer[T any] struct {
	w        *parquet.GenericWriter[T]
	tail     *tail
	ended    int64 // size of the file up to the last row group that ended
	unsorted bool
}

// NewWriter returns a writer of a file. Nothing is complete before Close.
func NewWriter[T any](w io.Writer, o *Options) *Writer[T] {
	t := &tail{w: w}
	return &Writer[T]{w: parquet.NewGenericWriter[T](t, append(o.options(), shortBounds[T]())...), tail: t}
}

// Write writes rows. It keeps nothing of them, so that strings and slices may be used again.
func (w *Writer[T]) Write(rows []T) error {
	if _, err := w.w.Write(rows); err != nil {
		return err
	}
	if w.w.Size()-w.ended > rowGroupBytes {
		return w.Flush()
	}
	return nil
}

// Flush ends the row group.
func (w *Writer[T]) Flush() error {
	err := w.w.Flush()
	w.ended = w.w.Size()
	return err
}

// Unsorted states that the rows are not in the order of Options.Sort, so that Close does not claim it.
func (w *Writer[T]) Unsorted() { w.unsorted = true }

// Close completes the file. It does not close the underlying writer.
func (w *Writer[T]) Close() error {
	if !w.unsorted {
		return w.w.Close()
	}
	if err := w.w.Flush(); err != nil {
		return err
	}
	w.tail.hold = true
	if err := w.w.Close(); err != nil {
		return err
	}
	return w.tail.writeUnsorted()
}
