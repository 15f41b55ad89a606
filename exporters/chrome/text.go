package chrome

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
)

// replacement is U+FFFD in UTF-8.
const replacement = "\uFFFD"

// appendString appends s as a JSON string. It replaces each byte that is not valid UTF-8 by U+FFFD, including encoded
// surrogates, and then returns false.
func appendString(dst []byte, s string) (_ []byte, valid bool) {
	dst, valid = append(dst, '"'), true
	from := 0 // s[from:i] needs no escape
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst, valid = append(append(dst, s[from:i]...), replacement...), false
				from = i + 1
			}
			i += n
			continue
		}
		dst = appendEscape(append(dst, s[from:i]...), c)
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"'), valid
}

// appendEscape appends the escape of a quote, backslash or control character.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// appendMicros appends a time as microseconds with at most 3 decimals and no exponent. Viewers parse it as a float64,
// which restores the nanosecond for 101 days.
func appendMicros(dst []byte, ns int64) []byte {
	if ns < 0 {
		dst, ns = append(dst, '-'), -ns
	}
	dst = strconv.AppendInt(dst, ns/1000, 10)
	rest := ns % 1000
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.', byte('0'+rest/100))
	if rest %= 100; rest == 0 {
		return dst
	}
	dst = append(dst, byte('0'+rest/10))
	if rest %= 10; rest == 0 {
		return dst
	}
	return append(dst, byte('0'+rest))
}

// appendNumber appends a finite number. Integers up to 2^53 have no exponent.
func appendNumber(dst []byte, f float64) []byte {
	if i := int64(f); float64(i) == f && -1<<53 <= i && i <= 1<<53 {
		return strconv.AppendInt(dst, i, 10)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// appendFloat appends a number, or a string for infinities and NaN, which JSON cannot represent.
func appendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	return appendNumber(dst, f)
}

// maxInt is the largest integer that Perfetto reads.
const maxInt = "9223372036854775807"

// largeInteger returns the range of the first integer larger than maxInt in the JSON text b[from:], or len(b) twice if
// there is none. from must not be inside a string.
func largeInteger(b []byte, from int) (start, end int) {
	for i := from; i < len(b); {
		c := b[i]
		if c == '"' {
			i = endOfString(b, i)
			continue
		}
		if c < '0' || c > '9' {
			i++
			continue
		}
		start = i
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		if isLarge(b, start, i) {
			return start, i
		}
	}
	return len(b), len(b)
}

// quoteLarge converts the integers larger than maxInt in the JSON text b[from:] to strings. *scratch is a buffer that
// it may grow.
func quoteLarge(b []byte, from int, scratch *[]byte) []byte {
	start, end := largeInteger(b, from)
	if start == len(b) {
		return b
	}
	rest := append((*scratch)[:0], b[start:]...)
	*scratch = rest
	b = b[:start]
	start, end = 0, end-start
	for last := 0; ; {
		b = append(b, rest[last:start]...)
		if start == len(rest) {
			return b
		}
		b = append(append(append(b, '"'), rest[start:end]...), '"')
		last = end
		start, end = largeInteger(rest, end)
	}
}

// isLarge reports whether the digits b[start:end] are an integer larger than maxInt, and not part of a negative or
// fractional number.
func isLarge(b []byte, start, end int) bool {
	if end-start < len(maxInt) || end-start == len(maxInt) && bytes.Compare(b[start:end], []byte(maxInt)) <= 0 {
		return false
	}
	before, after := byte(' '), byte(' ')
	if start > 0 {
		before = b[start-1]
	}
	if end < len(b) {
		after = b[end]
	}
	return before != '.' && before != '-' && before != '+' && before != 'e' && before != 'E' && after != '.' &&
		after != 'e' &&
		after != 'E'
}

// endOfString returns the index after the JSON string that begins at b[i].
func endOfString(b []byte, i int) int {
	for i++; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		end := i + n
		slashes := 0
		for end-slashes > i && b[end-slashes-1] == '\\' {
			slashes++
		}
		i = end + 1
		if slashes%2 == 0 {
			return i
		}
	}
	return len(b)
}
