package symbol

import (
	"bytes"
	"hash/maphash"
)

// A stringTable interns byte strings without a pointer per string. It is an intern.Bytes whose hash slots have half the
// size; with intern.Bytes, learning the methods of a large program takes 5% to 8% longer.
//
// Names stay as recorded until they are spelled, because most names of a trace are never resolved and many methods
// share a type or a signature.
type stringTable struct {
	seed   maphash.Seed
	chunks [][]byte // chunkSize bytes each; a longer string has its own chunk
	refs   []stringRef
	slots  []uint32 // hash table of indexes into refs; 0 is free
}

// A stringID is an index into refs. The zero stringID is the empty string.
type stringID uint32

type stringRef struct {
	hash, chunk uint32
	off, size   uint32
}

const chunkSize = 64 << 10

func newStringTable() *stringTable {
	return &stringTable{seed: maphash.MakeSeed(), refs: make([]stringRef, 1), slots: make([]uint32, 256)}
}

// add returns the ID of b, which it copies if b is new.
func (t *stringTable) add(b []byte) stringID {
	if len(b) == 0 {
		return 0
	}
	hash := uint32(maphash.Bytes(t.seed, b))
	mask := uint32(len(t.slots) - 1)
	i := hash & mask
	for ; t.slots[i] != 0; i = (i + 1) & mask {
		if x := stringID(t.slots[i]); t.refs[x].hash == hash && bytes.Equal(t.get(x), b) {
			return x
		}
	}
	x := stringID(len(t.refs))
	t.refs = append(roomy(t.refs), t.store(hash, b))
	t.slots[i] = uint32(x)
	if len(t.refs)*4 > len(t.slots)*3 {
		t.grow()
	}
	return x
}

// get returns the bytes of x, which must not be modified.
func (t *stringTable) get(x stringID) []byte {
	r := t.refs[x]
	if r.size == 0 {
		return nil
	}
	return t.chunks[r.chunk][r.off : r.off+r.size]
}

func (t *stringTable) store(hash uint32, b []byte) stringRef {
	last := len(t.chunks) - 1
	if last < 0 || cap(t.chunks[last])-len(t.chunks[last]) < len(b) {
		t.chunks = append(t.chunks, make([]byte, 0, max(chunkSize, len(b))))
		last++
	}
	off := len(t.chunks[last])
	t.chunks[last] = append(t.chunks[last], b...)
	return stringRef{hash, uint32(last), uint32(off), uint32(len(b))}
}

func (t *stringTable) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	mask := uint32(len(t.slots) - 1)
	for x := 1; x < len(t.refs); x++ {
		i := t.refs[x].hash & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(x)
	}
}
