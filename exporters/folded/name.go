package folded

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/imported"
)

// escape returns a name that every reader of folded stacks reads as one frame, and whether it differs from the given
// name. The result does not depend on the position in a stack, so a function has the same name in all lines. Escaping
// an escaped name changes nothing.
func escape(name string) (escaped string, changed bool) {
	s := name
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexFunc(s, isReserved) >= 0 {
		s = strings.Map(func(r rune) rune {
			switch {
			case r == ';':
				return ':'
			case isReserved(r):
				return '_'
			}
			return r
		}, s)
	}
	s = escapeEdges(s)
	return s, s != name
}

// isReserved reports whether a frame cannot contain the character: the separator, and characters that readers may treat
// as the end of a line or the start of a file, or do not show.
func isReserved(r rune) bool {
	return r == ';' || unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\uFEFF'
}

// escapeEdges replaces spaces whose position gives them a meaning: at either end, where readers trim them; after a
// leading number sign, which begins a comment; and before a final number, which would be read as a value. Real function
// names have none of these.
func escapeEdges(s string) string {
	switch s {
	case "":
		return imported.NoName
	case "#": // with the value, a comment
		return "#_"
	}
	if n := len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace)); n > 0 {
		s = underscores(s, 0, n)
	}
	if n := len(strings.TrimRightFunc(s, unicode.IsSpace)); n < len(s) {
		s = underscores(s, n, len(s))
	}
	if strings.HasPrefix(s, "# ") {
		s = underscores(s, 1, 2)
	}
	if at := numberAt(s); at > 0 {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		s = underscores(s, at-size, at)
	}
	return s
}

// underscores replaces each character of s[from:to] by an underscore.
func underscores(s string, from, to int) string {
	return s[:from] + strings.Repeat("_", utf8.RuneCountInString(s[from:to])) + s[to:]
}

// numberAt returns the index of the number at the end of s if white space precedes it, and 0 otherwise.
func numberAt(s string) int {
	at := strings.LastIndexFunc(s, unicode.IsSpace)
	if at < 0 {
		return 0
	}
	_, size := utf8.DecodeRuneInString(s[at:])
	number := s[at+size:]
	whole, fraction, _ := strings.Cut(number, ".")
	if whole == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0
	}
	return at + size
}

// roots returns the IDs of the root frames that the options request, process first.
func (s *Sink) roots(t *table, x *profile.Sample) (ids []uint32) {
	if s.o.ProcessRoot {
		name, id := "process", uint64(0)
		if p := x.Process; p != nil {
			id = p.PID
			if n := s.namer.Process(p).Name; n != "" {
				name = n
			} else if p.Name != "" {
				name = p.Name
			}
		}
		ids = append(ids, t.root(name, id, x.Process != nil))
	}
	if s.o.ThreadRoot {
		name, id := "thread", ntconv.TIDUnknown
		if th := x.Thread; th != nil {
			id = th.TID
			if n := s.namer.ThreadName(th); n != "" {
				name = n
			}
		}
		ids = append(ids, t.root(name, id, id != ntconv.TIDUnknown))
	}
	return ids
}

// root returns the ID of the frame NAME-ID, or NAME if the ID is unknown.
func (t *table) root(name string, id uint64, hasID bool) uint32 {
	if hasID {
		name += "-" + strconv.FormatUint(id, 10)
	}
	return t.escaped(name, "")
}
