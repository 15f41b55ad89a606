package symbol

import (
	"bytes"
	"hash/maphash"
)

// texts is an intern.Bytes whose hash table has slots half as large. It is not one, because learning the
// methods of a large program takes 5 to 8% longer with that.
//
// It keeps byte strings once each, without a pointer per string. Most names of a trace are never asked for, and many
// methods share a type or a signature, so names stay as recorded until then.
type texts struct {
	seed   maphash.Seed
	chunks [][]byte // of chunkSize; a longer string has its own
	refs   []textRef
	slots  []uint32 // hash table of indexes into refs; 0 is free
}

// A text is an index into refs. The zero text is empty.
type text uint32

type textRef struct {
	hash, chunk uint32
	off, size   uint32
}

const chunkSize = 64 << 10

func newTexts() *texts {
	return &texts{seed: maphash.MakeSeed(), refs: make([]textRef, 1), slots: make([]uint32, 256)}
}

// add returns the text of b, which it copies if it is new.
func (t *texts) add(b []byte) text {
	if len(b) == 0 {
		return 0
	}
	hash := uint32(maphash.Bytes(t.seed, b))
	mask := uint32(len(t.slots) - 1)
	i := hash & mask
	for ; t.slots[i] != 0; i = (i + 1) & mask {
		if x := text(t.slots[i]); t.refs[x].hash == hash && bytes.Equal(t.get(x), b) {
			return x
		}
	}
	x := text(len(t.refs))
	t.refs = append(roomy(t.refs), t.store(hash, b))
	t.slots[i] = uint32(x)
	if len(t.refs)*4 > len(t.slots)*3 {
		t.grow()
	}
	return x
}

// get returns the bytes of a text, which must not be changed.
func (t *texts) get(x text) []byte {
	r := t.refs[x]
	if r.size == 0 {
		return nil
	}
	return t.chunks[r.chunk][r.off : r.off+r.size]
}

func (t *texts) store(hash uint32, b []byte) textRef {
	last := len(t.chunks) - 1
	if last < 0 || cap(t.chunks[last])-len(t.chunks[last]) < len(b) {
		t.chunks = append(t.chunks, make([]byte, 0, max(chunkSize, len(b))))
		last++
	}
	off := len(t.chunks[last])
	t.chunks[last] = append(t.chunks[last], b...)
	return textRef{hash, uint32(last), uint32(off), uint32(len(b))}
}

func (t *texts) grow() {
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
