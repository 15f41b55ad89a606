package bin

import (
	"encoding/binary"
	"math/bits"
)

// Varuint decodes the LEB128 number at b[i:] and returns it with the index after it. It replaces [Cursor.Varuint64]
// where a cursor is too slow: in compressed event headers. If the number is truncated or has more than ten bytes, the
// index is len(b)+1. An i beyond the end yields the same index, so a sequence of calls needs one check at the end.
//
// It stays within the compiler's budget for inlining; without inlining it is slow.
func Varuint(b []byte, i int) (v uint64, end int) {
	if i < len(b) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	for n := uint(0); i < len(b) && n < 70; n += 7 {
		v |= uint64(b[i]&0x7f) << (n & 63)
		i++
		if b[i-1] < 0x80 {
			return v, i
		}
	}
	return 0, len(b) + 1
}

// Varuint32 is [Varuint] for numbers of at most five bytes. It drops bits above the 32nd.
func Varuint32(b []byte, i int) (v uint32, end int) {
	if i < len(b) && b[i] < 0x80 {
		return uint32(b[i]), i + 1
	}
	for n := uint(0); i < len(b) && n < 35; n += 7 {
		v |= uint32(b[i]&0x7f) << (n & 63)
		i++
		if b[i-1] < 0x80 {
			return v, i
		}
	}
	return 0, len(b) + 1
}

// VaruintShort is a branch-free [Varuint] for numbers that usually have up to four bytes, but varying lengths: a branch
// on the length would often be mispredicted. b must have four bytes from i on. If the number is longer, the index is
// i+5 and the value is undefined.
func VaruintShort(b []byte, i int) (v uint64, end int) {
	x := binary.LittleEndian.Uint32(b[i:])
	stop := ^x & 0x80808080
	x &= stop ^ (stop - 1) // keep the bytes up to the first one without a continuation bit
	x = x&0x007f007f | x&0x7f007f00>>1
	return uint64(x&0x3fff | x>>2&^0x3fff), i + bits.TrailingZeros32(stop)>>3 + 1
}
