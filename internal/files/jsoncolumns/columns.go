// Package jsoncolumns writes JSON whose arrays are columns of tables.
//
// A trace is read row by row, but formats such as that of the Firefox Profiler store one array per property and thread.
// The values of all arrays arrive interleaved, and each array must be written as a whole. A Set collects the JSON of
// all columns at the same time. Text beyond the buffer of a column goes to a spool, so memory depends on the number of
// columns and not on the number of their values.
//
//	Column.Begin, Column.End ─→ buffer of the column ─→ fragments in the spool ─→ Writer.Column: column by column
package jsoncolumns

import (
	"errors"
	"io"
	"strconv"

	"github.com/ntconv/ntconv/internal/files/spool"
)

// Sizes of column buffers in bytes. Each buffer may grow to maxBuffer until all buffers together exceed bufferBudget.
const (
	bufferBudget = 16 << 20
	minBuffer    = 512
	maxBuffer    = 16 << 10
)

// A Set collects columns. Close it after use. [Set.Err] and [Writer.Flush] return errors of the temporary file. A Set
// is not safe for concurrent use.
type Set struct {
	spool   *spool.Spool
	columns int
	limit   int // size in bytes at which a buffer becomes a fragment
	err     error

	reader *spool.Reader // nil until the first column is written; no values can be added after that
	key    spool.Key     // key of rest
	rest   []byte        // next fragment to write, borrowed from reader; nil after the last one
}

// NewSet returns an empty Set whose spool has the given options, which may be nil.
func NewSet(o *spool.Options) *Set { return &Set{spool: spool.New(o), limit: maxBuffer} }

// A Column is an array of JSON values. It is valid until its Set is closed.
type Column struct {
	// Len is the number of values. Only End changes it.
	Len int

	set *Set
	key spool.Key
	buf []byte
}

// Column returns a new, empty column. Each column of a Set needs a different key; columns must be written in the order
// of their keys.
func (s *Set) Column(key spool.Key) *Column {
	s.columns++
	s.limit = min(max(bufferBudget/s.columns, minBuffer), maxBuffer)
	return &Column{set: s, key: key}
}

// Begin returns the slice to which the caller appends the JSON of the next value. Pass the result to End before you use
// the column again.
func (c *Column) Begin() []byte {
	if c.Len > 0 {
		return append(c.buf, ',')
	}
	return c.buf
}

// End completes the value that Begin started. b is the extended slice; the column keeps it. Set.Err reports errors.
func (c *Column) End(b []byte) {
	c.Len++
	c.buf = b
	if s := c.set; len(b) >= s.limit && s.err == nil {
		s.err = s.spool.Add(c.key, b)
		c.buf = b[:0]
	}
}

// Int appends a number.
func (c *Column) Int(n int64) { c.End(strconv.AppendInt(c.Begin(), n, 10)) }

// Text appends a value given as JSON.
func (c *Column) Text(json string) { c.End(append(c.Begin(), json...)) }

// Err returns the first error of the temporary file, or nil.
func (s *Set) Err() error { return s.err }

// copy writes the values of a column. It skips the fragments of columns with smaller keys, which can then no longer be
// written.
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

// next reads the next fragment of the spool.
func (s *Set) next() {
	s.key, s.rest, s.err = s.reader.Next()
	if s.err != nil {
		s.rest = nil
	}
	if errors.Is(s.err, io.EOF) {
		s.err = nil
	}
}

// Close removes the temporary file. Call it at any time, also more than once; the Set must not be used afterwards.
func (s *Set) Close() error { return s.spool.Close() }
