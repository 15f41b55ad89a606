package jsonscan

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Members iterates over the members of an object. The zero value has none. It borrows the text.
type Members struct {
	b []byte
	i int
}

// MembersOf returns an iterator over an object that Skip has validated. A value of another kind has no members.
func MembersOf(object []byte) Members {
	i := SkipSpace(object, 0)
	if i >= len(object) || object[i] != '{' {
		return Members{}
	}
	return Members{object, i + 1}
}

// Next returns the next member unchanged from the text, the name with its quotes. Both alias the text. ok is false
// after the last member.
func (m *Members) Next() (name, value []byte, ok bool) {
	i := m.skipTo()
	if i >= len(m.b) || m.b[i] != '"' {
		m.i = len(m.b)
		return nil, nil, false
	}
	end := endOfString(m.b, i)
	name = m.b[i:end]
	for i = end; i < len(m.b) && (IsSpace(m.b[i]) || m.b[i] == ':'); {
		i++
	}
	m.i = End(m.b, i)
	return name, m.b[i:m.i], true
}

// skipTo returns the index of the next member or element, or of the closing bracket.
func (m *Members) skipTo() int {
	i := m.i
	for i < len(m.b) && (IsSpace(m.b[i]) || m.b[i] == ',') {
		i++
	}
	return i
}

// Elements iterates over the elements of an array. The zero value has none. It borrows the text.
type Elements struct{ m Members }

// ElementsOf returns an iterator over an array that Skip has validated. A value of another kind has no elements.
func ElementsOf(array []byte) Elements {
	i := SkipSpace(array, 0)
	if i >= len(array) || array[i] != '[' {
		return Elements{}
	}
	return Elements{Members{array, i + 1}}
}

// Next returns the next element unchanged from the text, which it aliases. ok is false after the last element.
func (e *Elements) Next() (value []byte, ok bool) {
	i := e.m.skipTo()
	if i >= len(e.m.b) || e.m.b[i] == ']' {
		e.m.i = len(e.m.b)
		return nil, false
	}
	e.m.i = End(e.m.b, i)
	return e.m.b[i:e.m.i], true
}

// End returns the index after the value that begins at b[i], which Skip must have validated.
func End(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return endOfString(b, i)
	case '{', '[':
		for depth := 0; i < len(b); {
			switch b[i] {
			case '"':
				i = endOfString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return len(b)
	}
	for i < len(b) && !delimiter[b[i]] {
		i++
	}
	return i
}

// delimiter contains the bytes that end a number or a literal.
var delimiter = [256]bool{' ': true, '\n': true, '\r': true, '\t': true, ',': true, ']': true, '}': true, ':': true}

// endOfString returns the index after the valid string that begins at b[i].
func endOfString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(b)
}

// IsPlain reports whether a quoted string has no escape sequence, so that the bytes between its quotes are its
// contents.
func IsPlain(quoted []byte) bool {
	for _, c := range quoted {
		if c == '\\' {
			return false
		}
	}
	return true
}

// AppendUnquoted appends the contents of a quoted string that Skip has validated to dst. exact is false if the contents
// are invalid Unicode: unpaired surrogates and bytes that are not UTF-8 become U+FFFD.
func AppendUnquoted(dst, quoted []byte) (text []byte, exact bool) {
	if len(quoted) < 2 || quoted[0] != '"' {
		return dst, false
	}
	b := quoted[1 : len(quoted)-1]
	exact = true
	for len(b) > 0 {
		if c := b[0]; c != '\\' && c < utf8.RuneSelf {
			dst, b = append(dst, c), b[1:]
			continue
		} else if c != '\\' {
			r, n := utf8.DecodeRune(b)
			exact = exact && !(r == utf8.RuneError && n == 1)
			dst, b = utf8.AppendRune(dst, r), b[n:]
			continue
		}
		r, n, ok := unescape(b)
		exact = exact && ok
		dst, b = utf8.AppendRune(dst, r), b[n:]
	}
	return dst, exact
}

// unescape returns the character of the escape sequence at the start of b and the length of the sequence. ok is false
// for an unpaired surrogate.
func unescape(b []byte) (r rune, n int, ok bool) {
	if len(b) < 2 {
		return utf8.RuneError, len(b), false
	}
	switch c := b[1]; c {
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
	case 'u':
	default:
		return rune(c), 2, true
	}
	r = unit(b)
	if !utf16.IsSurrogate(r) {
		return r, min(6, len(b)), r >= 0
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if pair := utf16.DecodeRune(r, unit(b[6:])); pair != utf8.RuneError {
			return pair, 12, true
		}
	}
	return utf8.RuneError, 6, false
}

// unit returns the UTF-16 code unit of the \uXXXX sequence at the start of b.
func unit(b []byte) (r rune) {
	if len(b) < 6 {
		return utf8.RuneError
	}
	for _, c := range b[2:6] {
		d, _ := hexDigit(c)
		r = r<<4 | d
	}
	return r
}

// AppendQuoted appends text as a JSON string, with \u000d for a carriage return. Bytes that are not UTF-8 become
// U+FFFD.
func AppendQuoted[T string | []byte](dst []byte, text T) []byte {
	dst, _ = appendString(dst, text, `\u000d`)
	return dst
}

// AppendString appends text as a JSON string, with \r for a carriage return. Bytes that are not UTF-8, including
// encoded surrogates, become U+FFFD; valid is then false.
func AppendString[T string | []byte](dst []byte, text T) (_ []byte, valid bool) {
	return appendString(dst, text, `\r`)
}

func appendString[T string | []byte](dst []byte, text T, carriageReturn string) (_ []byte, valid bool) {
	const digits = "0123456789abcdef"
	dst, valid = append(dst, '"'), true
	from := 0 // text[from:i] needs no escape
	for i := 0; i < len(text); {
		c := text[i]
		if plain[c] && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(string(text[i:min(len(text), i+utf8.UTFMax)]))
			if r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
		}
		dst = append(dst, text[from:i]...)
		switch {
		case c >= utf8.RuneSelf:
			dst, valid = append(dst, "\uFFFD"...), false
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, carriageReturn...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, text[from:]...), '"'), valid
}
