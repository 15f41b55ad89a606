package clr

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// DecodeUTF16 appends little-endian UTF-16 to dst as UTF-8. Lone surrogates become U+FFFD; an odd last byte is ignored.
func DecodeUTF16(dst, b []byte) []byte {
	for len(b) >= 2 {
		for len(b) >= 8 {
			x := binary.LittleEndian.Uint64(b)
			if x&0xff80ff80ff80ff80 != 0 {
				break
			}
			dst = append(dst, byte(x), byte(x>>16), byte(x>>32), byte(x>>48))
			b = b[8:]
		}
		if len(b) < 2 {
			break
		}
		r := rune(binary.LittleEndian.Uint16(b))
		b = b[2:]
		if utf16.IsSurrogate(r) {
			pair := utf8.RuneError
			if len(b) >= 2 {
				pair = utf16.DecodeRune(r, rune(binary.LittleEndian.Uint16(b)))
			}
			if pair != utf8.RuneError {
				b = b[2:]
			}
			r = pair
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// cutUTF16 splits b behind the first zero unit; text is what stands before it, rest what follows. Without a zero unit ok is
// false and text is all of b.
func cutUTF16(b []byte) (text, rest []byte, ok bool) {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		// The lowest bit set marks the first of four units that is zero; units above it may be marked in error.
		if zero := (x - 0x0001000100010001) & ^x & 0x8000800080008000; zero != 0 {
			i += bits.TrailingZeros64(zero) / 16 * 2
			return b[:i:i], b[i+2:], true
		}
	}
	for ; i+2 <= len(b); i += 2 {
		if b[i]|b[i+1] == 0 {
			return b[:i:i], b[i+2:], true
		}
	}
	return b, nil, false
}
