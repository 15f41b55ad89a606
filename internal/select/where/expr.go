package where

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
)

// An Expr is a condition on events. It is immutable and safe for concurrent use.
type Expr struct {
	text  string // as the user wrote it
	root  *node
	tests []*test // all comparisons, from left to right
}

type nodeKind uint8

const (
	nodeTest nodeKind = iota
	nodeAnd
	nodeOr
	nodeNot
)

// A node is an inner node or a leaf of an expression tree. nodeAnd and nodeOr have two children; left is the only child
// of nodeNot; nodeTest has none.
type node struct {
	kind        nodeKind
	left, right *node
	test        int // nodeTest: index in Expr.tests
}

// An op is the operator of a test. opHas is the zero value because operator uses it for "not found".
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

var opSymbols = [...]string{"has", "==", "!=", "<", "<=", ">", ">=", "=~", "in"}

// A test compares an operand with values: one, one or more for opIn, none for opHas.
type test struct {
	op   op
	attr attr      // attrNone if the operand is a field, or if prop is set
	prop *Property // property of a Subject; nil in expressions about events, and if any is set
	any  bool      // the operand is a Subject, and the test is true for all of them; op is opHas
	path []string  // names of the members that lead to a field; one entry, the key, for a label
	lits []literal
	re   *regexp.Regexp // set for opMatch
	pos  int            // byte offset of the operand in the text
}

type litKind uint8

const (
	litNumber litKind = iota
	litString
	litDuration
	litBool
)

// A literal is a value in an expression. A string may also represent a GUID or a date; textLiteral parses them once.
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

// textLiteral returns the literal for a string, with all that it may represent.
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

// Text returns the expression as the user wrote it.
func (x *Expr) Text() string { return x.text }

// String returns the expression in canonical form. Parse accepts the result and returns an equal expression.
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

// appendOperand appends the operand n of the node of. It adds parentheses if n binds less tightly, or if n is the right
// operand of an equal operator, because chains group to the left.
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
	dst = append(append(append(t.appendOperand(dst), ' '), opSymbols[t.op]...), ' ')
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

// operand returns the operand in canonical form, for messages.
func (t *test) operand() string { return string(t.appendOperand(nil)) }

// plain reports whether a name of a field needs no quotes.
func plain(name string) bool {
	return name != "" && nameLength(name) == len(name) && !reserved(name)
}

// reserved reports whether a word has a meaning in the language, so that a field of that name must be quoted.
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
