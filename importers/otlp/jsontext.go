package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// A jsonText reads the values of a JSON text, whose syntax has been validated, in their order. Its methods that read a
// value consume it also if it has another kind; ok is then false. Null is the zero of all kinds but bool and float.
// Strings without escapes are substrings of text.
type jsonText struct {
	jsonio.Scanner
	text string // same content as Scanner.Text
}

func (j *jsonText) reset(b []byte) { *j = jsonText{jsonio.Scanner{Text: b}, string(b)} }

// skip consumes a value and returns false.
func (j *jsonText) skip() bool {
	j.Skip()
	return false
}

// members calls f for each member of an object with the name; f must consume the value. ok is true if the value is an
// object and all calls returned true.
func (j *jsonText) members(f func(name string) bool) (ok bool) {
	if ok = j.Open('{'); !ok {
		return j.skip()
	}
	for j.More('}') {
		name := j.contents()
		j.Accept(':')
		ok = f(name) && ok
	}
	return ok
}

// elems calls f for each element of a list; f must consume it. ok is true if the value is a list or null and all calls
// returned true.
func (j *jsonText) elems(f func() bool) (ok bool) {
	if ok = j.Open('['); !ok {
		return j.null() || j.skip()
	}
	for j.More(']') {
		ok = f() && ok
	}
	return ok
}

// null consumes a value if it is null, and reports whether it was.
func (j *jsonText) null() bool { return j.Literal("null") }

// contents reads a string. It returns invalid UTF-8 unchanged.
func (j *jsonText) contents() string {
	j.Peek()
	from := j.Pos + 1
	b, escapes, ok := j.String()
	switch {
	case !ok:
		return ""
	case escapes:
		b, _, _ = jsonio.AppendUnescaped(nil, b)
		return string(b)
	}
	return j.text[from : from+len(b)]
}

// raw reads a value and returns its first byte, and the text of a number or literal or the contents of a string.
func (j *jsonText) raw() (kind byte, s string) {
	kind = j.Peek()
	if kind == '"' {
		return kind, j.contents()
	}
	from := j.Pos
	j.Skip()
	return kind, j.text[from:j.Pos]
}

func (j *jsonText) str() (string, bool) {
	kind, s := j.raw()
	if kind != '"' {
		return "", kind == 'n'
	}
	return s, true
}

// int decodes an integer from a number or a string. Like protojson it accepts 1e3 and 2.0.
func (j *jsonText) int() (int64, bool) {
	kind, s := j.raw()
	return parseInt(kind, s)
}

func parseInt(kind byte, s string) (int64, bool) {
	if kind == 'n' {
		return 0, true
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return v, true
	}
	f, ok := exactFloat(s)
	return int64(f), ok && f >= math.MinInt64 && f < math.MaxInt64
}

// uint is int for unsigned integers.
func (j *jsonText) uint() (uint64, bool) {
	kind, s := j.raw()
	if kind == 'n' {
		return 0, true
	}
	if v, err := strconv.ParseUint(s, 10, 64); err == nil {
		return v, true
	}
	f, ok := exactFloat(s)
	return uint64(f), ok && f >= 0 && f < math.MaxUint64
}

// uint32 is uint for 32-bit integers.
// bits decodes an integer of 64 bits with or without a sign.
func (j *jsonText) bits() (uint64, bool) {
	kind, s := j.raw()
	if n, ok := parseInt(kind, s); ok {
		return uint64(n), true
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil && (kind == '"' || kind >= '0' && kind <= '9')
}

func (j *jsonText) uint32() (uint32, bool) {
	v, ok := j.uint()
	return uint32(v), ok && v <= math.MaxUint32
}

// exactFloat parses a decimal number with or without exponent. It returns false if the number is not an integer.
func exactFloat(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && f == math.Trunc(f) && !strings.ContainsAny(s, "xXnN_")
}

// float decodes a number, which may also be a string, including NaN, Infinity and -Infinity.
func (j *jsonText) float() (float64, bool) {
	kind, s := j.raw()
	f, err := strconv.ParseFloat(s, 64)
	return f, (err == nil || math.IsInf(f, 0)) && kind != 't' && kind != 'f' && !strings.ContainsAny(s, "xX_")
}

func (j *jsonText) bool() (v, ok bool) {
	kind, _ := j.raw()
	return kind == 't', kind == 't' || kind == 'f'
}

// hex decodes an ID into dst and returns its length in bytes. It stores nothing if the length differs from that of dst.
func (j *jsonText) hex(dst []byte) (size int, ok bool) {
	clear(dst)
	s, ok := j.str()
	if !ok || len(s)%2 != 0 {
		return 0, false
	}
	if len(s) != 2*len(dst) {
		return len(s) / 2, true
	}
	var digits [32]byte
	if _, err := hex.Decode(dst, digits[:copy(digits[:], s)]); err != nil {
		clear(dst)
		return 0, false
	}
	return len(dst), true
}

// base64 decodes bytes in the standard or URL alphabet, with or without padding.
func (j *jsonText) base64() (string, bool) {
	s, ok := j.str()
	if !ok {
		return "", false
	}
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(s), "=")
	b, err := base64.RawStdEncoding.DecodeString(s)
	return string(b), err == nil
}
