package where

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
)

// An Expr is a condition on events: immutable, and may be used by several goroutines.
type Expr struct {
	text  string // as the user wrote it
	root  *node
	tests []*test // all comparisons, as they stand from left to right
}

type nodeKind uint8

const (
	nodeTest nodeKind = iota
	nodeAnd
	nodeOr
	nodeNot
)

// A node combines what is below it. left is the operand of a not.
type node struct {
	kind        nodeKind
	left, right *node
	test        int // nodeTest: index in Expr.tests
}

// op is what a test asks.
type op uint8

const (
	opHas op = iota
	opEq
	opNe
	opLt
	opLe
	opGt
	opGe
	opMatch
	opIn
)

var opTexts = [...]string{"has", "==", "!=", "<", "<=", ">", ">=", "=~", "in"}

// A test compares an operand with values: one, several for opIn, none for opHas.
type test struct {
	op   op
	attr attr      // attrNone: a field
	prop *Property // of a Subject, nil for events
	path []string  // of a field, from the outside in; of a label one entry, the key
	lits []literal
	re   *regexp.Regexp // opMatch
	pos  int            // byte offset in the text
}

type litKind uint8

const (
	litNumber litKind = iota
	litString
	litDuration
	litBool
)

// A literal is a value that stands in an expression. What a text means besides itself is worked out when it is read.
type literal struct {
	kind litKind
	num  number
	text string
	dur  time.Duration
	yes  bool

	lower  string
	guid   ntconv.GUID
	isGUID bool
	date   time.Time
	isDate bool
}

func textLiteral(s string) literal {
	l := literal{kind: litString, text: s, lower: strings.ToLower(s)}
	var err error
	if l.guid, err = ntconv.ParseGUID(s); err == nil {
		l.isGUID = true
	}
	if l.date, err = ParseDate(s); err == nil {
		l.isDate = true
	}
	return l
}

// Text returns the expression as it was written.
func (x *Expr) Text() string { return x.text }

// String returns the expression in its usual form. Parse of it gives an equal expression.
func (x *Expr) String() string { return string(x.appendNode(nil, x.root)) }

func (x *Expr) appendNode(dst []byte, n *node) []byte {
	switch n.kind {
	case nodeTest:
		return x.tests[n.test].append(dst)
	case nodeNot:
		if n.left.kind == nodeNot || n.left.kind == nodeTest && x.tests[n.left.test].op == opHas {
			return x.appendNode(append(dst, '!'), n.left)
		}
		return append(x.appendNode(append(dst, "!("...), n.left), ')')
	}
	dst = x.appendOperand(dst, n, n.left, false)
	if n.kind == nodeAnd {
		dst = append(dst, " && "...)
	} else {
		dst = append(dst, " || "...)
	}
	return x.appendOperand(dst, n, n.right, true)
}

// appendOperand puts what binds more loosely than its surroundings into parentheses, and what stands on the right of
// an operator of its own kind, which groups to the left.
func (x *Expr) appendOperand(dst []byte, of, n *node, right bool) []byte {
	if of.kind == nodeAnd && n.kind == nodeOr || right && n.kind == of.kind {
		return append(x.appendNode(append(dst, '('), n), ')')
	}
	return x.appendNode(dst, n)
}

func (t *test) append(dst []byte) []byte {
	if t.op == opHas {
		return append(t.appendOperand(append(dst, "has("...)), ')')
	}
	dst = append(append(append(t.appendOperand(dst), ' '), opTexts[t.op]...), ' ')
	if t.op != opIn {
		return t.lits[0].append(dst)
	}
	for i := range t.lits {
		if i == 0 {
			dst = append(dst, '(')
		} else {
			dst = append(dst, ", "...)
		}
		dst = t.lits[i].append(dst)
	}
	return append(dst, ')')
}

func (t *test) appendOperand(dst []byte) []byte {
	if t.attr != attrNone {
		dst = append(append(dst, '$'), attrs[t.attr].name...)
		if t.attr == attrLabel {
			dst = strconv.AppendQuote(append(dst, '.'), t.path[0])
		}
		return dst
	}
	for i, name := range t.path {
		if i > 0 {
			dst = append(dst, '.')
		}
		if plain(name) {
			dst = append(dst, name...)
		} else {
			dst = strconv.AppendQuote(dst, name)
		}
	}
	return dst
}

// operand returns the operand as text, for messages.
func (t *test) operand() string { return string(t.appendOperand(nil)) }

// plain reports whether a field's name needs no quotes.
func plain(name string) bool {
	return name != "" && nameLength(name) == len(name) && !reserved(name)
}

// reserved reports whether a word means something else than a field of that name.
func reserved(word string) bool {
	switch word {
	case "in", "has", "true", "false":
		return true
	}
	return false
}

func (l *literal) append(dst []byte) []byte {
	switch l.kind {
	case litString:
		return strconv.AppendQuote(dst, l.text)
	case litDuration:
		return append(dst, l.dur.String()...)
	case litBool:
		return strconv.AppendBool(dst, l.yes)
	}
	return l.num.append(dst)
}

func (l *literal) String() string { return strings.ToValidUTF8(string(l.append(nil)), "\uFFFD") }
