package bin

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// String reads a string of format version 6: its length in bytes as a varuint32, then UTF-8. Each maximal invalid run
// becomes one U+FFFD, so the result is valid UTF-8.
func (c *Cursor) String() string { return strings.ToValidUTF8(string(c.StringBytes()), "\uFFFD") }

// StringBytes is [Cursor.String] without decoding. The result is borrowed.
func (c *Cursor) StringBytes() []byte { return c.take(c.lengthPrefix()) }

// UTF16Z reads NUL-terminated UTF-16LE. An unpaired surrogate becomes U+FFFD, so the result is valid UTF-8. The
// terminator is the first zero unit, counted in units of two bytes from the current offset. Without a terminator the
// cursor fails with [ErrShort].
func (c *Cursor) UTF16Z() string { return UTF16String(c.UTF16ZBytes()) }

// UTF16ZBytes is [Cursor.UTF16Z] without decoding. The result is borrowed and excludes the terminator.
func (c *Cursor) UTF16ZBytes() []byte {
	text, rest, ok := CutUTF16(c.b[c.i:])
	if !ok {
		c.Fail("", ErrShort)
		return nil
	}
	c.i = len(c.b) - len(rest)
	return text
}

// CutUTF16 splits b after the first 16-bit unit that is zero: text is the part before this unit, rest the part after
// it. Both alias b, and text has no spare capacity. Without a zero unit ok is false, text is b and rest is nil.
func CutUTF16(b []byte) (text, rest []byte, ok bool) {
	const ones, tops = 0x0001_0001_0001_0001, 0x8000_8000_8000_8000
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		// The lowest set bit is that of the first zero unit. Bits of the units above it may be wrong.
		if zero := (x - ones) &^ x & tops; zero != 0 {
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

// UTF16String returns UTF-16LE as a string. See [DecodeUTF16].
func UTF16String(b []byte) string {
	var buf [128]byte
	return string(DecodeUTF16(buf[:0], b))
}

// DecodeUTF16 appends UTF-16LE to dst as UTF-8 and returns the extended slice. An unpaired surrogate becomes U+FFFD. An
// odd last byte is ignored.
func DecodeUTF16(dst, b []byte) []byte {
	for len(b) >= 2 {
		for len(b) >= 8 { // fast path: four ASCII units
			x := binary.LittleEndian.Uint64(b)
			if x&0xff80_ff80_ff80_ff80 != 0 {
				break
			}
			dst = append(dst, byte(x), byte(x>>16), byte(x>>32), byte(x>>48))
			b = b[8:]
		}
		for len(b) >= 2 {
			r := rune(binary.LittleEndian.Uint16(b))
			b = b[2:]
			if r < utf8.RuneSelf {
				dst = append(dst, byte(r))
				if len(b) >= 8 {
					break // more ASCII is likely
				}
				continue
			}
			if utf16.IsSurrogate(r) && len(b) >= 2 {
				if pair := utf16.DecodeRune(r, rune(binary.LittleEndian.Uint16(b))); pair != utf8.RuneError {
					r, b = pair, b[2:]
				}
			}
			dst = utf8.AppendRune(dst, r) // an unpaired surrogate becomes U+FFFD
		}
	}
	return dst
}

// DecodeLatin1 appends 8-bit characters to dst as UTF-8 and returns the extended slice.
func DecodeLatin1(dst, b []byte) []byte {
	for _, c := range b {
		dst = utf8.AppendRune(dst, rune(c))
	}
	return dst
}
