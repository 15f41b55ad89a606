package where

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// An Error describes a mistake in an expression.
type Error struct {
	Text string // the expression
	Pos  int    // byte offset in Text
	Msg  string // what is wrong, without the position
}

// Error returns three lines: position and message, the expression, and a caret below the position.
func (e *Error) Error() string {
	visible := func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}
	column := utf8.RuneCountInString(e.Text[:e.Pos])
	return fmt.Sprintf(
		"position %d: %s\n  %s\n  %s^",
		column+1,
		e.Msg,
		strings.Map(visible, e.Text),
		strings.Repeat(" ", column),
	)
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenAttr // with its $
	tokenString
	tokenNumber
	tokenOp
)

// A token is a word of an expression. text is the unquoted value of a string token and the source text of all others.
type token struct {
	kind tokenKind
	pos  int
	text string
}

func (t token) is(op string) bool { return t.kind == tokenOp && t.text == op }

// String describes the token for messages.
func (t token) String() string {
	if t.kind == tokenEnd {
		return "the end"
	}
	return strconv.Quote(t.text)
}

// A lexer splits an expression into tokens. pos is the byte offset after the last token.
type lexer struct {
	text string
	pos  int
}

func (l *lexer) errorf(pos int, format string, args ...any) error {
	return &Error{Text: l.text, Pos: min(pos, len(l.text)), Msg: fmt.Sprintf(format, args...)}
}

// operators is searched from the first element, so an operator precedes its own prefixes.
var operators = [...]string{"||", "&&", "==", "!=", "<=", ">=", "=~", "<", ">", "!", "(", ")", ",", "."}

func (l *lexer) next() (token, error) {
	for l.pos < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.pos]) >= 0 {
		l.pos++
	}
	start, rest := l.pos, l.text[l.pos:]
	if rest == "" {
		return token{kind: tokenEnd, pos: start}, nil
	}
	take := func(kind tokenKind, n int) (token, error) {
		l.pos += n
		return token{kind, start, rest[:n]}, nil
	}
	switch c := rest[0]; {
	case c == '"' || c == '\'':
		return l.quoted(c)
	case c == '$':
		return take(tokenAttr, 1+nameLength(rest[1:]))
	case isDigit(c) || (c == '-' || c == '.') && len(rest) > 1 && (isDigit(rest[1]) || rest[1] == '.'):
		return take(tokenNumber, numberLength(rest))
	}
	if n := nameLength(rest); n > 0 {
		return take(tokenName, n)
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			return take(tokenOp, len(op))
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	hint := ""
	switch r {
	case '=':
		hint = "; equality is =="
	case '&', '|':
		hint = "; and is &&, or is ||"
	}
	return token{}, l.errorf(start, "unexpected %q%s", r, hint)
}

// nameLength returns the length in bytes of the longest name that s begins with: letters, digits and underscores, not
// starting with a digit. It is 0 if there is none.
func nameLength(s string) int {
	for i, r := range s {
		if !(r == '_' || unicode.IsLetter(r) || i > 0 && unicode.IsDigit(r)) || r == utf8.RuneError {
			return i
		}
	}
	return len(s)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// numberLength returns the length in bytes of the number or duration that s begins with. It accepts too much, such as
// 12abc, so that parseNumber rejects the whole word.
func numberLength(s string) int {
	hex := strings.HasPrefix(strings.ToLower(strings.TrimPrefix(s, "-")), "0x")
	for i, r := range s {
		sign := (r == '-' || r == '+') && (i == 0 || !hex && (s[i-1] == 'e' || s[i-1] == 'E'))
		if !(sign || r == '.' || r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))) {
			return i
		}
	}
	return len(s)
}

// quoted reads a string with the escapes of Go, between two quotes of the given kind.
func (l *lexer) quoted(quote byte) (token, error) {
	start := l.pos
	var b []byte
	for rest := l.text[start+1:]; ; {
		switch {
		case rest == "" || rest[0] == '\n':
			return token{}, l.errorf(start, "missing %c at the end of the string", quote)
		case rest[0] == quote:
			l.pos = len(l.text) - len(rest) + 1
			return token{tokenString, start, string(b)}, nil
		case rest[0] != '\\':
			b, rest = append(b, rest[0]), rest[1:]
			continue
		}
		r, multi, tail, err := strconv.UnquoteChar(rest, quote)
		if err != nil {
			return token{}, l.errorf(len(l.text)-len(rest), `unknown escape; a backslash itself is \\`)
		}
		if multi {
			b = utf8.AppendRune(b, r)
		} else {
			b = append(b, byte(r))
		}
		rest = tail
	}
}

// parseNumber parses an integer, a floating-point number or a duration; a float with an integer value becomes an
// integer. If it fails, the second result says why, as a predicate whose subject is s.
func parseNumber(s string) (literal, string) {
	digits, neg := strings.CutPrefix(s, "-")
	base := 10
	if hex, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		digits, base = hex, 16
	}
	if n, err := strconv.ParseUint(digits, base, 64); err == nil {
		return intLiteral(neg, n), ""
	}
	if base == 16 || strings.ContainsRune(s, '_') {
		return literal{}, "is not a number of at most 64 bits"
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<64:
		return intLiteral(neg, uint64(math.Abs(f))), ""
	case err == nil && !math.IsInf(f, 0) && !math.IsNaN(f):
		return literal{kind: litNumber, num: number{float: true, f: f}}, ""
	}
	if d, err := time.ParseDuration(s); err == nil {
		return literal{kind: litDuration, dur: d}, ""
	}
	if errors.Is(err, strconv.ErrRange) {
		return literal{}, "is too large a number"
	}
	return literal{}, "is neither a number nor a duration such as 1.5ms"
}

func intLiteral(neg bool, n uint64) literal {
	return literal{kind: litNumber, num: number{neg: neg && n > 0, mag: n}}
}
