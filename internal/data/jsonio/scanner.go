package jsonio

import "iter"

// A Scanner moves over JSON text in memory and checks only what it needs to find the ends of values: it accepts all
// valid JSON and some invalid text. It does not recurse. The text is borrowed.
//
// To read an object or a list without scanning nested values more than once, enter it and take its parts in order:
//
//	for ok := s.Open('{'); ok && s.More('}'); {
//		name, _, _ := s.Name()
//		... // read or skip the value
//	}
type Scanner struct {
	Text []byte
	Pos  int // index of the next byte

	opened bool // Open has been called, and nothing after it
}

// Peek skips white space and returns the byte after it without consuming it, or 0 at the end of the text.
func (s *Scanner) Peek() byte {
	for ; s.Pos < len(s.Text); s.Pos++ {
		if c := s.Text[s.Pos]; c > ' ' || !IsSpace(c) {
			return c
		}
	}
	return 0
}

// Accept skips white space and consumes c. It returns false if another byte comes next.
func (s *Scanner) Accept(c byte) bool {
	if s.Peek() != c {
		return false
	}
	s.Pos++
	return true
}

// Literal skips white space and consumes text. It returns false if other text comes next.
func (s *Scanner) Literal(text string) bool {
	s.Peek()
	if len(s.Text)-s.Pos < len(text) || string(s.Text[s.Pos:s.Pos+len(text)]) != text {
		return false
	}
	s.Pos += len(text)
	return true
}

// Number skips white space, and consumes and returns the characters that can be part of a number, possibly none.
func (s *Scanner) Number() []byte {
	s.Peek()
	from := s.Pos
	for ; s.Pos < len(s.Text); s.Pos++ {
		if c := s.Text[s.Pos]; (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			break
		}
	}
	return s.Text[from:s.Pos]
}

// String consumes a string and returns the text between its quotes, and whether it contains escapes, which
// AppendUnescaped replaces. ok is false if no string comes next, or if the text ends before the string does.
func (s *Scanner) String() (text []byte, escapes, ok bool) {
	if !s.Accept('"') {
		return nil, false, false
	}
	for from := s.Pos; s.Pos < len(s.Text); s.Pos++ {
		switch s.Text[s.Pos] {
		case '"':
			s.Pos++
			return s.Text[from : s.Pos-1], escapes, true
		case '\\':
			s.Pos++
			escapes = true
		}
	}
	s.Pos = len(s.Text)
	return nil, false, false
}

// Skip consumes a value. It returns false if there is none, or if the text ends before the value does.
func (s *Scanner) Skip() (ok bool) {
	s.Peek()
	from := s.Pos
	s.Pos, ok = end(s.Text, from)
	return ok && s.Pos > from
}

// Open consumes c, which opens an object or a list. It returns false if another byte comes next.
func (s *Scanner) Open(c byte) bool {
	s.opened = s.Accept(c)
	return s.opened
}

// More reports whether another member or element comes next, after consuming the comma before it. Otherwise it consumes
// c, which closes the object or list that Open has opened, unless the text ends or is invalid there.
func (s *Scanner) More(c byte) bool {
	first := s.opened
	s.opened = false
	return !s.Accept(c) && (first || s.Accept(',')) && s.Peek() != 0
}

// Name consumes the name of a member, with its colon. Its results are those of String.
func (s *Scanner) Name() (name []byte, escapes, ok bool) {
	name, escapes, ok = s.String()
	return name, escapes, s.Accept(':') && ok
}

// Members iterates over the members of an object. The zero value has none. It borrows the text.
type Members struct {
	b    []byte
	i    int
	rest []byte
}

// MembersOf returns an iterator over an object that is valid, or the beginning of one. A value of another kind has no
// members.
func MembersOf(object []byte) Members { return open(object, '{') }

func open(b []byte, c byte) Members {
	i := SkipSpace(b, 0)
	if i >= len(b) || b[i] != c {
		return Members{}
	}
	return Members{b: b, i: i + 1}
}

