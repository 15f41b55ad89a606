package bin

import (
	"encoding/binary"
	"math/bits"
)

// A Window is a fixed stretch of input in which variable-length numbers are decoded by index, for the one place where a
// [Cursor] is too slow: compressed event headers. An index below zero stands for an error met earlier and is handed on,
// so that a run of calls needs one check at the end.
type Window [104]byte

// MaxWindow is the largest index at which a number may begin: it and the eight-byte load behind it stay inside.
const MaxWindow = len(Window{}) - 16

// Varuint32 decodes the number at index i and returns it with the index behind it, or -1 if it has more than five bytes.
func (w *Window) Varuint32(i int) (uint32, int) {
	if uint(i) > uint(MaxWindow) {
		return 0, -1
	}
	x := binary.LittleEndian.Uint64(w[i : i+8])
	stop := ^x & 0x80_8080_8080
	if stop == 0 {
		return 0, -1
	}
	x &= stop ^ (stop - 1)
	x = x&0x7f | x>>1&(0x7f<<7) | x>>2&(0x7f<<14) | x>>3&(0x7f<<21) | x>>4&(0x7f<<28)
	return uint32(x), i + (bits.TrailingZeros64(stop)+1)>>3
}

// Varuint64 is like [Window.Varuint32] for numbers of up to ten bytes.
func (w *Window) Varuint64(i int) (uint64, int) {
	if uint(i) > uint(MaxWindow) {
		return 0, -1
	}
	x := binary.LittleEndian.Uint64(w[i : i+8])
	stop := ^x & 0x8080_8080_8080_8080
	if stop == 0 {
		return w.long(x, i)
	}
	x &= stop ^ (stop - 1)
	return squeeze(x), i + (bits.TrailingZeros64(stop)+1)>>3
}

// squeeze joins the low seven bits of the eight bytes of x.
func squeeze(x uint64) uint64 {
	x &= 0x7f7f_7f7f_7f7f_7f7f
	x = x&0x007f_007f_007f_007f | x>>1&0x3f80_3f80_3f80_3f80
	x = x&0x0000_3fff_0000_3fff | x>>2&0x0fff_c000_0fff_c000
	return x&0x0fff_ffff | x>>4&0x00ff_ffff_f000_0000
}

// long finishes a number whose first eight bytes, x, all continue.
func (w *Window) long(x uint64, i int) (uint64, int) {
	v := squeeze(x)
	b8, b9 := w[i+8], w[i+9]
	v |= uint64(b8&0x7f) << 56
	switch {
	case b8 < 0x80:
		return v, i + 9
	case b9 < 0x80:
		return v | uint64(b9&0x7f)<<63, i + 10
	}
	return 0, -1
}
