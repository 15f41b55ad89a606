package intern

import (
	"bytes"
	"hash/maphash"
)

// Bytes assigns numbers to byte strings by content, in order from 1; the empty string has the number 0. It keeps copies
// in large chunks without a pointer per string, so the garbage collector does not scan them. A string may have up to 4
// GiB - 1.
type Bytes struct {
	seed   maphash.Seed
	index  Index
	chunks [][]byte // of firstChunk bytes, doubled up to chunkDoublings times; a longer string has its own chunk
	refs   []ref    // indexed by number - 1
}

// A ref locates a string: a range of bytes in a chunk.
type ref struct{ chunk, off, size uint32 }

const (
	firstChunk     = 4 << 10
	chunkDoublings = 4
)

// Len returns the number of strings without the empty one, which is the largest number.
func (t *Bytes) Len() int { return len(t.refs) }

// Find returns the number of b, or 0 if b is empty or has none.
func (t *Bytes) Find(b []byte) uint32 {
	if len(t.refs) == 0 {
		return 0
	}
	for p := t.index.Probe(maphash.Bytes(t.seed, b)); p.Next(); {
		if bytes.Equal(t.at(p.ID), b) {
			return p.ID
		}
	}
	return 0
}

// Add returns the number of b. If b has none, it copies b and assigns the next number.
func (t *Bytes) Add(b []byte) uint32 {
	if len(b) == 0 {
		return 0
	}
	if t.chunks == nil {
		t.seed = maphash.MakeSeed()
	}
	hash := maphash.Bytes(t.seed, b)
	p := t.index.Probe(hash)
	for p.Next() {
		if bytes.Equal(t.at(p.ID), b) {
			return p.ID
		}
	}
	t.refs = append(t.refs, t.store(b))
	id := uint32(len(t.refs))
	t.index.Insert(&p, id)
	return id
}

// At returns the string with a number. The result is read-only and valid until Reset. It panics if no string has the
// number.
func (t *Bytes) At(id uint32) []byte {
	if id == 0 {
		return nil
	}
	return t.at(id)
}

func (t *Bytes) at(id uint32) []byte {
	r := &t.refs[id-1]
	return t.chunks[r.chunk][r.off : r.off+r.size]
}

func (t *Bytes) store(b []byte) ref {
	last := len(t.chunks) - 1
	if last < 0 || cap(t.chunks[last])-len(t.chunks[last]) < len(b) {
		t.chunks = append(t.chunks, make([]byte, 0, max(firstChunk<<min(len(t.chunks), chunkDoublings), len(b))))
		last++
	}
	off := len(t.chunks[last])
	t.chunks[last] = append(t.chunks[last], b...)
	return ref{uint32(last), uint32(off), uint32(len(b))}
}

// Reset removes all strings; the next one gets the number 1. It keeps one chunk.
func (t *Bytes) Reset() {
	t.index.Reset()
	t.refs = t.refs[:0]
	if len(t.chunks) > 0 {
		clear(t.chunks[1:])
		t.chunks = append(t.chunks[:0], t.chunks[0][:0])
	}
}
