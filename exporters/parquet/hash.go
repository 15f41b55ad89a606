package parquet

import (
	"encoding/binary"
	"hash/maphash"
	"unsafe"
)

// A sum identifies content: with 128 bits under secret seeds no two contents of a trace have the same sum, not even
// those of a malicious trace.
type sum [2]uint64

// A hasher returns sums.
type hasher struct {
	seeds [2]maphash.Seed
	key   []byte // of the caller, between its calls
}

func newHasher() hasher {
	return hasher{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

func (h *hasher) sum(b []byte) sum {
	return sum{maphash.Bytes(h.seeds[0], b), maphash.Bytes(h.seeds[1], b)}
}

// bytesOf returns the memory of numbers. It borrows them.
func bytesOf(list []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), 8*len(list))
}

// appendString appends a string with its length, so that strings in a row are unambiguous.
func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// maxNumbered is the number of contents that are remembered. Beyond it they are discarded and numbered again, so that a
// trace without end needs bounded memory: a content may then have several rows.
const maxNumbered = 1 << 20

// A numbering numbers contents from 1. It remembers sums only.
type numbering struct {
	ids  map[sum]int64
	last int64
}

// number returns the number of a content, and whether it is new.
func (n *numbering) number(s sum) (id int64, fresh bool) {
	if id, ok := n.ids[s]; ok {
		return id, false
	}
	if n.ids == nil || len(n.ids) >= maxNumbered {
		n.ids = make(map[sum]int64)
	}
	n.last++
	n.ids[s] = n.last
	return n.last, true
}
