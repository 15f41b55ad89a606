package scrub

import (
	"bytes"
	"encoding/hex"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"unicode/utf16"
	"unicode/utf8"
)

// A scanner replaces the words of one text.
type scanner struct {
	*texts
	class *class
	text  []byte // valid UTF-8
	at    int    // position in text
	dst   []byte

	json   bool // strings have the escapes of JSON
	quoted bool // inside a string of JSON
	word   []rune
	forms  []form // of the characters of word
}

// A form is the way in which a text spells a character.
type form uint8

const (
	formRaw     form = iota
	formPercent      // %C3%A9, in URLs
	formUnicode      // \u00e9, in JSON
)

func (s *scanner) run() {
	s.word, s.forms = s.texts.word[:0], s.texts.forms[:0]
	defer func() { s.texts.word, s.texts.forms = s.word, s.forms }()
	for s.at < len(s.text) {
		switch r, size, _ := s.next(); {
		case s.json && s.text[s.at] == '"':
			s.quote()
		case isWordRune(r):
			s.wordOrMore()
		default:
			s.copy(size)
		}
	}
}

// next decodes the character at the position, its size in the text and its form.
func (s *scanner) next() (r rune, size int, f form) {
	rest := s.text[s.at:]
	switch b := rest[0]; {
	case b == '%':
		if r, n := percentRune(rest); n > 0 {
			return r, n, formPercent
		}
	case b == '\\' && s.json && len(rest) > 1:
		if r, n, _ := jsonio.Unescape(rest); n >= len(`\u0000`) {
			return r, n, formUnicode
		}
		if s.quoted && rest[1] < utf8.RuneSelf {
			return '\\', 2, formRaw
		}
	case b >= utf8.RuneSelf:
		r, n := utf8.DecodeRune(rest)
		return r, n, formRaw
	}
	return rune(rest[0]), 1, formRaw
}

// percentRune decodes a percent-encoded character. n is 0 if there is none.
func percentRune(b []byte) (r rune, n int) {
	var enc [utf8.UTFMax]byte
	for k := range enc {
		if len(b) < 3 || b[0] != '%' || !isHex(rune(b[1])) || !isHex(rune(b[2])) {
			return 0, 0
		}
		_, _ = hex.Decode(enc[k:k+1], b[1:3])
		b = b[3:]
		if utf8.FullRune(enc[:k+1]) {
			if r, size := utf8.DecodeRune(enc[:k+1]); size == k+1 && r != utf8.RuneError {
				return r, 3 * size
			}
			return 0, 0
		}
	}
	return 0, 0
}

func (s *scanner) copy(n int) {
	s.dst = append(s.dst, s.text[s.at:s.at+n]...)
	s.at += n
}

// quote begins or ends a string of JSON. The value of a known key belongs to the class of the key.
func (s *scanner) quote() {
	s.copy(1)
	if s.quoted = !s.quoted; !s.quoted {
		return
	}
	end := stringEnd(s.text, s.at-1)
	after := bytes.TrimLeft(s.text[min(end+1, len(s.text)):], " \t\r\n")
	if len(after) == 0 || after[0] != ':' {
		return
	}
	value := s.policy.keyClass(s.class, s.text[s.at:end])
	if value == nil {
		return
	}
	s.quoted = false
	s.copy(len(s.text) - len(after) + 1 - s.at)
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t') {
		s.copy(1)
	}
	s.member(value)
}

// member replaces a scalar value of JSON by the rules of its class. It leaves other values to run.
func (s *scanner) member(c *class) {
	if s.at == len(s.text) {
		return
	}
	b := s.text[s.at]
	switch {
	case b == '"':
		end := stringEnd(s.text, s.at)
		content := s.text[s.at+1 : end]
		s.copy(1)
		s.at = end
		if bytes.IndexByte(content, '\\') >= 0 && c.action != actionKeep {
			inner := scanner{texts: s.texts, class: c, text: content, dst: s.dst, json: true, quoted: true}
			inner.run()
			s.dst = inner.dst
		} else {
			s.dst = s.texts.append(s.dst, content, c)
		}
		if end < len(s.text) {
			s.copy(1)
		}
	case b == '-' || isDigit(rune(b)):
		n := numberEnd(s.text, s.at) - s.at
		if c.action == actionNumber || c.action == actionKeep {
			s.copy(n)
		} else {
			s.number(n)
		}
	}
}

