package jsonio

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendString appends text as a JSON string. Bytes that are not UTF-8, including encoded surrogates, become U+FFFD;
// exact is then false.
func AppendString[T ~string | ~[]byte](dst []byte, text T) (_ []byte, exact bool) {
	dst, err := jsontext.AppendQuote(dst, text)
	return dst, err == nil
}

// AppendQuoted is AppendString for callers that do not need to know whether the string is exact.
func AppendQuoted[T ~string | ~[]byte](dst []byte, text T) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}

// Masks for four UTF-16 code units in a uint64, each with the same value.
const (
	eachUnit  = 0x0001_0001_0001_0001
	unitTops  = 0x8000_8000_8000_8000
	notASCII  = 0xff80_ff80_ff80_ff80
	spaces    = ' ' * eachUnit
	quotes    = '"' * eachUnit
	backslash = '\\' * eachUnit
)

// AppendUTF16 appends UTF-16LE as a JSON string. exact is false if it replaced an unpaired surrogate by U+FFFD. It
// ignores an odd last byte.
func AppendUTF16(dst, text []byte) (_ []byte, exact bool) {
	dst, exact = append(dst, '"'), true
	for b := text; len(b) >= 2; {
		for len(b) >= 8 { // fast path: four ASCII units that need no escape
			x := binary.LittleEndian.Uint64(b)
			// All lanes are below 128, so the top bit of a lane's difference is set if it is negative: for a control
			// character, a quote or a backslash. A borrow from a lower lane can set it too, but then that lane is
			// negative.
			if x&notASCII != 0 || ((x-spaces)|((x^quotes)-eachUnit)|((x^backslash)-eachUnit))&unitTops != 0 {
				break
			}
			dst = append(dst, byte(x), byte(x>>16), byte(x>>32), byte(x>>48))
			b = b[8:]
		}
		for i := 0; i < 4 && len(b) >= 2; i++ {
			r := rune(binary.LittleEndian.Uint16(b))
			b = b[2:]
			if r < utf8.RuneSelf {
				dst = appendASCII(dst, byte(r))
				continue
			}
			if utf16.IsSurrogate(r) {
				pair := utf8.RuneError
				if len(b) >= 2 {
					pair = utf16.DecodeRune(r, rune(binary.LittleEndian.Uint16(b)))
				}
				if r = pair; pair != utf8.RuneError {
					b = b[2:]
				} else {
					exact = false
				}
			}
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"'), exact
}

// AppendLatin1 appends 8-bit characters as a JSON string.
func AppendLatin1(dst, text []byte) []byte {
	dst = append(dst, '"')
	for _, c := range text {
		if c < utf8.RuneSelf {
			dst = appendASCII(dst, c)
		} else {
			dst = utf8.AppendRune(dst, rune(c))
		}
	}
	return append(dst, '"')
}

// appendASCII appends one character inside a string, escaped if necessary.
func appendASCII(dst []byte, c byte) []byte {
	if plain[c] {
		return append(dst, c)
	}
	if c == '"' || c == '\\' {
		return append(dst, '\\', c)
	}
	if i := strings.IndexByte("\b\f\n\r\t", c); i >= 0 {
		return append(dst, '\\', "bfnrt"[i])
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// IsPlain reports whether a quoted string has no escape sequence, so that the bytes between its quotes are its
// contents.
func IsPlain(quoted []byte) bool { return bytes.IndexByte(quoted, '\\') < 0 }

// AppendUnquoted appends the contents of a valid quoted string to dst. exact is false if the contents are invalid
// Unicode: unpaired surrogates and bytes that are not UTF-8 become U+FFFD.
func AppendUnquoted(dst, quoted []byte) (text []byte, exact bool) {
	if len(quoted) < 2 || quoted[0] != '"' {
		return dst, false
	}
	start := len(dst)
	dst, exact, _ = AppendUnescaped(dst, quoted[1:len(quoted)-1])
	if utf8.Valid(dst[start:]) {
		return dst, exact
	}
	return append(dst[:start], string([]rune(string(dst[start:])))...), false
}

// AppendUnescaped appends the text between the quotes of a string to dst, with escapes replaced and all other bytes
// unchanged. exact is false if an unpaired surrogate was replaced by U+FFFD. valid is false if JSON does not define an
// escape; the text before it is then appended.
func AppendUnescaped(dst, text []byte) (_ []byte, exact, valid bool) {
	exact = true
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 {
			return append(dst, text...), exact, true
		}
		dst = append(dst, text[:at]...)
		r, n, paired := Unescape(text[at:])
		if n == 0 {
			return dst, false, false
		}
		dst, text, exact = utf8.AppendRune(dst, r), text[at+n:], exact && paired
	}
}

// Unescape returns the character of the escape sequence at the start of b and the length of the sequence, which is 0 if
// JSON does not define it. ok is false for an unpaired surrogate, which becomes U+FFFD.
func Unescape(b []byte) (r rune, n int, ok bool) {
	if len(b) < 2 {
		return 0, 0, false
	}
	switch c := b[1]; c {
	case '"', '\\', '/':
		return rune(c), 2, true
	case 'b':
		return '\b', 2, true
	case 'f':
		return '\f', 2, true
	case 'n':
		return '\n', 2, true
	case 'r':
		return '\r', 2, true
	case 't':
		return '\t', 2, true
	}
	r, ok = unit(b)
	switch {
	case !ok:
		return 0, 0, false
	case !utf16.IsSurrogate(r):
		return r, 6, true
	}
	if low, ok := unit(b[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12, true
		}
	}
	return utf8.RuneError, 6, false
}

// unit returns the UTF-16 code unit of the \uXXXX sequence at the start of b.
func unit(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		d, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | d
	}
	return r, true
}
