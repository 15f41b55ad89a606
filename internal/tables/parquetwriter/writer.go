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
	// DefaultRowGroupRows is a compromise. Readers process row groups in parallel and skip those outside of a time
	// range, but every row group has its own dictionaries.
	DefaultRowGroupRows = 500_000
	// dictionaryBytes is the size in bytes beyond which a column is written without a dictionary.
	dictionaryBytes = 1 << 20
)

// Options describe a file. The zero value describes a file without metadata and without a sort order.
type Options struct {
	// Sort is the name of the column by which the caller adds rows in ascending order. The writer does not sort.
	Sort string
	// Bloom lists the columns with a bloom filter.
	Bloom []string
	// Metadata contains keys and values for the footer.
	Metadata map[string]string
	// RowGroupRows is the maximum number of rows of a row group; 0 means DefaultRowGroupRows.
	RowGroupRows int64
}

func (o *Options) rowGroupRows() int64 {
	if o.RowGroupRows == 0 {
		return DefaultRowGroupRows
	}
	return o.RowGroupRows
}

// options returns the corresponding options of parquet-go.
func (o *Options) options() []parquet.WriterOption {
	list := []parquet.WriterOption{
		parquet.Compression(sharedEncoders),
		parquet.DictionaryMaxBytes(dictionaryBytes),
		parquet.MaxRowsPerRowGroup(o.rowGroupRows()),
		parquet.CreatedBy("ntconv", "", ""),
		// The column index contains the bounds of pages. In page headers they would be neither truncated nor
		// compressed: a payload of a megabyte would be stored twice.
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

// BloomColumns returns the columns of a row type whose fields have the tag bloom.
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
	ended    int64 // size of the file at the end of the last complete row group
	unsorted bool
	optional []optionalField
}

// NewWriter starts a file. The file is incomplete until Close returns nil. o may not be nil.
func NewWriter[T any](w io.Writer, o *Options) *Writer[T] {
	t := &tail{w: w}
	return &Writer[T]{
		w: parquet.NewGenericWriter[T](t, append(o.options(), shortBounds[T]())...), tail: t, optional: optionalFields(reflect.TypeFor[T]()),
	}
}

// Write writes rows. It retains nothing, so the caller may reuse rows, strings and slices.
func (w *Writer[T]) Write(rows []T) error {
	for len(rows) > 0 {
		n := exactNulls(rows, w.optional)
		if _, err := w.w.Write(rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	if w.w.Size()-w.ended > rowGroupBytes {
		return w.Flush()
	}
	return nil
}

// Flush ends the current row group.
func (w *Writer[T]) Flush() error {
	err := w.w.Flush()
	w.ended = w.w.Size()
	return err
}

// Unsorted states that the rows are not sorted by Options.Sort, so that Close removes the sort order from the footer.
func (w *Writer[T]) Unsorted() { w.unsorted = true }

// Close writes buffered rows and the footer. It does not close the underlying writer.
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
