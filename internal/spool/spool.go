// Package spool sorts records that are too many for memory.
//
// Writers of formats that are sorted by the start of an operation learn of it at its end, and names come last. They add
// what they know as records with a key, and read the records in order when everything is known. What is small stays in
// memory; the rest is in a temporary file without a name.
//
// Most records come in order. A record that continues one of a few chains is appended to it, so chains need no sorting:
// each is one run of the merge, however long it is. The other records are late. They are sorted when they are written,
// and each part of them is a run.
//
//	Add ─→ chains (in order) ─→ ┐ memory, ┌ a run per chain      ─→ ┐ merge of at
//	    └→ late records ─ sort ─┘ file    └ a run per sorted part ─→ ┘ most 64 runs ─→ Next
package spool

import (
	"errors"
	"fmt"
	"math"

	"github.com/ntconv/ntconv/internal/tempfile"
)

// A Key is the place of a record in the order: by Time, then by Rank. Records with equal keys keep the order in which
// they were added.
type Key struct {
	Time int64
	Rank int64
}

// Compare returns a negative number if k is before l, 0 if they are equal, and a positive number otherwise.
func (k Key) Compare(l Key) int {
	switch {
	case k.before(l):
		return -1
	case k == l:
		return 0
	}
	return 1
}

func (k Key) before(l Key) bool { return k.Time < l.Time || k.Time == l.Time && k.Rank < l.Rank }

// firstKey is before all other keys.
var firstKey = Key{math.MinInt64, math.MinInt64}

// Options may be nil.
type Options struct {
	Dir    string // of the temporary file, "" for os.TempDir()
	Max    int64  // bytes of the temporary file, 0 means no limit
	Memory int    // bytes of records, their index and buffers before some are written to the file, 0 means 32 MiB
}

const (
	defaultMemory = 32 << 20
	// Chunks of chunkBytes are reused. A chain begins with less: most spools are small.
	chunkBytes, smallestChunk, firstChunk = 256 << 10, 256, 4 << 10
	// chainCount is the number of chains. Operations that are known at their end come in the order of their ends: with
	// n chains, n of them may nest before any is late.
	chainCount = 4
	maxRecord  = math.MaxInt32
)

// A Spool takes records and returns them in the order of their keys. Its memory is bounded by Options.Memory and the
// largest record, whatever the order, number and size of the records. It is not safe for concurrent use.
type Spool struct {
	memory    int
	chunkSize int
	used      int // bytes of chunks and of the index of late records
	free      [][]byte
	chains    [chainCount]chain
	late      late
	runs      []run // of late records, in the order in which they were added
	create    func() (file, error)
	file      file  // nil until it is needed
	size      int64 // of the file
	out       []byte
	sealed    bool
	err       error // the first one of writing
}

// file is the temporary file.
type file interface {
	Write(p []byte) (int, error)
	ReadAt(p []byte, offset int64) (int, error)
	Close() error
}

var (
	errSealed = errors.New("spool: a record cannot be added after the first Read")
	errClosed = errors.New("spool: it is closed")
)

// New returns an empty Spool. It creates no file before it needs one.
func New(o *Options) *Spool {
	if o == nil {
		o = &Options{}
	}
	dir, most, memory := o.Dir, o.Max, o.Memory
	if memory <= 0 {
		memory = defaultMemory
	}
	s := &Spool{memory: memory, chunkSize: min(max(memory/32, smallestChunk), chunkBytes)}
	s.create = func() (file, error) { return tempfile.Create(dir, "ntconv-spool-*", most) }
	for i := range s.chains {
		s.chains[i].last = firstKey
	}
	return s
}

// Add copies a record, which has at most 2 GiB. It fails if the temporary file cannot be written; all later calls fail
// then, too. Errors of the file are of type *tempfile.Error, and *ntconv.LimitError if it would become too large.
func (s *Spool) Add(k Key, data []byte) error {
	if s.sealed || s.err != nil || len(data) > maxRecord {
		return s.refuse(len(data))
	}
	// Each chain ends before the one before it, so that records with equal keys are in a later chain only if they were
	// added later.
	for i := range s.chains {
		if c := &s.chains[i]; !k.before(c.last) {
			b, err := s.room(&c.chunks, maxHeader+len(data))
			if err != nil {
				return err
			}
			c.tail = append(appendHeader(b, c.last, k, len(data)), data...)
			c.last = k
			return nil
		}
	}
	return s.addLate(k, data)
}

func (s *Spool) refuse(size int) error {
	switch {
	case s.err != nil:
		return s.err
	case s.sealed:
		return errSealed
	}
	return fmt.Errorf("spool: a record has %d bytes, at most %d are possible", size, maxRecord)
}

// Read returns a Reader of all records from the first one. Several Readers can be open one after the other, and no
// record can be added after the first Read. A Reader needs up to Options.Memory for its buffers if there is a file, and
// the Spool nothing more then.
func (s *Spool) Read() (*Reader, error) {
	if s.err == nil && !s.sealed {
		s.err = s.seal()
		s.sealed = true
	}
	if s.err != nil {
		return nil, s.err
	}
	return s.newReader()
}

// seal sorts what is in memory, or writes it to the file if there is one.
func (s *Spool) seal() error {
	if s.file == nil {
		s.late.sort()
		return nil
	}
	for i := range s.chains {
		if err := s.writeChain(&s.chains[i]); err != nil {
			return err
		}
	}
	if err := s.writeLate(); err != nil {
		return err
	}
	s.free, s.late = nil, late{}
	err := s.mergeRuns()
	s.out = nil
	return err
}

// Close removes the temporary file. The Spool and its Readers must not be used afterwards. It can be called more than
// once.
func (s *Spool) Close() error {
	f := s.file
	*s = Spool{err: errClosed}
	if f == nil {
		return nil
	}
	return f.Close()
}
