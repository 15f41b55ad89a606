// Package glob matches names of providers and events with patterns as people write them.
package glob

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Match reports whether s matches a pattern in which * stands for any text and ? for one character. Case does not
// count, as it does not in the names of event sources. It takes time in proportion to the product of the lengths at
// worst.
func Match(pattern, s string) bool {
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

// MatchEvent reports whether an event of a provider has the name or number that a pattern describes: "event" or
// "provider/event". Every slash is tried as the one after the provider, because names of events may have slashes, too.
func MatchEvent(pattern, provider, name, id string) bool {
	if pattern == id || Match(pattern, name) {
		return true
	}
	for i := range len(pattern) {
		if pattern[i] == '/' && Match(pattern[:i], provider) && (pattern[i+1:] == id || Match(pattern[i+1:], name)) {
			return true
		}
	}
	return false
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
