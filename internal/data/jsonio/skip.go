package jsonio

import (
	"errors"
	"fmt"
	"io"
)

// MaxDepth is the maximum nesting depth of arrays and objects.
const MaxDepth = 512

// ErrDepth means that a value exceeds MaxDepth.
var ErrDepth = errors.New("arrays and objects nested too deeply")

// A SyntaxError describes invalid JSON.
type SyntaxError struct {
	Offset int    // byte offset in the text passed to Skip
	Want   string // what would be valid there: "a value", "a colon"
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("byte %d: invalid JSON: want %s", e.Offset, e.Want)
}

// A state determines which tokens may come next.
type state uint8

const (
	wantValue      state = iota
	wantValueOrEnd       // after [
	wantNameOrEnd        // after {
	wantName             // after a comma in an object
	wantColon            // after a name
	wantCommaOrEnd       // after a value in an array or an object
	numStates      int   = iota
)

var wants = [numStates]string{"a value", "a value or ]", `a name in quotes or }`, `a name in quotes`, "a colon", "a comma or the end of the array or object"}

// IsSpace reports whether c is white space in JSON.
func IsSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// SkipSpace returns the index of the first byte at or after b[i] that is not white space, or len(b).
func SkipSpace(b []byte, i int) int {
	for i < len(b) && IsSpace(b[i]) {
		i++
	}
	return i
}

// nesting is the stack of open arrays and objects, one bit per level. It replaces recursion, so that malformed input
// cannot exhaust the goroutine stack.
type nesting struct {
	depth   int
	objects [MaxDepth/64 + 1]uint64 // bit set: object; clear: array
}

// open enters an array or an object and returns the state in it. ok is false if the depth would exceed MaxDepth.
func (n *nesting) open(c byte) (want state, ok bool) {
	if n.depth++; n.depth > MaxDepth {
		return wantValue, false
	}
	word, bit := &n.objects[n.depth>>6], uint64(1)<<(n.depth&63)
	if c == '{' {
		*word |= bit
		return wantNameOrEnd, true
	}
	*word &^= bit
	return wantValueOrEnd, true
}

// separator returns the state after c, which follows a value. ok is false if c is invalid there.
func (n *nesting) separator(c byte) (want state, ok bool) {
	inObject := n.objects[n.depth>>6]>>(n.depth&63)&1 != 0
	switch {
	case c == ',' && inObject:
		return wantName, true
	case c == ',':
		return wantValue, true
	case c == '}' && inObject || c == ']' && !inObject:
		n.depth--
		return wantCommaOrEnd, true
	}
	return wantCommaOrEnd, false
}

// Skip returns the index after the value that begins at b[i] or after white space from there. The error is
// io.ErrUnexpectedEOF if b ends inside the value, a *SyntaxError if it is invalid, or ErrDepth. If b ends with a
// number, Skip succeeds although the number may continue in text after b.
func Skip(b []byte, i int) (end int, err error) {
	var n nesting
	want, ok := wantValue, true
	for {
		for i < len(b) && IsSpace(b[i]) {
			i++
		}
		if i >= len(b) {
			return i, io.ErrUnexpectedEOF
		}
		c := b[i]
		switch want {
		case wantColon:
			if c != ':' {
				return i, &SyntaxError{i, wants[want]}
			}
			i, want = i+1, wantValue
			continue
		case wantCommaOrEnd:
			if want, ok = n.separator(c); !ok {
				return i, &SyntaxError{i, wants[want]}
			}
			i++
		case wantName, wantNameOrEnd:
			if c == '"' {
				if i, err = skipString(b, i); err != nil {
					return i, err
				}
				want = wantColon
				continue
			}
			if c != '}' || want == wantName {
				return i, &SyntaxError{i, wants[want]}
			}
			i, n.depth, want = i+1, n.depth-1, wantCommaOrEnd
		default:
			if c == '{' || c == '[' {
				if want, ok = n.open(c); !ok {
					return i, ErrDepth
				}
				i++
				continue
			}
			if c == ']' && want == wantValueOrEnd {
				i, n.depth = i+1, n.depth-1
			} else if i, err = skipScalar(b, i, want); err != nil {
				return i, err
			}
			want = wantCommaOrEnd
		}
		if n.depth == 0 {
			return i, nil
		}
	}
}

