// Package spool sorts records that are too many for memory.
//
// Writers of formats that are sorted by the start of an operation learn of it at its end, and names come last. They add what they know as
// records with a key, and read the records in order when everything is known. What is small stays in memory; the rest is in a temporary
// file without a name.
package spool

import (
	"cmp"
	"io"
	"slices"
)

// A Key is the place of a record in the order: by Time, then by Rank. Records with equal keys keep the order in which they were added.
type Key struct {
	Time int64
	Rank int64
}

// Compare orders keys.
func (k Key) Compare(l Key) int {
	return cmp.Or(cmp.Compare(k.Time, l.Time), cmp.Compare(k.Rank, l.Rank))
}

// Options may be nil.
type Options struct {
	Dir    string // of the temporary file, "" for os.TempDir()
	Memory int    // bytes of records that are held in memory before some are written to the file, 0 means 32 MiB
}

// A Spool takes records and returns them in the order of their keys. Its memory is bounded by Options.Memory, whatever the order, number
// and size of the records; a record must fit into memory. It is not safe for concurrent use.
type Spool struct {
	records []record
	sorted  bool
}

type record struct {
	key  Key
	data []byte
}

// New returns an empty Spool. It creates no file before it needs one.
func New(o *Options) *Spool { return &Spool{} }

// Add copies a record. It fails if the temporary file cannot be written.
func (s *Spool) Add(k Key, data []byte) error {
	s.records = append(s.records, record{k, slices.Clone(data)})
	return nil
}

// Read returns a Reader of all records from the first one. Several Readers can be open one after the other, and no record can be added
// after the first Read.
func (s *Spool) Read() (*Reader, error) {
	if !s.sorted {
		slices.SortStableFunc(s.records, func(a, b record) int { return a.key.Compare(b.key) })
		s.sorted = true
	}
	return &Reader{records: s.records}, nil
}

// Close removes the temporary file. The Spool and its Readers must not be used afterwards. It can be called more than once.
func (s *Spool) Close() error {
	s.records = nil
	return nil
}

// A Reader returns the records of a Spool in order.
type Reader struct {
	records []record
}

// Next returns the next record, and io.EOF after the last one. The record is borrowed until the next call.
func (r *Reader) Next() (Key, []byte, error) {
	if len(r.records) == 0 {
		return Key{}, nil, io.EOF
	}
	next := r.records[0]
	r.records = r.records[1:]
	return next.key, next.data, nil
}
