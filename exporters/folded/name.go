package folded

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
)

const (
	// noName is the text of a frame without a name, as in exporters/pprof.
	noName = "(no name)"
	// noStack is the only frame of samples that were recorded without a stack.
	noStack = "[no stack]"
)

// escape returns a name that every reader of folded stacks reads as one frame, and whether it differs from the given
// one. The result does not depend on where in a stack the name appears, so a function has one name in all lines. escape
// of an escaped name changes nothing.
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

// isReserved reports whether a character cannot be part of a frame: the separator, and what readers may treat as the
// end of a line, as the start of a file or not show at all.
func isReserved(r rune) bool {
	return r == ';' || unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\uFEFF'
}

// escapeEdges replaces spaces that have a meaning because of their place: those at either end, which readers trim, one
// after a number sign at the start, which begins a comment, and the one before a final number, which would be read as a
// value. Real names of functions have none of these.
func escapeEdges(s string) string {
	switch s {
	case "":
		return noName
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

// numberAt returns where the number begins that s ends in, if there is white space before it, and 0 otherwise.
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

// roots returns the names of the process and the thread of a sample, as far as the options ask for them. The result is
// valid until the next call.
func (s *Sink) roots(t *table, sample *profile.Sample) (ids []uint32) {
	if s.o.ProcessRoot {
		name, id := "process", uint64(0)
		if p := sample.Process; p != nil {
			id = p.PID
			if n := s.namer.Process(p).Name; n != "" {
				name = n
			} else if p.Name != "" {
				name = p.Name
			}
		}
		ids = append(ids, t.root(name, id, sample.Process != nil))
	}
	if s.o.ThreadRoot {
		name, id := "thread", ntconv.TIDUnknown
		if th := sample.Thread; th != nil {
			id = th.TID
			if n := s.namer.ThreadName(th); n != "" {
				name = n
			}
		}
		ids = append(ids, t.root(name, id, id != ntconv.TIDUnknown))
	}
	return ids
}

// root returns the ID of NAME-ID, or of NAME where the ID is not known.
func (t *table) root(name string, id uint64, hasID bool) uint32 {
	if hasID {
		name += "-" + strconv.FormatUint(id, 10)
	}
	return t.escaped(name, "")
}
