package spool

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Chunks are records in memory. Each record is in one chunk; a record larger than chunkSize gets a chunk of its own
// size.
type chunks struct {
	full [][]byte // chunks that get no more records
	tail []byte   // the last chunk
}

// A chain is a sorted sequence of records: first those of its run in the file, then those in its chunks.
type chain struct {
	run
	chunks
}

// late holds the records that continue no chain. Each record has a header of lateHeader bytes, followed by its data:
//
//	 0  time, rank   8 bytes each
//	16  size         4 bytes
type late struct {
	chunks
	count int
	index []entry // set by sort
}

// An entry is the position of a late record in the chunks.
type entry struct {
	key           Key
	chunk, offset uint32 // index of the chunk, and byte offset in it
}

const (
	lateHeader = 20
	entryBytes = 24
	// maxHeader is the size of the largest header of a record in a chain or a run.
	maxHeader = 3 * binary.MaxVarintLen64
)

// appendHeader appends the header of a record in a chain or a run. before is the key of the previous record, or
// firstKey:
//
//	uvarint difference of times, uvarint zigzag difference of ranks, uvarint size of the data
func appendHeader(b []byte, before, k Key, size int) []byte {
	rank := k.Rank - before.Rank // all differences are modulo 2^64
	b = binary.AppendUvarint(b, uint64(k.Time-before.Time))
	b = binary.AppendUvarint(b, uint64(rank<<1)^uint64(rank>>63))
	return binary.AppendUvarint(b, uint64(size))
}

// header parses a header written by appendHeader. rest is the bytes after it, or nil if the header is invalid.
func header(b []byte, before Key) (k Key, size int, rest []byte) {
	var v [3]uint64
	for i := range v {
		n := 1
		if len(b) > 0 && b[0] < 0x80 {
			v[i] = uint64(b[0])
		} else if v[i], n = binary.Uvarint(b); n <= 0 {
			return k, 0, nil
		}
		b = b[n:]
	}
	if v[2] > maxRecord {
		return k, 0, nil
	}
	return Key{before.Time + int64(v[0]), before.Rank + (int64(v[1]>>1) ^ -int64(v[1]&1))}, int(v[2]), b
}

// addLate appends a late record. It charges the entry that sort will need to the memory in advance.
func (s *Spool) addLate(k Key, data []byte) error {
	b, err := s.room(&s.late.chunks, lateHeader+len(data))
	if err != nil {
		return err
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(k.Time))
	b = binary.LittleEndian.AppendUint64(b, uint64(k.Rank))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	s.late.tail = append(b, data...)
	if s.late.count++; s.late.count > cap(s.late.index) {
		s.used += entryBytes // for the index, which sort allocates
	}
	return nil
}

// sort builds the sorted index of all late records. It skips sorting if they are in order already.
func (l *late) sort() {
	if l.count > cap(l.index) {
		l.index = make([]entry, 0, l.count)
	}
	l.index = l.index[:0]
	ordered, last := true, firstKey
	for i, b := range l.all() {
		for offset := 0; offset < len(b); {
			e := entry{Key{int64(binary.LittleEndian.Uint64(b[offset:])), int64(binary.LittleEndian.Uint64(b[offset+8:]))}, uint32(i), uint32(offset)}
			ordered = ordered && !e.key.before(last)
			last = e.key
			l.index = append(l.index, e)
			offset += lateHeader + int(binary.LittleEndian.Uint32(b[offset+16:]))
		}
	}
	if !ordered {
		slices.SortFunc(l.index, entry.compare)
	}
}

// compare orders entries by key, and entries with equal keys by the order in which they were added.
func (e entry) compare(f entry) int {
	switch {
	case e.key.Time != f.key.Time:
		return cmp.Compare(e.key.Time, f.key.Time)
	case e.key.Rank != f.key.Rank:
		return cmp.Compare(e.key.Rank, f.key.Rank)
	case e.chunk != f.chunk:
		return cmp.Compare(e.chunk, f.chunk)
	}
	return cmp.Compare(e.offset, f.offset)
}

// data returns the data of a late record. It aliases the chunk.
func (l *late) data(e entry) []byte {
	b := l.tail
	if int(e.chunk) < len(l.full) {
		b = l.full[e.chunk]
	}
	b = b[e.offset:]
	return b[lateHeader : lateHeader+int(binary.LittleEndian.Uint32(b[16:]))]
}

// all returns all chunks. The result is valid until a record is added.
func (c *chunks) all() [][]byte {
	if len(c.tail) == 0 {
		return c.full
	}
	return append(c.full, c.tail)
}

func (c *chunks) size() int {
	n := len(c.tail)
	for _, b := range c.full {
		n += len(b)
	}
	return n
}

// room returns the last chunk of c with capacity for n more bytes; the caller appends to it and stores it in c.tail. If
// memory is full, room first moves records to the file.
func (s *Spool) room(c *chunks, n int) ([]byte, error) {
	if cap(c.tail)-len(c.tail) >= n {
		return c.tail, nil
	}
	size := max(n, min(s.chunkSize, max(firstChunk, 2*cap(c.tail))))
	for s.used+size > s.memory && (size > s.chunkSize || len(s.free) == 0) {
		var ok bool
		if ok, s.err = s.shrink(); s.err != nil {
			return nil, s.err
		}
		if !ok {
			break // nothing is left to write: the record alone exceeds the memory
		}
	}
	if len(c.tail) > 0 {
		c.full = append(c.full, c.tail)
	}
	if last := len(s.free) - 1; last >= 0 && size <= s.chunkSize {
		c.tail, s.free = s.free[last], s.free[:last]
	} else {
		c.tail = make([]byte, 0, size)
		s.used += size
	}
	return c.tail, nil
}

// shrink frees memory: it drops a free chunk, or else writes the largest chain, or the late records if they are larger.
// It returns false if there is nothing to free.
func (s *Spool) shrink() (bool, error) {
	if last := len(s.free) - 1; last >= 0 {
		s.free[last] = nil
		s.free = s.free[:last]
		s.used -= s.chunkSize
		return true, nil
	}
	most, largest := s.late.size()+s.late.count*entryBytes, (*chain)(nil)
	for i := range s.chains {
		if n := s.chains[i].size(); n > most {
			most, largest = n, &s.chains[i]
		}
	}
	switch {
	case most == 0:
		return false, nil
	case largest == nil:
		return true, s.writeLate()
	}
	return true, s.writeChain(largest)
}

// release empties c and keeps its chunks of chunkSize for reuse.
func (s *Spool) release(c *chunks) {
	for _, b := range c.all() {
		if cap(b) == s.chunkSize {
			s.free = append(s.free, b[:0])
		} else {
			s.used -= cap(b)
		}
	}
	clear(c.full)
	c.full, c.tail = c.full[:0], nil
}