// stringEnd returns the position of the quote that ends the string of JSON that begins at text[i], or the end of the
// text.
func stringEnd(text []byte, i int) int {
	end, ok := jsonio.EndOfString(text, i)
	if ok {
		end--
	}
	return end
}

// maxNumber is the maximum length of a number of JSON that remains one.
const maxNumber = 64

// numberEnd returns the end of the number of JSON that begins at i.
func numberEnd(text []byte, i int) int {
	text = text[:min(len(text), i+maxNumber)]
	for i < len(text) && (isDigit(rune(text[i])) || bytes.IndexByte([]byte("+-.eE"), text[i]) >= 0) {
		i++
	}
	return i
}

// number replaces the digits of a number of n bytes, except those of its exponent.
func (s *scanner) number(n int) {
	end := s.at + n
	for s.at < end {
		k := s.at
		for k < end && isDigit(rune(s.text[k])) {
			k++
		}
		switch b := s.text[s.at]; {
		case k > s.at:
			s.word = s.word[:0]
			for _, d := range s.text[s.at:k] {
				s.word = append(s.word, rune(d))
			}
			for _, d := range s.dict.pseudonym(s.word) {
				s.dst = append(s.dst, byte(d))
			}
			s.at = k
		case (b == 'e' || b == 'E') && end-s.at <= len("e-308"):
			s.copy(end - s.at)
		default:
			s.copy(1)
		}
	}
}

// wordOrMore replaces or copies what begins with the word at the position.
func (s *scanner) wordOrMore() {
	if s.address() {
		return
	}
	if s.json && !s.quoted && isDigit(rune(s.text[s.at])) {
		n := numberEnd(s.text, s.at)
		if n == len(s.text) || !isWordRune(rune(s.text[n])) {
			s.number(n - s.at)
			return
		}
	}
	if s.class.keys != nil && (s.time() || s.key()) {
		return
	}
	s.replaceWord()
}

// time copies a time in tags, such as that of an event of a span, because times of traces are kept: a date and a time
// with the separators of ISO 8601. It returns false if there is none.
func (s *scanner) time() bool {
	const form = "0000-00-00T00:00:00"
	rest := s.text[s.at:]
	if len(rest) < len(form) {
		return false
	}
	for i := range len(form) {
		if form[i] == '0' && !isDigit(rune(rest[i])) || form[i] != '0' && form[i] != rest[i] {
			return false
		}
	}
	n := len(form)
	end := min(len(rest), n+len(".0000000+00:00"))
	for n < end && bytes.IndexByte([]byte("0123456789.:+-Z"), rest[n]) >= 0 {
		n++
	}
	if n < len(rest) && wordBytes[rest[n]] {
		return false
	}
	s.copy(n)
	return true
}

// key copies a key of semantic conventions in tags, such as http.request.method, and its value if the class of the key
// keeps it. It returns false if there is none.
func (s *scanner) key() bool {
	end := s.at
	for end < min(len(s.text), s.at+maxKept) && (wordBytes[s.text[end]] || s.text[end] == '.' || s.text[end] == '_') {
		end++
	}
	if bytes.IndexByte(s.text[s.at:end], '.') < 0 {
		return false
	}
	value := s.policy.keyClass(s.class, s.text[s.at:end])
	if value == nil {
		return false
	}
	s.copy(end - s.at)
	for n := 0; n < 3 && s.at < len(s.text) && bytes.IndexByte([]byte("=:, \t"), s.text[s.at]) >= 0; n++ {
		s.copy(1)
	}
	for end = s.at; end < len(s.text) && end < s.at+maxKept && bytes.IndexByte([]byte(",];\"\\}\n"), s.text[end]) < 0; {
		end++
	}
	v := s.text[s.at:end]
	if value.action == actionNumber && isNumbers(v) || value.action == actionOneOf && value.keepsWhole(v) {
		s.copy(len(v))
	}
	return true
}