// plain contains the bytes that need no escape in a string.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return t
}()

// skipString returns the index after the string that begins at b[i].
func skipString(b []byte, i int) (int, error) {
	for i++; ; {
		for i < len(b) && plain[b[i]] {
			i++
		}
		if i >= len(b) {
			return i, io.ErrUnexpectedEOF
		}
		switch b[i] {
		case '"':
			return i + 1, nil
		case '\\':
			n, err := escape(b[i:])
			if err != nil {
				return i, locate(err, i)
			}
			i += n
		default:
			return i, &SyntaxError{i, "no control character in a string"}
		}
	}
}

// escape returns the length of the escape sequence at the start of b.
func escape(b []byte) (int, error) {
	if len(b) < 2 {
		return 0, io.ErrUnexpectedEOF
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
		for k := 2; k < 6; k++ {
			if k >= len(b) {
				return 0, io.ErrUnexpectedEOF
			}
			if _, ok := hexDigit(b[k]); !ok {
				return 0, &SyntaxError{k, "four hexadecimal digits"}
			}
		}
		return 6, nil
	}
	return 0, &SyntaxError{1, "a valid escape sequence"}
}

// locate adds at to the offset of a SyntaxError.
func locate(err error, at int) error {
	if s, ok := err.(*SyntaxError); ok {
		s.Offset += at
	}
	return err
}

// hexDigit returns the value of a hexadecimal digit. ok is false for other bytes.
func hexDigit(c byte) (rune, bool) {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0'), true
	case c >= 'a' && c <= 'f':
		return rune(c - 'a' + 10), true
	case c >= 'A' && c <= 'F':
		return rune(c - 'A' + 10), true
	}
	return 0, false
}

// skipScalar returns the index after the string, number or literal that begins at b[i]. want is the state for errors.
func skipScalar(b []byte, i int, want state) (int, error) {
	switch c := b[i]; {
	case c == '"':
		return skipString(b, i)
	case c == '-' || c >= '0' && c <= '9':
		return skipNumber(b, i)
	case c == 't':
		return skipLiteral(b, i, "true")
	case c == 'f':
		return skipLiteral(b, i, "false")
	case c == 'n':
		return skipLiteral(b, i, "null")
	}
	return i, &SyntaxError{i, wants[want]}
}

func skipLiteral(b []byte, i int, text string) (int, error) {
	for k := range len(text) {
		if i+k >= len(b) {
			return i + k, io.ErrUnexpectedEOF
		}
		if b[i+k] != text[k] {
			return i + k, &SyntaxError{i + k, text}
		}
	}
	return i + len(text), nil
}

// skipNumber returns the index after the number that begins at b[i].
func skipNumber(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	from := i
	i = digits(b, i)
	switch {
	case i == len(b) && i == from:
		return i, io.ErrUnexpectedEOF
	case i == from:
		return i, &SyntaxError{i, "a digit"}
	case b[from] == '0' && i > from+1:
		return from + 1, &SyntaxError{from + 1, "no digit after a leading 0"}
	}
	if i < len(b) && b[i] == '.' {
		from = i + 1
		if i = digits(b, from); i == from {
			return digitWanted(b, i)
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from = i
		if i = digits(b, from); i == from {
			return digitWanted(b, i)
		}
	}
	return i, nil
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

// digitWanted returns the error for a missing digit at b[i].
func digitWanted(b []byte, i int) (int, error) {
	if i == len(b) {
		return i, io.ErrUnexpectedEOF
	}
	return i, &SyntaxError{i, "a digit"}
}
