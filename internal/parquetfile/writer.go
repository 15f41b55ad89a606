package parquetfile

import (
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// Defaults of Options.
const (
	// DefaultRowGroupRows is a compromise: readers work on row groups in parallel and skip those outside of a time range, and every row
	// group has dictionaries of its own.
	DefaultRowGroupRows = 500_000
	// dictionaryBytes is the size from which a column is written without a dictionary.
	dictionaryBytes = 1 << 20
)

// encoders has a pool of encoders. Files share it: an encoder has megabytes of buffers, and a trace may have thousands of small files.
var encoders = &zstd.Codec{Level: zstd.SpeedFastest}

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
		parquet.Compression(encoders),
		parquet.DictionaryMaxBytes(dictionaryBytes),
		parquet.MaxRowsPerRowGroup(o.rowGroupRows()),
		parquet.CreatedBy("ntconv", "", ""),
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
func BloomColumns(row reflect.Type) (names []string) {
	for i := range row.NumField() {
		if f := row.Field(i); f.Tag.Get("bloom") != "" {
			name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
			names = append(names, name)
		}
	}
	return names
}

// A Writer writes rows of type T to a file. It is not safe for concurrent use.
type Writer[T any] struct{ w *parquet.GenericWriter[T] }

// NewWriter returns a writer of a file. Nothing is complete before Close.
func NewWriter[T any](w io.Writer, o *Options) *Writer[T] {
	return &Writer[T]{parquet.NewGenericWriter[T](w, o.options()...)}
}

// Write writes rows. It keeps nothing of them, so that strings and slices may be used again.
func (w *Writer[T]) Write(rows []T) error {
	_, err := w.w.Write(rows)
	return err
}

// Flush ends the row group.
func (w *Writer[T]) Flush() error { return w.w.Flush() }

// Close completes the file. It does not close the underlying writer.
func (w *Writer[T]) Close() error { return w.w.Close() }
