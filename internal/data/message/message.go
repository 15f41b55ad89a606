// Package message formats numbers, times and names for messages to users.
package message

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Stdin is the name of standard input on the command line.
const Stdin = "-"

// Count returns a number with its noun. The plural is plural[0], or else the noun with an s.
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

// List returns words as a list, such as "a, b and c".
func List(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Group returns a number with commas between groups of three digits: 1,234,567.
func Group(n int64) string { return GroupDigits(strconv.FormatInt(n, 10)) }

// GroupDigits is Group for an integer in decimal digits, which may have a minus sign.
func GroupDigits(s string) string {
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Percent returns n as a percentage of a total: 27.1%, "under 0.1%" for less than 0.05%, and 0% if one of them is not
// positive.
func Percent(n, of int64) string {
	switch {
	case of <= 0 || n <= 0:
		return "0%"
	case n <= of/2000:
		return "under 0.1%"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(of))
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

// Time formats a date and time, which must be in UTC, with milliseconds. Flags that take a time accept the result.
func Time(t time.Time) string { return t.Format("2006-01-02 15:04:05.000 UTC") }

// Unnamed returns what is shown in place of the name of a function that has none: the file of its module, or <unknown>.
func Unnamed(module string) string {
	if module == "" {
		return "<unknown>"
	}
	return "[" + filepath.Base(module) + "]"
}

// Visible returns s with all characters escaped that are invisible or that a terminal could interpret, because names in
// traces are untrusted: C0 and C1 control characters, characters that change the text direction, line and paragraph
// separators, zero-width spaces, and bytes that are not UTF-8. Line feeds stay. The escapes are those of Go strings,
// \xNN for a byte. Backslashes are not escaped, so that paths stay readable.
func Visible(s string) string { return escape(s, '\n') }

// Line is Visible for text that must stay on one line: it also escapes line feeds.
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

// JSON escapes in JSON text, as \uNNNN, the characters that JSON allows in strings and a terminal could interpret: DEL,
// C1 control characters, characters that change the text direction, and line separators. The values of the strings do
// not change. Zero-width spaces, which .NET writes in some strings, are harmless and stay. The result may be text
// itself.
func JSON(text []byte) []byte {
	i := 0
	for i < len(text) && text[i] < 0x7f {
		i++
	}
	if !bytes.ContainsFunc(text[i:], acts) {
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

// acts reports whether a terminal may interpret a character that JSON need not escape. Valid JSON contains such
// characters only in strings, so they can be escaped without parsing.
func acts(r rune) bool {
	switch {
	case r < 0x7f:
		return false
	case r <= 0x9f, r == 0x061c, 0x200e <= r && r <= 0x200f, 0x2028 <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return true
	}
	return false
}

// ShellWord returns a file name as typed on a command line, quoted for a POSIX shell if necessary. It returns Stdin for
// "standard input".
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
