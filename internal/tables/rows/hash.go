package rows

import (
	"encoding/binary"
	"hash/maphash"
	"unsafe"
)

// A sum identifies content by 128 bits under secret seeds. Two contents of a trace practically never have the same sum,
// even if the trace is malicious.
type sum [2]uint64

// A hasher computes sums. Sums of different hashers cannot be compared.
type hasher struct {
	seeds [2]maphash.Seed
	key   []byte // scratch of the caller
}

func newHasher() hasher {
	return hasher{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

func (h *hasher) sum(b []byte) sum {
	return sum{maphash.Bytes(h.seeds[0], b), maphash.Bytes(h.seeds[1], b)}
}

// bytesOf returns the memory of the numbers in the byte order of the machine. The result aliases list.
func bytesOf(list []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), 8*len(list))
}

// appendString appends a string and its length, so that a sequence of strings is unambiguous.
func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// maxNumbered is the maximum number of contents that a numbering remembers. When it is exceeded, all are discarded and
// numbered again, so that an endless trace needs bounded memory. A content may then have several rows.
const maxNumbered = 1 << 20

// A numbering assigns the numbers 1, 2, ... to contents, of which it keeps only the sums.
type numbering struct {
	ids  map[sum]int64
	last int64
}

// number returns the number of a content, and true if the number is new.
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
