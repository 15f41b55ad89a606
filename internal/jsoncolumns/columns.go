// Package jsoncolumns writes JSON whose arrays are columns of tables.
//
// A trace is read row by row, and formats such as that of the Firefox Profiler store one array per property and thread:
// the values of all arrays arrive interleaved, and each array must be written as a whole. A Set collects the text of
// all columns at the same time. What exceeds the buffer of a column goes into a spool, so memory follows the number of
// columns and not that of their values.
//
//	Column.Begin, Column.End ─→ buffer of the column ─→ fragments in the spool ─→ Writer.Column: one column after the other
package jsoncolumns

import (
	"errors"
	"io"
	"strconv"

	"github.com/ntconv/ntconv/internal/spool"
)

// Sizes of the buffers of columns in bytes. The largest size is used until all buffers together have bufferBudget.
const (
	bufferBudget = 16 << 20
	minBuffer    = 512
	maxBuffer    = 16 << 10
)

// A Set collects columns. Errors of the temporary file are returned by [Set.Err] and by [Writer.Flush]. It is not safe
// for concurrent use.
type Set struct {
	spool   *spool.Spool
	columns int
	limit   int // size at which a buffer becomes a fragment
	err     error

	reader *spool.Reader // nil before the first column is written
	key    spool.Key     // of fragment
	rest   []byte        // the fragment that the reader returned last, nil after the last one
}

// NewSet returns an empty Set. The options, which may be nil, are those of its spool.
func NewSet(o *spool.Options) *Set { return &Set{spool: spool.New(o), limit: maxBuffer} }

// A Column is an array of JSON values. It is valid as long as its Set.
type Column struct {
	// Len is the number of values.
	Len int

	set *Set
	key spool.Key
	buf []byte
}

// Column returns a new column with a key that no other column of the set has. Columns are written in the order of their
// keys.
func (s *Set) Column(key spool.Key) *Column {
	s.columns++
	s.limit = min(max(bufferBudget/s.columns, minBuffer), maxBuffer)
	return &Column{set: s, key: key}
}

// Begin begins a value. The caller appends its JSON and passes the result to End.
func (c *Column) Begin() []byte {
	if c.Len > 0 {
		return append(c.buf, ',')
	}
	return c.buf
}

// End ends the value that Begin began.
func (c *Column) End(b []byte) {
	c.Len++
	c.buf = b
	if s := c.set; len(b) >= s.limit && s.err == nil {
		s.err = s.spool.Add(c.key, b)
		c.buf = b[:0]
	}
}

// Int adds a number.
func (c *Column) Int(n int64) { c.End(strconv.AppendInt(c.Begin(), n, 10)) }

// Text adds a value by its JSON.
func (c *Column) Text(json string) { c.End(append(c.Begin(), json...)) }

// Err returns the first error of the temporary file.
func (s *Set) Err() error { return s.err }

// copy writes the values of a column. The columns before it cannot be written any more.
func (s *Set) copy(w io.Writer, c *Column) error {
	if s.err != nil {
		return s.err
	}
	if s.reader == nil {
		if s.reader, s.err = s.spool.Read(); s.err != nil {
			return s.err
		}
		s.next()
	}
	for s.rest != nil && s.key.Compare(c.key) < 0 {
		s.next()
	}
	for s.rest != nil && s.key == c.key {
		if _, err := w.Write(s.rest); err != nil {
			return err
		}
		s.next()
	}
	if s.err != nil {
		return s.err
	}
	_, err := w.Write(c.buf)
	return err
}

func (s *Set) next() {
	s.key, s.rest, s.err = s.reader.Next()
	if s.err != nil {
		s.rest = nil
	}
	if errors.Is(s.err, io.EOF) {
		s.err = nil
	}
}

// Close removes the temporary file. It can be called at any time, and more than once.
func (s *Set) Close() error { return s.spool.Close() }
