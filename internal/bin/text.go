package bin

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// String reads a string of format version 6: its length in bytes as a varuint32, then UTF-8. Every maximal invalid run
// becomes one U+FFFD, so the result is always valid UTF-8.
func (c *Cursor) String() string { return strings.ToValidUTF8(string(c.StringBytes()), "\uFFFD") }

// StringBytes reads what [Cursor.String] reads and returns the undecoded bytes, borrowed.
func (c *Cursor) StringBytes() []byte { return c.take(c.lengthPrefix()) }

// UTF16Z reads NUL-terminated UTF-16LE. A surrogate without its partner becomes U+FFFD, so the result is always valid
// UTF-8. The terminator is looked for on the two-byte grid that starts at the current offset; without one the cursor
// fails with [ErrShort].
func (c *Cursor) UTF16Z() string { return DecodeUTF16(c.UTF16ZBytes()) }

// UTF16ZBytes reads what [Cursor.UTF16Z] reads and returns the undecoded bytes without the terminator, borrowed.
func (c *Cursor) UTF16ZBytes() []byte {
	rest := c.b[c.i:]
	for i := 0; i+1 < len(rest); i += 2 {
		if rest[i]|rest[i+1] == 0 {
			c.i += i + 2
			return rest[:i:i]
		}
	}
	c.Fail("", ErrShort)
	return nil
}

// DecodeUTF16 converts UTF-16LE to UTF-8. A surrogate without its partner becomes U+FFFD; an odd last byte is ignored.
func DecodeUTF16(b []byte) string {
	var sb strings.Builder
	sb.Grow(len(b) / 2)
	for i := 0; i+1 < len(b); i += 2 {
		u := rune(b[i]) | rune(b[i+1])<<8
		if u < utf8.RuneSelf {
			sb.WriteByte(byte(u))
			continue
		}
		if utf16.IsSurrogate(u) {
			low := utf8.RuneError
			if i+3 < len(b) {
				low = rune(b[i+2]) | rune(b[i+3])<<8
			}
			// DecodeRune yields U+FFFD for anything but a pair, and only a pair consumes two units.
			if u = utf16.DecodeRune(u, low); u != utf8.RuneError {
				i += 2
			}
		}
		sb.WriteRune(u)
	}
	return sb.String()
}
