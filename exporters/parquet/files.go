package parquet

import (
	"io"
	"reflect"
	"strconv"

	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
	"github.com/ntconv/ntconv/internal/tables/rows"
)

// files creates the files of the tables.
type files struct {
	create func(table string) (io.WriteCloser, error)
	names  []string // tables that were created
}

// open creates the file of a table.
func (f *files) open(name string) (io.WriteCloser, error) {
	w, err := f.create(name)
	if err == nil {
		f.names = append(f.names, name)
	}
	return w, err
}

// Open implements rows.Receiver.
func (f *files) Open(t tables.Table) (rows.Writer, error) {
	file, err := f.open(t.Name)
	if err != nil {
		return nil, err
	}
	return newWriters[t.Row](file, options(t)), nil
}

// options returns the options for the file of a table.
func options(t tables.Table) *parquetwriter.Options {
	return &parquetwriter.Options{
		Sort: t.Sort, Bloom: parquetwriter.BloomColumns(t.Row),
		Metadata: map[string]string{tables.VersionKey: strconv.Itoa(tables.Version), tables.TableKey: t.Name},
	}
}

// newWriters has a constructor for each type of rows.
var newWriters = writersOf(
	rowType[tables.TraceInfo], rowType[tables.Attribute], rowType[tables.Process], rowType[tables.Thread], rowType[tables.Module],
	rowType[tables.EventType], rowType[tables.Event], rowType[tables.Loss], rowType[tables.Mark], rowType[tables.Stack],
	rowType[tables.Frame], rowType[tables.Label], rowType[tables.Sample], rowType[tables.Span], rowType[tables.Interval],
	rowType[tables.Log], rowType[tables.Counter], rowType[tables.SingleEvent],
)

// A newWriter returns the writer of a table.
type newWriter func(io.WriteCloser, *parquetwriter.Options) rows.Writer

// rowType returns a row type and the constructor of its writer.
func rowType[T any]() (reflect.Type, newWriter) {
	return reflect.TypeFor[T](), func(file io.WriteCloser, o *parquetwriter.Options) rows.Writer {
		return &writer[T]{file, parquetwriter.NewWriter[T](file, o)}
	}
}

func writersOf(list ...func() (reflect.Type, newWriter)) map[reflect.Type]newWriter {
	m := make(map[reflect.Type]newWriter, len(list))
	for _, f := range list {
		row, w := f()
		m[row] = w
	}
	return m
}

// A writer writes the rows of a table to a file. It owns the file.
type writer[T any] struct {
	file io.WriteCloser
	*parquetwriter.Writer[T]
}

// A spender is a file that limits the size of rows before they are encoded, because a few bytes of a file may represent
// many rows.
type spender interface{ Spend(bytes int) error }

// spend reports to the file the size in bytes of rows that are about to be encoded.
func spend(file io.Writer, n int) error {
	if s, ok := file.(spender); ok {
		return s.Spend(n)
	}
	return nil
}

func (w *writer[T]) Write(rows any, bytes int) error {
	if err := spend(w.file, bytes); err != nil {
		return err
	}
	return w.Writer.Write(rows.([]T))
}

func (w *writer[T]) EndGroup() error { return w.Flush() }
func (w *writer[T]) Finish() error   { return w.Writer.Close() }
func (w *writer[T]) Close() error    { return w.file.Close() }

// A keepOpen is a file that its owner closes.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// Spend implements spender.
func (k keepOpen) Spend(n int) error { return spend(k.Writer, n) }
