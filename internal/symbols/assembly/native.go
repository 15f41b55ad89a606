package assembly

import "encoding/binary"

// Numbers, arrays and hash tables in the native format (readytorun-format.md, "Native Format"). Offsets count from the
// first byte of the section, which is all that is read.

// decode reads an unsigned number. next is the offset after it.
func decode(b []byte, at uint32) (v, next uint32, ok bool) {
	if uint64(at) >= uint64(len(b)) {
		return 0, at, false
	}
	size := encodedSize(b[at])
	if uint64(len(b))-uint64(at) < uint64(size) {
		return 0, at, false
	}
	if size == 5 {
		return binary.LittleEndian.Uint32(b[at+1:]), at + 5, true
	}
	for i := range size {
		v |= uint32(b[at+i]) << (8 * i)
	}
	return v >> size, at + size, true
}

// decodeSigned reads a signed number.
func decodeSigned(b []byte, at uint32) (v int32, next uint32, ok bool) {
	u, next, ok := decode(b, at)
	if n := next - at; ok && n < 5 {
		shift := 32 - 7*n
		return int32(u<<shift) >> shift, next, true
	}
	return int32(u), next, ok
}

// encodedSize returns the size of a number by its first byte.
func encodedSize(first byte) uint32 {
	for n := range uint32(4) {
		if first&(1<<n) == 0 {
			return n + 1
		}
	}
	return 5
}

// An array is a sparse array: a tree per block of 16 elements.
type array struct {
	data  []byte
	base  uint32 // of the table of blocks
	count uint32
	width uint32 // of an entry of the table: 1, 2 or 4 bytes
}

const blockSize = 16

func newArray(data []byte) array {
	v, base, ok := decode(data, 0)
	if !ok || v&3 == 3 {
		return array{}
	}
	return array{data: data, base: base, count: v >> 2, width: 1 << (v & 3)}
}

// at returns the offset of an element. It returns false if the array has no such element.
func (a *array) at(index uint32) (uint32, bool) {
	if index >= a.count {
		return 0, false
	}
	entry, ok := fixed(a.data, uint64(a.base)+uint64(index/blockSize)*uint64(a.width), a.width)
	offset := entry + a.base
	if !ok || offset < entry {
		return 0, false
	}
	for bit := uint32(blockSize >> 1); bit > 0; bit >>= 1 {
		v, next, ok := decode(a.data, offset)
		if !ok {
			return 0, false
		}
		if index&bit != 0 && v&2 != 0 {
			to := offset + v>>2
			if to < offset {
				return 0, false
			}
			offset = to
			continue
		}
		if index&bit == 0 && v&1 != 0 {
			offset = next
			continue
		}
		return next, v&3 == 0 && v>>2 == index%blockSize // the only element of its subtree
	}
	return offset, true
}

// fixed reads a number of 1, 2 or 4 bytes.
func fixed(b []byte, at uint64, width uint32) (uint32, bool) {
	if at+uint64(width) > uint64(len(b)) {
		return 0, false
	}
	switch width {
	case 1:
		return uint32(b[at]), true
	case 2:
		return uint32(binary.LittleEndian.Uint16(b[at:])), true
	}
	return binary.LittleEndian.Uint32(b[at:]), true
}

// entries calls visit with the offset of each entry of a hash table, at most limit of them, because the buckets of a
// malformed table overlap.
func entries(b []byte, limit uint32, visit func(at uint32)) {
	if len(b) == 0 || b[0]&3 == 3 || b[0]>>2 > 30 {
		return
	}
	const base = 1
	width, left := uint32(1)<<(b[0]&3), limit
	for bucket := range uint64(1) << (b[0] >> 2) {
		start, ok1 := fixed(b, base+bucket*uint64(width), width)
		end, ok2 := fixed(b, base+(bucket+1)*uint64(width), width)
		if !ok1 || !ok2 {
			return
		}
		for at := uint64(start) + base; at < uint64(end)+base && at+1 < uint64(len(b)); left-- {
			if left == 0 {
				return
			}
			position := uint32(at) + 1 // after one byte of the hash code
			delta, next, ok := decodeSigned(b, position)
			if !ok {
				return
			}
			if to := int64(position) + int64(delta); to >= 0 && to < int64(len(b)) {
				visit(uint32(to))
			}
			at = uint64(next)
		}
	}
}

// A nibbles reads numbers of 3 bits per half byte, the upper ones first; the highest bit continues a number.
type nibbles struct {
	data []byte
	next uint64 // in half bytes
	ok   bool
}

func newNibbles(b []byte, at uint32) nibbles { return nibbles{data: b, next: 2 * uint64(at), ok: true} }

func (n *nibbles) uint() (v uint32) {
	for range 11 { // 32 bits
		i := n.next / 2
		if i >= uint64(len(n.data)) {
			break
		}
		nibble := n.data[i] >> (4 * (n.next % 2)) & 0xf
		n.next++
		if v = v<<3 | uint32(nibble&7); nibble&8 == 0 {
			return v
		}
	}
	n.ok = false
	return 0
}

// align returns the offset of the next whole byte.
func (n *nibbles) align() uint32 { return uint32((n.next + 1) / 2) }
