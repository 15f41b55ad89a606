package where

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Match reports whether s matches a pattern, in which * matches any text and ? one character. It is case-insensitive,
// like the names of event sources. In the worst case the time is proportional to the product of the lengths.
func Match(pattern, s string) bool {
	// Backtracking to the last star is enough: once a later star has been reached, the match of the stars before it is
	// final. star is the index after the last star in pattern, rest the index in s at which the text after the star
	// begins.
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

// MatchEvent reports whether a pattern, "event" or "provider/event", matches the name or the ID of an event. It tries
// each slash as the separator, because names of events may contain slashes.
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
