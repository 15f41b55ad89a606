package where

import (
	"regexp"
	"strings"
)

// Limits of an expression: nobody writes that much by hand, and the machine's stack must suffice.
const (
	maxText  = 64 << 10
	maxDepth = 200
)

// Parse reads an expression. Its error is an *Error.
func Parse(text string) (*Expr, error) { return parse(text, nil) }

// parse reads an expression about a subject, or about events if that is nil.
func parse(text string, about *Subject) (*Expr, error) {
	p := parser{lexer: lexer{text: text}, x: &Expr{text: text}, about: about}
	if len(text) > maxText {
		return nil, &Error{Msg: "the expression is too long: more than 64 KiB"}
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokenEnd {
		return nil, p.errorf(0, "the expression is empty: want a comparison such as %s", about.example())
	}
	root, err := p.either(0)
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokenEnd {
		return nil, p.errorf(p.tok.pos, "want && or || and not %v", p.tok)
	}
	p.x.root = root
	return p.x, nil
}

// A parser reads an expression from left to right. tok is the token that comes next.
type parser struct {
	lexer
	tok   token
	x     *Expr
	about *Subject // nil for events
}

func (p *parser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

// accept goes on behind an operator if it comes next.
func (p *parser) accept(op string) (bool, error) {
	if !p.tok.is(op) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(op, for_ string) error {
	ok, err := p.accept(op)
	if err == nil && !ok {
		err = p.errorf(p.tok.pos, "want %s %s and not %v", op, for_, p.tok)
	}
	return err
}

func (p *parser) either(depth int) (*node, error) { return p.chain("||", nodeOr, p.both, depth) }
func (p *parser) both(depth int) (*node, error)   { return p.chain("&&", nodeAnd, p.unary, depth) }

// chain reads operands with an operator between them, which groups to the left.
func (p *parser) chain(op string, kind nodeKind, operand func(int) (*node, error), depth int) (*node, error) {
	left, err := operand(depth)
	for err == nil {
		var more bool
		if more, err = p.accept(op); err != nil || !more {
			break
		}
		var right *node
		if right, err = operand(depth); err == nil {
			left = &node{kind: kind, left: left, right: right}
		}
	}
	return left, err
}

// unary reads a comparison or what stands in parentheses, with any number of nots in front.
func (p *parser) unary(depth int) (*node, error) {
	nots := 0
	for p.tok.is("!") {
		if nots++; nots > maxDepth {
			return nil, p.errorf(p.tok.pos, "more than %d times not", maxDepth)
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	read := p.test
	if p.tok.is("(") {
		read = func() (*node, error) { return p.group(depth) }
	}
	n, err := read()
	for ; err == nil && nots > 0; nots-- {
		n = &node{kind: nodeNot, left: n}
	}
	return n, err
}

func (p *parser) group(depth int) (*node, error) {
	open := p.tok.pos
	if depth == maxDepth {
		return nil, p.errorf(open, "nested more than %d deep", maxDepth)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.either(depth + 1)
	if err == nil && p.tok.kind == tokenEnd {
		return nil, p.errorf(open, "the ) for this is missing")
	}
	if err == nil {
		err = p.expect(")", "or an operator")
	}
	return n, err
}

// test reads a comparison.
func (p *parser) test() (*node, error) {
	t := &test{pos: p.tok.pos}
	err := p.comparison(t)
	if err != nil {
		return nil, err
	}
	p.x.tests = append(p.x.tests, t)
	return &node{kind: nodeTest, test: len(p.x.tests) - 1}, nil
}

func (p *parser) comparison(t *test) error {
	if p.tok.kind == tokenName && p.tok.text == "has" {
		has := p.tok
		if err := p.advance(); err != nil {
			return err
		}
		if !p.tok.is("(") {
			return p.errorf(has.pos, `want has(field); a field of that name is written "has"`)
		}
		if err := p.advance(); err != nil {
			return err
		}
		if err := p.operand(t); err != nil {
			return err
		}
		return p.expect(")", "behind the field")
	}
	if err := p.operand(t); err != nil {
		return err
	}
	return p.operator(t)
}

// operand reads the left side: a field or a property.
func (p *parser) operand(t *test) error {
	if p.about != nil {
		return p.subjectOperand(t)
	}
	switch tok := p.tok; {
	case tok.kind == tokenAttr:
		return p.property(t)
	case tok.kind == tokenNumber:
		return p.errorf(tok.pos, "want a field or a property on the left, and the number %s on the right", tok.text)
	case tok.kind == tokenName && reserved(tok.text):
		return p.errorf(tok.pos, "%s is a word of the language; a field of that name is written %q", tok.text, tok.text)
	case tok.kind != tokenName && tok.kind != tokenString:
		return p.errorf(tok.pos, "want a field such as Size, or a property such as $time, and not %v", tok)
	}
	return p.names(t)
}

// names reads names with dots between them. Behind a dot every word is a name.
func (p *parser) names(t *test) error {
	for {
		if p.tok.kind != tokenName && p.tok.kind != tokenString {
			return p.errorf(p.tok.pos, "want a name behind the dot and not %v", p.tok)
		}
		t.path = append(t.path, p.tok.text)
		if err := p.advance(); err != nil {
			return err
		}
		if ok, err := p.accept("."); err != nil || !ok {
			return err
		}
	}
}

func (p *parser) property(t *test) error {
	tok := p.tok
	if t.attr = attrByName(tok.text[1:]); t.attr == attrNone {
		return p.errorf(tok.pos, "%s is not known; there are %s", tok.text, attrList())
	}
	if err := p.advance(); err != nil || t.attr != attrLabel {
		return err
	}
	if err := p.expect(".", "and a key behind $label"); err != nil {
		return err
	}
	err := p.names(t)
	t.path = []string{strings.Join(t.path, ".")}
	return err
}

// operator reads an operator and its right side.
func (p *parser) operator(t *test) error {
	tok := p.tok
	text := tok.text
	if tok.kind != tokenOp && !(tok.kind == tokenName && text == "in") {
		text = ""
	}
	for o, s := range opTexts {
		if s == text && op(o) != opHas {
			t.op = op(o)
		}
	}
	if t.op == opHas {
		return p.errorf(
			tok.pos,
			"want a comparison (== != < <= > >= =~ in) and not %v; has(%s) asks whether there is a value",
			tok,
			t.operand(),
		)
	}
	if err := p.advance(); err != nil {
		return err
	}
	if t.op == opIn {
		return p.list(t)
	}
	return p.value(t)
}

func (p *parser) list(t *test) error {
	if err := p.expect("(", "and the values behind in"); err != nil {
		return err
	}
	for {
		if err := p.value(t); err != nil {
			return err
		}
		if ok, err := p.accept(","); err != nil {
			return err
		} else if !ok {
			return p.expect(")", "or a comma")
		}
	}
}

// value reads a value and checks whether it fits what is known of the left side.
func (p *parser) value(t *test) error {
	tok := p.tok
	var l literal
	switch {
	case tok.kind == tokenString:
		l = textLiteral(tok.text)
	case tok.kind == tokenNumber:
		var wrong string
		if l, wrong = parseNumber(tok.text); wrong != "" {
			return p.errorf(tok.pos, "%s %s", tok.text, wrong)
		}
	case tok.kind == tokenName && (tok.text == "true" || tok.text == "false"):
		l = literal{kind: litBool, yes: tok.text == "true"}
	case tok.kind == tokenName || tok.kind == tokenAttr:
		return p.errorf(tok.pos, "want a value on the right; text stands in quotes: %q", tok.text)
	default:
		return p.errorf(tok.pos, "want a number, a text in quotes or a duration, and not %v", tok)
	}
	if wrong := t.misfit(&l); wrong != "" {
		return p.errorf(tok.pos, "%s", wrong)
	}
	if t.op == opMatch {
		var err error
		if t.re, err = regexp.Compile(l.text); err != nil {
			return p.errorf(tok.pos, "%v", err)
		}
	}
	t.lits = append(t.lits, l)
	return p.advance()
}

// misfit says why a value cannot be compared with the left side, "" if it can, or if only events will tell.
func (t *test) misfit(l *literal) string {
	kind := attrs[t.attr].kind
	if t.prop != nil {
		return t.misfitProperty(l)
	}
	switch {
	case t.op == opMatch && l.kind != litString:
		return "want a regular expression in quotes"
	case t.op == opMatch && (kind == kindNumber || kind == kindTime):
		return t.operand() + " is no text; =~ is for texts"
	case kind == kindNumber && l.kind != litNumber:
		return t.operand() + " is a number; want a number and not " + l.String()
	case (kind == kindText || kind == kindID) && l.kind != litString:
		return t.operand() + " is text; want a text in quotes and not " + l.String()
	case kind == kindTime && l.kind != litDuration && !l.isDate:
		return t.operand() + ` is a time; want a duration since the start such as 1.5s, or a date such as "2026-11-21T06:52:53.5Z", and not ` + l.String()
	case kind != kindTime && l.kind == litDuration:
		return "a duration can only be compared with $time: traces do not tell the units of their numbers"
	}
	return ""
}
