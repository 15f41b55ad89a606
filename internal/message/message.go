// Package message has the spelling of numbers, times and names in messages to users.
package message

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Stdin is the name of standard input on the command line.
const Stdin = "-"

// Count returns a number with its noun. The plural is the noun with an s if none is given.
func Count(n int64, noun string, plural ...string) string {
	switch {
	case n == 1:
	case len(plural) > 0:
		noun = plural[0]
	default:
		noun += "s"
	}
	return Group(n) + " " + noun
}

// Group returns a number with its digits in groups of three.
func Group(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Duration returns a time with a precision that depends on its size.
func Duration(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

// Range returns "from A to B" for two times since a start, with a precision that shows different times as different.
func Range(from, to time.Duration) string {
	a, b := Duration(from), Duration(to)
	for unit := 10 * time.Millisecond; a == b && from != to && unit > 0; unit /= 100 {
		a, b = from.Round(unit).String(), to.Round(unit).String()
	}
	if a == b {
		a, b = from.String(), to.String()
	}
	return "from " + a + " to " + b
}

// Time returns a date and time, which must be in UTC, with milliseconds. The flags that take a time accept it.
func Time(t time.Time) string { return t.Format("2006-01-02 15:04:05.000 UTC") }

// Visible returns s with all characters escaped that a terminal could interpret as a command or that cannot be seen,
// because names in traces are not trusted: control characters of C0 and C1, those that change the direction of text,
// separators of lines, spaces without width, and bytes that are not UTF-8. Line feeds stay. Escapes are those of Go
// strings, \xNN for a byte. A backslash is not escaped, so that paths can be read.
func Visible(s string) string { return escape(s, '\n') }

// Line is Visible for text that must stay on one line.
func Line(s string) string { return escape(s, utf8.RuneError) }

// escape returns s with all characters escaped that do not print, except one.
func escape(s string, but rune) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && r != but }) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unicode.IsPrint(r) || r == but:
			b.WriteRune(r)
		default:
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// JSON returns JSON text with the characters escaped as \uNNNN that JSON allows in strings and a terminal could
// interpret: DEL, controls of C1, those that change the direction of text, and separators of lines. Its values stay the
// same. Spaces without width, which .NET puts into texts of its own, do no harm and stay.
func JSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, acts) {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if acts(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// acts reports whether a terminal may act on a character that JSON does not escape. None of them is outside of JSON
// strings.
func acts(r rune) bool {
	switch {
	case r < 0x7f:
		return false
	case r <= 0x9f, r == 0x061c, 0x200e <= r && r <= 0x200f, 0x2028 <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return true
	}
	return false
}

// ShellWord returns a file name as it is written on a command line: quoted for a shell if necessary.
func ShellWord(name string) string {
	if name == "standard input" {
		return Stdin
	}
	if strings.IndexFunc(name, func(r rune) bool { return !strings.ContainsRune("/._-+:,@%", r) && !isAlnum(r) }) < 0 {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

func isAlnum(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= 0x80
}
