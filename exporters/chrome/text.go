package chrome

import (
	"bytes"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"strconv"
)

// replacement is U+FFFD in UTF-8.
const replacement = "\uFFFD"

// appendFloat is jsonio.AppendDouble, but integers up to 2^53 have no exponent.
func appendFloat(dst []byte, f float64) []byte {
	if i := int64(f); float64(i) == f && -1<<53 <= i && i <= 1<<53 {
		return strconv.AppendInt(dst, i, 10)
	}
	return jsonio.AppendDouble(dst, f)
}

// maxInt is the largest integer that Perfetto reads.
const maxInt = "9223372036854775807"

// largeInteger returns the range of the first integer larger than maxInt in the JSON text b[from:], or len(b) twice if
// there is none. from must not be inside a string.
func largeInteger(b []byte, from int) (start, end int) {
	for i := from; i < len(b); {
		c := b[i]
		if c == '"' {
			i, _ = jsonio.EndOfString(b, i)
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
