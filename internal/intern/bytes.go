package intern

import (
	"bytes"
	"hash/maphash"
)

// Bytes numbers byte strings by content, in order from 1; the empty string is 0. It keeps copies in large chunks and no
// pointer per string, so that the garbage collector has nothing to do with them. A string may have up to 4 GiB - 1.
type Bytes struct {
	seed   maphash.Seed
	index  Index
	chunks [][]byte // of firstChunk bytes, doubled some times; a longer string has its own
	refs   []ref    // by number - 1
}

type ref struct{ chunk, off, size uint32 }

const (
	firstChunk     = 4 << 10
	chunkDoublings = 4
)

// Len returns how many strings there are, without the empty one: the largest number.
func (t *Bytes) Len() int { return len(t.refs) }

// Find returns the number of b, or 0 if it has none.
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

// Add returns the number of b, and copies b if it has none yet.
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

// At returns the string with a number. The caller must not change it; it is valid until Reset.
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
