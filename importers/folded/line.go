package folded

import (
	"bytes"
	"math"
	"math/bits"
)

// trimLine removes the line break and the white space before it.
func trimLine(line []byte) []byte { return bytes.TrimRight(line, " \t\r\n") }

// isIgnored reports whether a line is empty or a comment.
func isIgnored(line []byte) bool {
	return len(line) == 0 || line[0] == '#' && (len(line) == 1 || line[1] == ' ')
}

// cutValue splits a line before the white space that precedes its last word. It returns false if the last word is not
// an unsigned decimal number, or if nothing precedes it. flamegraph.pl recognizes lines in the same way.
func cutValue(line []byte) (stack, value []byte, ok bool) {
	at := bytes.LastIndexAny(line, " \t")
	if at < 0 {
		return nil, nil, false
	}
	value = line[at+1:]
	digits := len(value)
	for i, c := range value {
		if c == '.' && digits == len(value) && i > 0 {
			digits = i
		} else if c < '0' || c > '9' {
			return nil, nil, false
		}
	}
	if stack = trimLine(line[:at]); digits == 0 || len(bytes.TrimLeft(stack, " \t")) == 0 {
		return nil, nil, false
	}
	return stack, value, true
}

// maxDecimals is the largest n for which 10^n is below 2^63.
const maxDecimals = 18

// parseValue returns text times 10 to the power of decimals as an integer, rounded half up. rounded is true if this
// changed the value. ok is false if the result exceeds 63 bits.
func parseValue(text []byte, decimals int) (value int64, rounded, ok bool) {
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	n := uint64(0)
	digit := func(d byte) bool {
		hi, lo := bits.Mul64(n, 10)
		var carry uint64
		n, carry = bits.Add64(lo, uint64(d), 0)
		return hi == 0 && carry == 0 && n <= math.MaxInt64
	}
	for _, c := range whole {
		if !digit(c - '0') {
			return 0, false, false
		}
	}
	for i := range decimals {
		d := byte(0)
		if i < len(fraction) {
			d = fraction[i] - '0'
		}
		if !digit(d) {
			return 0, false, false
		}
	}
	if len(fraction) > decimals {
		rest := fraction[decimals:]
		rounded = len(bytes.Trim(rest, "0")) > 0
		if rest[0] >= '5' {
			n++
		}
	}
	return int64(n), rounded, n <= math.MaxInt64
}

// cutAnnotation removes the suffix that marks the kind of a function, and returns its letter: i for inlined, k for
// kernel, j for JIT-compiled. letter is 0 if there is no suffix, or if the name consists of a suffix only.
func cutAnnotation(name []byte) (rest []byte, letter byte) {
	n := len(name) - len("_[k]")
	if n <= 0 || name[n] != '_' || name[n+1] != '[' || name[n+3] != ']' {
		return name, 0
	}
	switch c := name[n+2]; c {
	case 'i', 'k', 'j':
		return name[:n], c
	}
	return name, 0
}