// Next returns the next member unchanged from the text, the name with its quotes. Both alias the text. ok is false
// after the last complete member.
func (m *Members) Next() (name, value []byte, ok bool) {
	i := m.skipTo()
	if i >= len(m.b) || m.b[i] != '"' {
		m.i = len(m.b)
		return nil, nil, false
	}
	after, _ := EndOfString(m.b, i)
	name = m.b[i:after]
	for i = after; i < len(m.b) && (IsSpace(m.b[i]) || m.b[i] == ':'); {
		i++
	}
	value, ok = m.value(i)
	return name, value, ok
}

// Rest returns the beginning of the value that the text does not complete, or nil. It is known once Next has returned
// false.
func (m *Members) Rest() []byte { return m.rest }

// skipTo returns the index of the next member or element, or of the closing bracket.
func (m *Members) skipTo() int {
	i := m.i
	for i < len(m.b) && (IsSpace(m.b[i]) || m.b[i] == ',') {
		i++
	}
	return i
}

// value returns the value at b[i], if it is complete. A number at the end of the text may continue.
func (m *Members) value(i int) (value []byte, ok bool) {
	m.i, ok = end(m.b, i)
	if ok = ok && m.i < len(m.b); !ok {
		m.rest, m.i = m.b[i:], len(m.b)
		return nil, false
	}
	return m.b[i:m.i], true
}

// Elements iterates over the elements of an array. The zero value has none. It borrows the text.
type Elements struct{ m Members }

// ElementsOf returns an iterator over an array that is valid, or the beginning of one. A value of another kind has no
// elements.
func ElementsOf(array []byte) Elements { return Elements{open(array, '[')} }

// Next returns the next element unchanged from the text, which it aliases. ok is false after the last complete element.
func (e *Elements) Next() (value []byte, ok bool) {
	i := e.m.skipTo()
	if i >= len(e.m.b) || e.m.b[i] == ']' {
		e.m.i = len(e.m.b)
		return nil, false
	}
	return e.m.value(i)
}

// Rest is Members.Rest for elements.
func (e *Elements) Rest() []byte { return e.m.rest }

// EachMember returns the names and values that Next returns for MembersOf(object). A loop over it takes a little longer
// per member.
func EachMember(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		members := MembersOf(object)
		for name, value, ok := members.Next(); ok && yield(name, value); {
			name, value, ok = members.Next()
		}
	}
}

// EachElement returns the values that Next returns for ElementsOf(array).
func EachElement(array []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		elements := ElementsOf(array)
		for value, ok := elements.Next(); ok && yield(value); {
			value, ok = elements.Next()
		}
	}
}

// End returns the index after the value that begins at b[i], which must be valid.
func End(b []byte, i int) int {
	i, _ = end(b, i)
	return i
}

// end returns the index after the value that begins at b[i]. ok is false if b ends inside an object, a list or a
// string.
func end(b []byte, i int) (_ int, ok bool) {
	if i >= len(b) {
		return len(b), false
	}
	switch b[i] {
	case '"':
		return EndOfString(b, i)
	case '{', '[':
		for depth := 0; i < len(b); {
			switch b[i] {
			case '"':
				i, _ = EndOfString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1, true
				}
			}
			i++
		}
		return len(b), false
	}
	for i < len(b) && !delimiter[b[i]] {
		i++
	}
	return i, true
}

// delimiter contains the bytes that end a number or a literal.
var delimiter = [256]bool{' ': true, '\n': true, '\r': true, '\t': true, ',': true, ']': true, '}': true, ':': true}

// EndOfString returns the index after the string that begins at b[i]. ok is false if b ends before the string does; the
// index is then len(b).
func EndOfString(b []byte, i int) (end int, ok bool) {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1, true
		case '\\':
			i++
		}
	}
	return len(b), false
}
