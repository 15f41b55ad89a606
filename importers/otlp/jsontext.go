package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A node is a JSON value within b. The syntax of b was checked, unless it is the beginning of a truncated value: then
// the methods fail at its end. The zero node is null. Strings are substrings of text where they have no escapes.
//
// The end of an object or an array is either known, or found as its iterator reaches it. In the second case all
// iterators share a scanner, each value must be read before the next one is, and an iterator that has begun must reach
// its end. So deeply nested values are read once, and not once per level.
type node struct {
	b        []byte
	text     string // the same bytes, or ""
	from, to int
	shared   *scanner // not nil: to is not the end of an object or an array
}

// A scanner walks over JSON text.
type scanner struct {
	b   []byte
	pos int
}

// peek skips white space and returns the next byte, 0 at the end.
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

// accept skips white space and a byte if that is next.
func (s *scanner) accept(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

// skipString skips a string.
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

// skipValue skips a value and returns its range. It fails if the value does not end.
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
		ok = s.pos > from && s.pos < len(s.b) // a number at the end may continue
	}
	return from, s.pos, ok
}

func isDelimiter(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ':'
}

// skipNested skips an object or an array.
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

// kind returns the first byte of a value: '{', '[', '"', 't', 'f', 'n', '-' or a digit.
func (n node) kind() byte {
	if n.from >= n.to {
		return 'n'
	}
	return n.b[n.from]
}

// sub returns the node of a range of the same text.
func (n node) sub(from, to int) node { return node{b: n.b, text: n.text, from: from, to: to} }

// share returns the same value, whose iterators share s. Strings are substrings of text, which has the bytes of b.
func (n node) share(s *scanner) node {
	b := n.b[n.from:n.to]
	*s = scanner{b: b}
	return node{b: b, text: string(b), to: len(b), shared: s}
}

// An iterator yields the members of an object or the elements of an array. The zero iterator yields nothing.
type iterator struct {
	n       node
	own     scanner // if n.shared is nil
	first   bool
	done    bool
	pending int // position of a value that is read by an iterator of its own or must be skipped, 0 if none
	// partial means that the value does not end, and that the iterator has yielded what is complete. If the last member
	// or element has begun, rest is the beginning of its value.
	partial bool
	rest    node
}

// scanner returns the scanner that the iterator advances.
func (it *iterator) scanner() *scanner {
	if it.n.shared != nil {
		return it.n.shared
	}
	return &it.own
}

// members returns an iterator over an object, which has no members if n is another value.
func (n node) members() iterator { return n.iterate('{') }

// elems returns an iterator over an array, which has no elements if n is another value.
func (n node) elems() iterator { return n.iterate('[') }

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

// nextMember returns the next member of an object. The name is a string.
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

// more skips what separates elements and reports whether another one follows.
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

// value returns the value at the scanner.
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

// str returns a string. Escapes are decoded; bytes that are not UTF-8 stay.
func (n node) str() (string, bool) {
	if n.kind() == 'n' {
		return "", true
	}
	if n.kind() != '"' || n.to-n.from < 2 {
		return "", false
	}
	for _, c := range n.b[n.from+1 : n.to-1] {
		if c == '\\' {
			b, _ := jsontext.AppendUnquote(nil, n.b[n.from:n.to]) // an error means that invalid UTF-8 was replaced
			return string(b), true
		}
	}
	if n.text != "" {
		return n.text[n.from+1 : n.to-1], true
	}
	return string(n.b[n.from+1 : n.to-1]), true
}

// raw returns the text of a number or the content of a string.
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

// int returns an integer from a number or a string. Like protojson it accepts 1e3 and 2.0.
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

// uint is int for numbers without sign.
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

// uint32 is uint for numbers of 32 bits.
func (n node) uint32() (uint32, bool) {
	v, ok := n.uint()
	return uint32(v), ok && v <= math.MaxUint32
}

// exactFloat returns a number in scientific or decimal notation that is an integer.
func exactFloat(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && f == math.Trunc(f) && !strings.ContainsAny(s, "xXnN_")
}

// float returns a number, which may be a string, also one of NaN, Infinity and -Infinity.
func (n node) float() (float64, bool) {
	s := n.raw()
	f, err := strconv.ParseFloat(s, 64)
	return f, (err == nil || math.IsInf(f, 0)) && n.kind() != 't' && n.kind() != 'f' && !strings.ContainsAny(s, "xX_")
}

func (n node) bool() (v, ok bool) { return n.kind() == 't', n.kind() == 't' || n.kind() == 'f' }

// hex decodes an ID into dst and returns its length in bytes. It stores nothing if the length is not that of dst.
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

// base64 decodes bytes in the standard or the URL alphabet, with or without padding.
func (n node) base64() (string, bool) {
	s, ok := n.str()
	if !ok {
		return "", false
	}
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(s), "=")
	b, err := base64.RawStdEncoding.DecodeString(s)
	return string(b), err == nil
}
