package payload

import (
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
)

// Reasons for rejecting JSON. scanner.fail adds the position and ntconv.ErrValue.
var (
	errSyntax  = errors.New("invalid JSON")
	errType    = errors.New("value of the wrong type")
	errRange   = errors.New("number out of range")
	errSize    = errors.New("too many fields without a value for the size of the JSON")
	errUnknown = errors.New("member is not a field")
	errTwice   = errors.New("member occurs twice")
	errOrder   = errors.New("members are not in the order of the fields")
	errTrail   = errors.New("text after the object")
)

// A scanner reads JSON. It accepts some invalid JSON, such as control characters in strings. It does not recurse for
// nested values.
type scanner struct {
	s   []byte
	pos int // offset of the next byte
}

// fail returns an error at the current position. It wraps ntconv.ErrValue and err.
func (c *scanner) fail(err error) error {
	return fmt.Errorf("byte %d of the JSON: %w: %w", c.pos, ntconv.ErrValue, err)
}

// next skips white space and returns the byte after it without consuming it, or 0 at the end.
func (c *scanner) next() byte {
	for ; c.pos < len(c.s); c.pos++ {
		if b := c.s[c.pos]; b > ' ' || b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return b
		}
	}
	return 0
}

// accept skips white space and then b. It returns false if another byte comes next.
func (c *scanner) accept(b byte) bool {
	if c.next() != b {
		return false
	}
	c.pos++
	return true
}

// literal skips white space and then text. It returns false if other text comes next.
func (c *scanner) literal(text string) bool {
	c.next()
	if len(c.s)-c.pos < len(text) || string(c.s[c.pos:c.pos+len(text)]) != text {
		return false
	}
	c.pos += len(text)
	return true
}

// number consumes and returns the characters that can be part of a number, possibly none.
func (c *scanner) number() []byte {
	c.next()
	start := c.pos
	for ; c.pos < len(c.s); c.pos++ {
		if b := c.s[c.pos]; (b < '0' || b > '9') && b != '-' && b != '+' && b != '.' && b != 'e' && b != 'E' {
			break
		}
	}
	return c.s[start:c.pos]
}

// quoted reads a string and returns the text between its quotes, and whether it contains escapes.
func (c *scanner) quoted() (text []byte, escapes bool, err error) {
	if !c.accept('"') {
		return nil, false, c.fail(errType)
	}
	start := c.pos
	for ; c.pos < len(c.s); c.pos++ {
		switch c.s[c.pos] {
		case '"':
			c.pos++
			return c.s[start : c.pos-1], escapes, nil
		case '\\':
			c.pos++
			escapes = true
		}
	}
	return nil, false, c.fail(errSyntax)
}

// text reads a string and returns it as UTF-8. The result aliases the JSON, or *buf if the string has escapes.
func (c *scanner) text(buf *[]byte) ([]byte, error) {
	start := c.pos
	raw, escapes, err := c.quoted()
	if err != nil || !escapes {
		return raw, err
	}
	var ok bool
	if *buf, ok = unescape((*buf)[:0], raw); !ok {
		c.pos = start
		return nil, c.fail(errSyntax)
	}
	return *buf, nil
}

// unescape appends the text between quotes with its escapes replaced. It returns false for an escape that JSON does not
// define.
func unescape(dst, raw []byte) (_ []byte, ok bool) {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			dst = append(dst, raw[i])
			continue
		}
		if i++; i == len(raw) {
			return dst, false
		}
		switch raw[i] {
		case '"', '\\', '/':
			dst = append(dst, raw[i])
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, n := escapedRune(raw[i-1:])
			if n == 0 {
				return dst, false
			}
			dst, i = utf8.AppendRune(dst, r), i+n-2
		default:
			return dst, false
		}
	}
	return dst, true
}

// escapedRune returns the character of an escape \uXXXX, or of two escapes that are a surrogate pair. n is their length
// in bytes, or 0 if the first one is malformed.
func escapedRune(b []byte) (r rune, n int) {
	u, ok := hex4(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(u) {
		return u, 6
	}
	if low, ok := hex4(b[6:]); ok {
		if pair := utf16.DecodeRune(u, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// skip skips the next value. It checks nested values only as far as necessary to find their ends.
func (c *scanner) skip() error {
	for depth := 0; ; {
		switch c.next() {
		case 0:
			return c.fail(errSyntax)
		case '"':
			if _, _, err := c.quoted(); err != nil {
				return err
			}
		case '{', '[':
			c.pos++
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return c.fail(errSyntax)
			}
			c.pos++
			depth--
		case ',', ':':
			if depth == 0 {
				return c.fail(errSyntax)
			}
			c.pos++
			continue
		default:
			if !c.literal("true") && !c.literal("false") && !c.literal("null") && len(c.number()) == 0 {
				return c.fail(errSyntax)
			}
		}
		if depth == 0 {
			return nil
		}
	}
}
