package parquetreader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
)

// A File is a Parquet file that is open for reading. Its methods are safe for concurrent use. A reader of a file is
// not, but several readers of one file can be used at the same time.
type File struct {
	r       io.ReaderAt
	footer  *footer
	root    *node
	columns []Column
	limits  Limits
	// ignoreCRC is set by tests that change pages and want to see what is behind the checksum.
	ignoreCRC bool
}

const (
	magic = "PAR1"
	// tailBytes is the size of what is after the footer: its size and the magic number.
	tailBytes = 8
	// freeRows may be claimed by any file: rows of columns with one value cost some bytes per million.
	freeRows = 16 << 20
)

// Open reads the footer of a file of size bytes (parquet.thrift, FileMetaData). It keeps r, which must stay readable
// until the last use of the file, and does not close it. A nil *Limits means the defaults. The error wraps
// ntconv.ErrFormat if the input is not a Parquet file, ErrTruncated, ErrCorrupt, ErrLimit, or ErrUnsupported if the
// file is encrypted or refers to other files.
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

// readFooter returns the bytes of the footer and their position.
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

// checkGroups checks the row groups against the schema, and their places and counts against the bytes that the file has
// before at.
func (f *File) checkGroups(at, size int64) error {
	var rows, bytes int64
	for i := range f.footer.groups {
		g := &f.footer.groups[i]
		if len(g.chunks) != len(f.columns) {
			return fmt.Errorf(
				"%w: row group %d has %d columns, and the schema %d",
				ntconv.ErrCorrupt,
				i,
				len(g.chunks),
				len(f.columns),
			)
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
				// Chunks that share bytes would cost the time of their pages many times.
				return fmt.Errorf(
					"%w: column chunks of more than the %d bytes before the footer",
					ntconv.ErrCorrupt,
					at,
				)
			}
		}
	}
	switch limit := freeRows + size*f.limits.RowsPerByte; {
	case rows > limit:
		return &ntconv.LimitError{Limit: LimitRows, Value: limit, Asked: rows}
	case rows != f.footer.rows && f.footer.rows != 0:
		return fmt.Errorf("%w: row groups of %d rows in a file of %d", ntconv.ErrCorrupt, rows, f.footer.rows)
	}
	// Some writers leave the number of rows of the file at 0.
	f.footer.rows = rows
	return nil
}

// check checks a column chunk and sets its start and end.
func (c *chunk) check(column *Column, rows, at int64) error {
	switch {
	case c.external:
		return fmt.Errorf("%w: the column is in another file", ntconv.ErrUnsupported)
	case c.encrypted:
		return fmt.Errorf("%w: the column is encrypted", ntconv.ErrUnsupported)
	case c.physical != column.Physical:
		return fmt.Errorf(
			"%w: the column has type %v, and the schema says %v",
			ntconv.ErrCorrupt,
			c.physical,
			column.Physical,
		)
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
		return fmt.Errorf(
			"%w: pages of %d bytes at byte %d, and the footer begins at byte %d",
			ntconv.ErrCorrupt,
			c.size,
			c.start,
			at,
		)
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

// Columns returns the leaf columns in the order of the schema. The slice belongs to the file and must not be changed.
func (f *File) Columns() []Column { return f.columns }

// Metadata returns the value of a key of the file and whether there is one. If a key appears more than once, the last
// value counts.
func (f *File) Metadata(key string) (string, bool) {
	value, ok := f.footer.metadata[key]
	return value, ok
}

// Close ends the use of the file. It does not close the underlying input.
func (f *File) Close() error { return nil }
