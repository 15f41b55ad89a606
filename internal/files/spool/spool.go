package spool

import (
	"errors"
	"fmt"
	"math"
)

// A Key is the sort key of a record: Time, then Rank. Records with equal keys keep the order in which they were added.
type Key struct {
	Time int64
	Rank int64
}

// Compare returns a negative number if k sorts before l, 0 if they are equal, and a positive number otherwise.
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

// firstKey is not after any other key.
var firstKey = Key{math.MinInt64, math.MinInt64}

// Options configures a Spool. A nil pointer or the zero value selects the defaults.
type Options struct {
	Dir    string // directory of the temporary file; "" means os.TempDir()
	Max    int64  // maximum size of the temporary file in bytes; 0 means no limit
	Memory int    // maximum bytes of records, their index and buffers in memory; 0 means 32 MiB
}

const (
	defaultMemory = 32 << 20
	// Chunks of chunkBytes are reused. The first chunk of a chain is smaller, because most spools are small.
	chunkBytes, smallestChunk, firstChunk = 256 << 10, 256, 4 << 10
	// chainCount is the number of chains. Operations arrive in the order of their ends, inner ones first: with n
	// chains, they can nest n levels deep before a record is late.
	chainCount = 4
	maxRecord  = math.MaxInt32
)

// A Spool accepts records and returns them in the order of their keys. Its memory is bounded by Options.Memory and the
// largest record, regardless of the order, number and size of the records. It is not safe for concurrent use.
//
// Add appends to chains or late; room counts their memory in used and moves records to the file (shrink) if used would
// exceed memory. Read seals the Spool. From then on chains, late and runs are read-only.
type Spool struct {
	memory    int
	chunkSize int
	used      int      // bytes of all chunks, of the index of late records, and of out
	free      [][]byte // empty chunks of chunkSize
	chains    [chainCount]chain
	late      late
	runs      []run // of late records, in the order in which the records were added
	create    func() (file, error)
	file      file   // nil until records are written
	size      int64  // of the file
	out       []byte // write buffer of append; empty between calls of writeLate and merge
	sealed    bool   // Read was called
	err       error  // first write error; all later calls return it
}

// file is the temporary file. Tests replace it.
type file interface {
	Write(p []byte) (int, error)
	ReadAt(p []byte, offset int64) (int, error)
	Close() error
}

var (
	errSealed = errors.New("spool: record added after the first Read")
	errClosed = errors.New("spool: already closed")
)

// New returns an empty Spool. It creates the temporary file only when memory is full. Close the Spool after use.
func New(o *Options) *Spool {
	if o == nil {
		o = &Options{}
	}
	dir, most, memory := o.Dir, o.Max, o.Memory
	if memory <= 0 {
		memory = defaultMemory
	}
	s := &Spool{memory: memory, chunkSize: min(max(memory/32, smallestChunk), chunkBytes)}
	s.create = func() (file, error) { return Create(dir, "ntconv-spool-*", most) }
	for i := range s.chains {
		s.chains[i].last = firstKey
	}
	return s
}

// Add copies a record of at most 2 GiB into the Spool. It fails with a *Error if the temporary file cannot be
// written, and with an *ntconv.LimitError if the file would exceed Options.Max; all later calls of Add and Read then
// return the same error. Add also fails after the first Read.
func (s *Spool) Add(k Key, data []byte) error {
	if s.sealed || s.err != nil || len(data) > maxRecord {
		return s.refuse(len(data))
	}
	// The last keys of the chains decrease strictly from one chain to the next. If two records have equal keys, the one
	// in the later chain was therefore added later, and the merge, which prefers earlier chains, keeps their order.
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
	return fmt.Errorf("spool: record too large: %d bytes, limit %d", size, maxRecord)
}

// Read returns a Reader of all records, starting with the first. After the first Read no record can be added. Use one
// Reader at a time: if there is a file, a Reader allocates up to Options.Memory for its buffers, and the Spool itself
// needs almost nothing. Errors are those of Add.
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

// seal sorts the late records, or writes all records to the file if there is one.
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

// Close removes the temporary file. Do not use the Spool or its Readers afterwards; closing it again is allowed.
func (s *Spool) Close() error {
	f := s.file
	*s = Spool{err: errClosed}
	if f == nil {
		return nil
	}
	return f.Close()
}
