package parquet

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables"
	"github.com/ntconv/ntconv/internal/tables/parquetreader"
)

// files opens the files of an input. It opens each file once.
type files struct {
	in    Tables
	names []string // sorted
	o     *Options
	open  map[string]*parquetreader.File
}

func (f *files) has(table string) bool {
	_, ok := slices.BinarySearch(f.names, table)
	return ok
}

// file opens a table. It rejects tables of a later schema version.
func (f *files) file(table string) (*parquetreader.File, error) {
	if file := f.open[table]; file != nil {
		return file, nil
	}
	r, size, err := f.in.Table(table)
	if err != nil {
		return nil, err
	}
	file, err := parquetreader.Open(r, size, f.o.Limits.file())
	if err != nil {
		return nil, inTable(table, err)
	}
	if text, ok := file.Metadata(tables.VersionKey); ok {
		if err := checkVersion(text); err != nil {
			return nil, inTable(table, err)
		}
	}
	f.open[table] = file
	return file, nil
}

// checkVersion returns an error that wraps ntconv.ErrUnsupported for an unknown schema version.
func checkVersion(text string) error {
	if n, err := strconv.Atoi(text); err == nil && 1 <= n && n <= tables.Version {
		return nil
	}
	return &ntconv.AdviceError{
		Err:    fmt.Errorf("%w: version %q of the tables, want at most %d", ntconv.ErrUnsupported, text, tables.Version),
		Advice: "use a later version of ntconv",
	}
}

// inTable adds the name of a table to an error.
func inTable(table string, err error) error { return fmt.Errorf("table %s: %w", table, err) }

// batchRows is the number of rows that are decoded together.
const batchRows = 1024

// rows reads the rows of a table one by one.
type rows[T any] struct {
	table string
	r     *parquetreader.Reader[T]
	batch []T
	next  int // in batch
	err   error
}

// newRows returns the rows of a table. It returns no rows if the input does not have the table.
func newRows[T any](f *files, table string) (*rows[T], error) {
	r := &rows[T]{table: table, err: io.EOF}
	if !f.has(table) {
		return r, nil
	}
	file, err := f.file(table)
	if err != nil {
		return nil, err
	}
	if r.r, err = parquetreader.NewReader[T](file); err != nil {
		return nil, inTable(table, err)
	}
	r.err = nil
	return r, nil
}

// head returns the next row without consuming it, or io.EOF. The row is valid until skip; the strings and slices in it
// remain valid.
func (r *rows[T]) head() (*T, error) {
	for r.next == len(r.batch) {
		if r.err != nil {
			return nil, r.err
		}
		if r.batch == nil {
			r.batch = make([]T, batchRows)
		}
		r.batch = r.batch[:batchRows]
		clear(r.batch) // NULL leaves maps and slices of earlier rows
		n, err := r.r.Read(r.batch)
		r.batch, r.next = r.batch[:n], 0
		if err != nil {
			r.err = err
			if err != io.EOF {
				r.err = inTable(r.table, err)
			}
			_ = r.r.Close() // it only releases memory
		}
	}
	return &r.batch[r.next], nil
}

func (r *rows[T]) skip() { r.next++ }

// each calls do for all remaining rows.
func (r *rows[T]) each(do func(*T) error) error {
	for {
		row, err := r.head()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = do(row)
		}
		if err != nil {
			return err
		}
		r.skip()
	}
}

// eachRow calls do for all rows of a table if the input has the table.
func eachRow[T any](f *files, do func(*T) error) error {
	r, err := newRows[T](f, tables.Of[T]().Name)
	if err != nil {
		return err
	}
	return r.each(do)
}
