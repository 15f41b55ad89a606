package parquet

import "github.com/ntconv/ntconv/internal/files/spool"

const (
	// chunkBytes is the size of a full chunk. The first chunk of a type has firstChunk bytes and grows, because most
	// types are rare.
	chunkBytes, firstChunk = 64 << 10, 256
	// spillBytes is the memory for chunks. Stored chunks are reused: as garbage they would double the memory.
	spillBytes = 12 << 20
)

// A typedSpill holds the records of many types until they are written as tables. It keeps them in chunks per type and
// moves all chunks to one temporary file when their total size exceeds a limit. Its memory depends neither on the
// number of types nor on the number of records, and it needs only one file.
//
// Only each is safe for concurrent use, for different lists, once the last record has been added.
type typedSpill struct {
	dir   string // maximum bytes in the file; 0 means no limit
	max   int64  // maximum bytes in memory, which the latest chunk may exceed
	limit int    // bytes in memory
	used  int
	file  *spool.File
	free  [][]byte
	lists []*chunks
}

// chunks holds the records of a type in order: first those in the file, then full chunks, then the last chunk.
type chunks struct {
	stored []extent
	full   [][]byte
	last   []byte
	before fixedValues // of the last record in the chunk last; zero if the chunk is empty
}

// An extent is a range of the temporary file.
type extent struct {
	offset int64
	size   int
}

// list returns a new list of chunks.
func (s *typedSpill) list() *chunks {
	c := new(chunks)
	s.lists = append(s.lists, c)
	return c
}

// add appends a record to a list. It copies the payload.
func (s *typedSpill) add(c *chunks, r *record) error {
	if need := len(c.last) + maxRecord + len(r.payload); need > cap(c.last) {
		if err := s.grow(c, maxRecord+len(r.payload)); err != nil {
			return err
		}
	}
	c.last = r.append(c.last, &c.before)
	return nil
}

// grow ensures room for n bytes in the last chunk of a list. It may begin a new chunk.
func (s *typedSpill) grow(c *chunks, n int) error {
	if s.used > s.limit {
		if err := s.store(); err != nil {
			return err
		}
	}
	var next []byte
	switch size := len(c.last) + n; {
	case cap(c.last) >= chunkBytes || size > chunkBytes && len(c.last) > 0:
		c.full = append(c.full, c.last)
		c.before = fixedValues{}
		next = s.chunk(max(chunkBytes, n))
	default:
		size = max(size, firstChunk, min(2*cap(c.last), chunkBytes))
		next = append(s.chunk(size), c.last...)
		s.release(c.last)
	}
	c.last = next
	return nil
}

// chunk returns an empty chunk with a capacity of size bytes.
func (s *typedSpill) chunk(size int) []byte {
	s.used += size
	if n := len(s.free); n > 0 && size == chunkBytes {
		b := s.free[n-1]
		s.free = s.free[:n-1]
		return b
	}
	return make([]byte, 0, size)
}

// release returns the memory of a chunk to the free list.
func (s *typedSpill) release(b []byte) {
	s.used -= cap(b)
	if cap(b) == chunkBytes && len(s.free) < s.limit/chunkBytes {
		s.free = append(s.free, b[:0])
	}
}

// store moves all chunks to the file.
func (s *typedSpill) store() error {
	if s.file == nil {
		f, err := spool.Create(s.dir, "ntconv-typed-*", s.max)
		if err != nil {
			return err
		}
		s.file = f
	}
	for _, c := range s.lists {
		for _, b := range c.full {
			if err := s.storeChunk(c, b); err != nil {
				return err
			}
		}
		clear(c.full)
		c.full = c.full[:0]
		if err := s.storeChunk(c, c.last); err != nil {
			return err
		}
		c.last, c.before = nil, fixedValues{}
	}
	return nil
}

// storeChunk appends a chunk to the file and releases its memory.
func (s *typedSpill) storeChunk(c *chunks, b []byte) error {
	if len(b) > 0 {
		c.stored = append(c.stored, extent{s.file.Size(), len(b)})
		if _, err := s.file.Write(b); err != nil {
			return err
		}
	}
	s.release(b)
	return nil
}

// each calls f for each chunk of a list in order. The chunk is valid until f returns. Calls for different lists may be
// concurrent.
func (s *typedSpill) each(c *chunks, f func(chunk []byte) error) error {
	var buf []byte
	for _, x := range c.stored {
		if cap(buf) < x.size {
			buf = make([]byte, max(x.size, chunkBytes))
		}
		if _, err := s.file.ReadAt(buf[:x.size], x.offset); err != nil {
			return err
		}
		if err := f(buf[:x.size]); err != nil {
			return err
		}
	}
	for _, b := range c.full {
		if err := f(b); err != nil {
			return err
		}
	}
	if len(c.last) > 0 {
		return f(c.last)
	}
	return nil
}

// close removes the temporary file.
func (s *typedSpill) close() error {
	s.lists, s.free = nil, nil
	return s.file.Close()
}
