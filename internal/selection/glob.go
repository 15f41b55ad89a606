package selection

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// match reports whether s matches a pattern in which * stands for any text and ? for one character. Case does not count,
// as it does not in the names of event sources. It takes time in proportion to the product of the lengths at worst.
func match(pattern, s string) bool {
	// Of several stars only the last can need another try: after a later one has been reached, what an earlier one
	// stood for is settled. star and rest are the places behind it in pattern and s.
	star, rest := -1, 0
	p, i := 0, 0
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if p < len(pattern) {
			if pattern[p] == '*' {
				p++
				star, rest = p, i
				continue
			}
			q, m := utf8.DecodeRuneInString(pattern[p:])
			if q == '?' || fold(q) == fold(r) {
				p, i = p+m, i+n
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, n = utf8.DecodeRuneInString(s[rest:])
		rest += n
		p, i = star, rest
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// fold returns the same rune for all cases of a letter.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}