// maxKept is the maximum length of a text that a list of words or a key keeps.
const maxKept = 128

// replaceWord replaces the word at the position, unless it is kept.
func (s *scanner) replaceWord() {
	if s.plainWord() {
		return
	}
	start := s.at
	s.word, s.forms = s.word[:0], s.forms[:0]
	for s.at < len(s.text) {
		r, size, f := s.next()
		if !isWordRune(r) {
			break
		}
		s.word, s.forms = append(s.word, r), append(s.forms, f)
		s.at += size
	}
	if len(s.word) == s.at-start && s.keeps(start) {
		s.dst = append(s.dst, s.text[start:s.at]...)
		return
	}
	for i, r := range s.dict.pseudonym(s.word) {
		s.dst = appendForm(s.dst, r, s.forms[i])
	}
}

// plainWord is the fast path of replaceWord for a word of ASCII characters without escapes, which most words are. It
// returns false for other words.
func (s *scanner) plainWord() bool {
	start, end := s.at, s.at
	for end < len(s.text) && wordBytes[s.text[end]] {
		end++
	}
	if end == start {
		return false
	}
	if end < len(s.text) {
		if b := s.text[end]; b >= utf8.RuneSelf || b == '%' || b == '\\' {
			return false
		}
	}
	w := s.text[start:end]
	s.at = end
	switch {
	case s.keeps(start):
		s.dst = append(s.dst, w...)
	case s.class.action == actionID && (len(w) == 16 || len(w) == 32) && isID(w):
		s.dst, _ = s.appendIDs(s.dst, w)
	default:
		s.dst = append(s.dst, s.dict.plain(w)...)
	}
	return true
}

// isID reports whether a word has only hexadecimal digits.
func isID(w []byte) bool {
	for _, b := range w {
		if !isHex(rune(b)) {
			return false
		}
	}
	return true
}

// keeps reports whether the word from start to the position is kept: by the class, or as an extension.
func (s *scanner) keeps(start int) bool {
	w := s.text[start:s.at]
	switch {
	case s.class.first[w[0]] && (s.class.words[string(w)] && s.class.action != actionOneOf || s.policy.words[string(w)]):
		return true
	case s.class.action == actionHash && isGenerated(w):
		return true
	}
	return start > 0 && s.text[start-1] == '.' && s.policy.extensions[string(w)]
}

// isGenerated reports whether a word of a method's name has no meaning of its own: an arity, a type parameter, or a
// part of a name that a compiler has chosen.
func isGenerated(w []byte) bool {
	digits := len(bytes.Trim(w, "0123456789")) == 0
	return digits && len(w) <= 3 || len(w) == 1 ||
		bytes.HasPrefix(w, []byte("DisplayClass")) && len(bytes.Trim(w[len("DisplayClass"):], "0123456789")) == 0
}

// appendForm appends a character in the form of the one that it replaces.
func appendForm(dst []byte, r rune, f form) []byte {
	switch f {
	case formPercent:
		var enc [utf8.UTFMax]byte
		for _, b := range enc[:utf8.EncodeRune(enc[:], r)] {
			dst = append(dst, '%', "0123456789ABCDEF"[b>>4], "0123456789ABCDEF"[b&15])
		}
		return dst
	case formUnicode:
		units := utf16.AppendRune(nil, r)
		for _, u := range units {
			dst = append(dst, '\\', 'u')
			dst = hex.AppendEncode(dst, []byte{byte(u >> 8), byte(u)})
		}
		return dst
	}
	return utf8.AppendRune(dst, r)
}
