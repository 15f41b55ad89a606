package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A node is a JSON value within b. The syntax of b has been validated, unless b is the beginning of a truncated value:
// then methods fail at its end. The zero node is null. Strings without escapes are substrings of text.
//
// The end of an object or array is either known in advance or found when its iterator reaches it. In the second case
// all iterators share a scanner: read each value before you ask for the next one, and exhaust every iterator that you
// have started. Therefore the text of nested values is scanned once, not once per level.
type node struct {
	b        []byte // same content as b, or ""
	text     string // the same bytes, or ""
	from, to int
	shared   *scanner // if not nil, to is not the end of an object or array
}

// A scanner moves over JSON text.
type scanner struct {
	b   []byte
	pos int
}

// peek skips white space and returns the next byte without consuming it, or 0 at the end.
func (s *scanner) peek() byte {
	for ; s.pos < len(s.b); s.pos++ {
		switch c := s.b[s.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// accept skips white space and consumes the next byte if it is c.
func (s *scanner) accept(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

// skipString skips a string, including both quotation marks.
func (s *scanner) skipString() (ok bool) {
	for i := s.pos + 1; i < len(s.b); i++ {
		switch s.b[i] {
		case '\\':
			i++
		case '"':
			s.pos = i + 1
			return true
		}
	}
	s.pos = len(s.b)
	return false
}

// skipValue skips a value and returns its range. ok is false if the value is incomplete.
func (s *scanner) skipValue() (from, to int, ok bool) {
	c := s.peek()
	from = s.pos
	switch c {
	case '"':
		ok = s.skipString()
	case '{', '[':
		ok = s.skipNested()
	default:
		for s.pos < len(s.b) && !isDelimiter(s.b[s.pos]) {
			s.pos++
		}
		ok = s.pos > from && s.pos < len(s.b) // a number at the end of the text may continue
	}
	return from, s.pos, ok
}

func isDelimiter(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ':'
}

// skipNested skips an object or array.
func (s *scanner) skipNested() bool {
	for depth := 0; s.pos < len(s.b); {
		switch s.b[s.pos] {
		case '"':
			if !s.skipString() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if s.pos++; depth == 0 {
			return true
		}
	}
	return false
}

// kind returns the first byte of a value: '{', '[', '"', 't', 'f', 'n', '-' or a digit. It returns 'n' for the zero
// node.
func (n node) kind() byte {
	if n.from >= n.to {
		return 'n'
	}
	return n.b[n.from]
}

// sub returns the node of a range of the same text.
func (n node) sub(from, to int) node { return node{b: n.b, text: n.text, from: from, to: to} }

// share returns the same value with iterators that share s. It copies the text once, for strings that refer to it.
func (n node) share(s *scanner) node {
	b := n.b[n.from:n.to]
	*s = scanner{b: b}
	return node{b: b, text: string(b), to: len(b), shared: s}
}

// An iterator returns the members of an object or the elements of an array. The zero iterator returns nothing.
type iterator struct {
	n       node
	own     scanner // used if n.shared is nil
	first   bool
	done    bool
	pending int // position of an object or array that the caller may have read with an iterator of its own; more skips it otherwise. 0 means none
	// partial means that the text ends within the value and that the iterator has returned all complete members or
	// elements. rest is the beginning of the incomplete one, if its value has begun.
	partial bool
	rest    node
}

// scanner returns the scanner that the iterator moves.
func (it *iterator) scanner() *scanner {
	if it.n.shared != nil {
		return it.n.shared
	}
	return &it.own
}

// members returns an iterator over an object. It returns an empty iterator if n is another value.
func (n node) members() iterator { return n.iterate('{') }

// elems returns an iterator over an array. It returns an empty iterator if n is another value.
func (n node) elems() iterator { return n.iterate('[') }

// iterate returns an iterator over n, whose first byte must be open.
func (n node) iterate(open byte) iterator {
	if n.kind() != open {
		return iterator{done: true}
	}
	it := iterator{n: n, own: scanner{n.b[:n.to], n.from + 1}, first: true}
	it.scanner().pos = n.from + 1
	return it
}

// next returns the next element of an array.
func (it *iterator) next() (elem node, ok bool) {
	if !it.more() {
		return node{}, false
	}
	return it.value()
}

// nextMember returns the next member of an object. The name is a JSON string.
func (it *iterator) nextMember() (name, value node, ok bool) {
	if !it.more() {
		return node{}, node{}, false
	}
	s := it.scanner()
	from := s.pos
	it.partial = s.peek() != '"' || !s.skipString()
	name = it.n.sub(from, s.pos)
	it.partial = it.partial || !s.accept(':')
	if it.partial {
		return node{}, node{}, false
	}
	value, ok = it.value()
	return name, value, ok
}

// more skips the separator and reports whether another member or element follows.
func (it *iterator) more() bool {
	if it.partial || it.done {
		return false
	}
	s := it.scanner()
	if it.pending > 0 && s.pos == it.pending {
		s.skipNested()
	}
	it.pending = 0
	switch c := s.peek(); {
	case c == '}' || c == ']':
		s.pos++
		it.done = true
		return false
	case c == ',' && !it.first:
		s.pos++
	}
	it.first = false
	it.partial = s.peek() == 0
	return !it.partial
}

// value returns the value at the scanner. For a shared scanner it leaves objects and arrays to the caller.
func (it *iterator) value() (node, bool) {
	s := it.scanner()
	if c := s.peek(); it.n.shared != nil && (c == '{' || c == '[') {
		it.pending = s.pos
		v := it.n.sub(s.pos, len(s.b))
		v.shared = it.n.shared
		return v, true
	}
	from, to, ok := s.skipValue()
	if !ok {
		it.partial, it.rest = true, it.n.sub(from, len(s.b))
		return node{}, false
	}
	return it.n.sub(from, to), true
}

// str decodes a string. Invalid UTF-8 without escapes is returned unchanged.
func (n node) str() (string, bool) {
	if n.kind() == 'n' {
		return "", true
	}
	if n.kind() != '"' || n.to-n.from < 2 {
		return "", false
	}
	for _, c := range n.b[n.from+1 : n.to-1] {
		if c == '\\' {
			b, _ := jsontext.AppendUnquote(nil, n.b[n.from:n.to]) // an error only means that invalid UTF-8 was replaced
			return string(b), true
		}
	}
	if n.text != "" {
		return n.text[n.from+1 : n.to-1], true
	}
	return string(n.b[n.from+1 : n.to-1]), true
}

// raw returns the text of a number or the contents of a string.
func (n node) raw() string {
	if n.kind() == '"' {
		s, _ := n.str()
		return s
	}
	if n.text != "" {
		return n.text[n.from:n.to]
	}
	return string(n.b[n.from:n.to])
}

// int decodes an integer from a number or a string. Like protojson it accepts 1e3 and 2.0.
func (n node) int() (int64, bool) {
	if n.kind() == 'n' {
		return 0, true
	}
	s := n.raw()
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return v, true
	}
	f, ok := exactFloat(s)
	return int64(f), ok && f >= math.MinInt64 && f < math.MaxInt64
}

// uint is int for unsigned integers.
func (n node) uint() (uint64, bool) {
	if n.kind() == 'n' {
		return 0, true
	}
	s := n.raw()
	if v, err := strconv.ParseUint(s, 10, 64); err == nil {
		return v, true
	}
	f, ok := exactFloat(s)
	return uint64(f), ok && f >= 0 && f < math.MaxUint64
}

// uint32 is uint for 32-bit integers.
func (n node) uint32() (uint32, bool) {
	v, ok := n.uint()
	return uint32(v), ok && v <= math.MaxUint32
}

// exactFloat parses a decimal number with or without exponent. It returns false if the number is not an integer.
func exactFloat(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && f == math.Trunc(f) && !strings.ContainsAny(s, "xXnN_")
}

// float decodes a number, which may also be a string, including NaN, Infinity and -Infinity.
func (n node) float() (float64, bool) {
	s := n.raw()
	f, err := strconv.ParseFloat(s, 64)
	return f, (err == nil || math.IsInf(f, 0)) && n.kind() != 't' && n.kind() != 'f' && !strings.ContainsAny(s, "xX_")
}

func (n node) bool() (v, ok bool) { return n.kind() == 't', n.kind() == 't' || n.kind() == 'f' }

// hex decodes an ID into dst and returns its length in bytes. It stores nothing if the length differs from that of dst.
func (n node) hex(dst []byte) (size int, ok bool) {
	clear(dst)
	s, ok := n.str()
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
func (n node) base64() (string, bool) {
	s, ok := n.str()
	if !ok {
		return "", false
	}
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(s), "=")
	b, err := base64.RawStdEncoding.DecodeString(s)
	return string(b), err == nil
}
