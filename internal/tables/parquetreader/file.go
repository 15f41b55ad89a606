package parquetreader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
)

// A File is an open Parquet file. Its methods are safe for concurrent use. A Reader or ColumnsReader is not, but
// several of them can read one File concurrently.
type File struct {
	r       io.ReaderAt
	footer  *footer
	root    *node
	columns []Column
	limits  Limits
	// ignoreCRC is set by tests that modify pages and check the validation after the checksum.
	ignoreCRC bool
}

const (
	magic = "PAR1"
	// tailBytes is the size of the end of a file: the size of the footer and the magic number.
	tailBytes = 8
	// freeRows is the number of rows that a file of any size may state: rows of equal values need some bytes per
	// million.
	freeRows = 16 << 20
)

// Open reads the footer of a file of size bytes (parquet.thrift, FileMetaData). The File reads from r until its last
// use, and does not close it. If l is nil, the default limits apply. The error wraps ntconv.ErrFormat if the input is
// not a Parquet file, ErrTruncated, ErrCorrupt, ErrLimit, or ErrUnsupported if the file is encrypted or refers to other
// files; or it is that of r.
func Open(r io.ReaderAt, size int64, l *Limits) (*File, error) {
	f := &File{r: r, limits: l.withDefaults()}
	b, at, err := f.readFooter(size)
	if err != nil {
		return nil, err
	}
	if f.footer, err = parseFooter(b, &f.limits); err == nil {
		f.root, f.columns, err = buildSchema(f.footer.schema, &f.limits)
	}
	if err == nil {
		err = f.checkGroups(at, size)
	}
	if err != nil {
		return nil, failed(at, "footer", err)
	}
	f.footer.schema = nil
	return f, nil
}

// readFooter returns the bytes of the footer and their offset in the file.
func (f *File) readFooter(size int64) ([]byte, int64, error) {
	var head, tail [tailBytes]byte
	if size < int64(len(magic)) {
		return nil, 0, failed(0, "magic number", ntconv.ErrFormat)
	}
	if err := f.readAt(head[:len(magic)], 0); err != nil {
		return nil, 0, err
	}
	if string(head[:4]) == "PARE" {
		return nil, 0, failed(0, "magic number", fmt.Errorf("%w: the file is encrypted", ntconv.ErrUnsupported))
	}
	if string(head[:4]) != magic {
		return nil, 0, failed(0, "magic number", ntconv.ErrFormat)
	}
	at := size - tailBytes
	if at < int64(len(magic)) {
		return nil, 0, failed(size, "footer", ntconv.ErrTruncated)
	}
	if err := f.readAt(tail[:], at); err != nil {
		return nil, 0, err
	}
	if string(tail[4:]) != magic {
		return nil, 0, failed(at, "magic number at the end", ntconv.ErrTruncated)
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > at-int64(len(magic)) {
		return nil, 0, failed(
			at,
			"size of the footer",
			fmt.Errorf("%w: a footer of %d bytes in a file of %d bytes", ntconv.ErrCorrupt, n, size),
		)
	}
	if n > f.limits.Footer {
		return nil, 0, failed(
			at,
			"size of the footer",
			&ntconv.LimitError{Limit: LimitFooter, Value: f.limits.Footer, Asked: n, Unit: "bytes"},
		)
	}
	b := make([]byte, n)
	return b, at - n, f.readAt(b, at-n)
}

func (f *File) readAt(b []byte, at int64) error {
	n, err := f.r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		err = ntconv.ErrTruncated
	}
	return failed(at+int64(n), "footer", err)
}

// checkGroups compares the row groups with the schema, and the positions and counts of their chunks with the part of
// the file before at, where the footer begins.
func (f *File) checkGroups(at, size int64) error {
	var rows, bytes int64
	for i := range f.footer.groups {
		g := &f.footer.groups[i]
		if len(g.chunks) != len(f.columns) {
			return fmt.Errorf("%w: row group %d has %d columns, want %d as in the schema",
				ntconv.ErrCorrupt, i, len(g.chunks), len(f.columns))
		}
		if g.rows < 0 || rows+g.rows < rows {
			return fmt.Errorf("%w: row group %d has %d rows", ntconv.ErrCorrupt, i, g.rows)
		}
		rows += g.rows
		for k := range g.chunks {
			if err := g.chunks[k].check(&f.columns[k], g.rows, at); err != nil {
				return fmt.Errorf("row group %d/column %s: %w", i, f.columns[k].Name(), err)
			}
			if bytes += g.chunks[k].end - g.chunks[k].start; bytes > at {
				// Overlapping chunks would multiply the time for their pages.
				return fmt.Errorf("%w: column chunks have more than the %d bytes before the footer",
					ntconv.ErrCorrupt, at)
			}
		}
	}
	switch limit := freeRows + size*f.limits.RowsPerByte; {
	case rows > limit:
		return &ntconv.LimitError{Limit: LimitRows, Value: limit, Asked: rows}
	case rows != f.footer.rows && f.footer.rows != 0:
		return fmt.Errorf("%w: row groups have %d rows, want %d as in the footer", ntconv.ErrCorrupt, rows, f.footer.rows)
	}
	// Some writers store 0 as the number of rows of the file.
	f.footer.rows = rows
	return nil
}

// check validates a column chunk and sets its start and end. at is the offset of the footer.
func (c *chunk) check(column *Column, rows, at int64) error {
	switch {
	case c.external:
		return fmt.Errorf("%w: the column is in another file", ntconv.ErrUnsupported)
	case c.encrypted:
		return fmt.Errorf("%w: the column is encrypted", ntconv.ErrUnsupported)
	case c.physical != column.Physical:
		return fmt.Errorf("%w: the column has type %v, want %v as in the schema",
			ntconv.ErrCorrupt, c.physical, column.Physical)
	case c.values < 0 || c.values < rows || c.values > rows && column.MaxRepetition == 0 || c.values > 0 && rows == 0:
		return fmt.Errorf("%w: %d values in %d rows", ntconv.ErrCorrupt, c.values, rows)
	case c.values == 0:
		return nil
	}
	c.start = c.data
	if c.dictionary > 0 {
		c.start = min(c.start, c.dictionary)
	}
	if c.start < int64(len(magic)) || c.size < 0 || c.start > at || c.size > at-c.start {
		return fmt.Errorf("%w: pages of %d bytes at byte %d exceed the start of the footer at byte %d",
			ntconv.ErrCorrupt, c.size, c.start, at)
	}
	c.end = c.start + c.size
	return nil
}

// Rows returns the number of rows of the file.
func (f *File) Rows() int64 { return f.footer.rows }

// RowGroups returns the number of row groups.
func (f *File) RowGroups() int { return len(f.footer.groups) }

// RowGroupRows returns the number of rows of the row group i.
func (f *File) RowGroupRows(i int) int64 { return f.footer.groups[i].rows }

// Columns returns the leaf columns in the order of the schema. The File owns the slice; the caller must not change it.
func (f *File) Columns() []Column { return f.columns }

// Metadata returns the value of a key in the metadata of the file, and whether the key exists. If a key occurs more
// than once, the last value applies.
func (f *File) Metadata(key string) (string, bool) {
	value, ok := f.footer.metadata[key]
	return value, ok
}

// Close ends the use of the file. It does not close the input.
func (f *File) Close() error { return nil }
