package where

import (
	"regexp"
	"slices"
	"strings"
)

// Limits of an expression. maxDepth keeps the recursion of the parser and of the matchers within a few hundred calls.
const (
	maxText  = 64 << 10 // bytes
	maxDepth = 200      // of parentheses, and of consecutive nots
)

// Parse parses an expression about events. Errors are of type *Error.
func Parse(text string) (*Expr, error) {
	x, _, err := parse(text, nil)
	return x, err
}

// parse parses an expression about one of several subjects, which it returns, or about events if there are none.
func parse(text string, subjects []*Subject) (*Expr, *Subject, error) {
	p := parser{lexer: lexer{text: text}, x: &Expr{text: text}, subjects: subjects}
	if len(text) > maxText {
		return nil, nil, &Error{Msg: "the expression is too long: more than 64 KiB"}
	}
	if err := p.advance(); err != nil {
		return nil, nil, err
	}
	if p.tok.kind == tokenEnd {
		return nil, nil, p.errorf(0, "the expression is empty: want a comparison such as %s", p.example())
	}
	root, err := p.either(0)
	if err != nil {
		return nil, nil, err
	}
	if p.tok.kind != tokenEnd {
		return nil, nil, p.errorf(p.tok.pos, "want && or ||, got %v", p.tok)
	}
	p.x.root = root
	return p.x, p.about, nil
}

// A parser is a recursive-descent parser. tok is the next token; the lexer has already read it.
type parser struct {
	lexer
	tok      token
	x        *Expr
	subjects []*Subject // empty for events
	about    *Subject   // that of the first operand; nil before it
}

func (p *parser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

// accept consumes the next token if it is op, and reports whether it was.
func (p *parser) accept(op string) (bool, error) {
	if !p.tok.is(op) {
		return false, nil
	}
	return true, p.advance()
}

// expect consumes op and fails if another token comes next. for_ completes "want OP" in the message.
func (p *parser) expect(op, for_ string) error {
	ok, err := p.accept(op)
	if err == nil && !ok {
		err = p.errorf(p.tok.pos, "want %s %s, got %v", op, for_, p.tok)
	}
	return err
}

func (p *parser) either(depth int) (*node, error) { return p.chain("||", nodeOr, p.both, depth) }
func (p *parser) both(depth int) (*node, error)   { return p.chain("&&", nodeAnd, p.unary, depth) }

// chain parses one or more operands separated by op. They group to the left.
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

// unary parses a comparison or an expression in parentheses, preceded by any number of nots up to maxDepth.
func (p *parser) unary(depth int) (*node, error) {
	nots := 0
	for p.tok.is("!") {
		if nots++; nots > maxDepth {
			return nil, p.errorf(p.tok.pos, "more than %d consecutive !", maxDepth)
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

// group parses an expression in parentheses. depth counts the open ones.
func (p *parser) group(depth int) (*node, error) {
	open := p.tok.pos
	if depth == maxDepth {
		return nil, p.errorf(open, "more than %d nested parentheses", maxDepth)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.either(depth + 1)
	if err == nil && p.tok.kind == tokenEnd {
		return nil, p.errorf(open, "missing ) for this (")
	}
	if err == nil {
		err = p.expect(")", "or an operator")
	}
	return n, err
}

// test parses a comparison and appends it to the expression's tests.
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
			return p.errorf(has.pos, `want has(FIELD); quote the name of the field: "has"`)
		}
		if err := p.advance(); err != nil {
			return err
		}
		if err := p.operand(t); err != nil {
			return err
		}
		return p.expect(")", "after the field")
	}
	pos := p.tok.pos
	if err := p.operand(t); err != nil {
		return err
	}
	if t.any && !p.comparesNext() {
		return nil
	}
	if t.any {
		return p.errorf(pos, "%s is not a property of a %s%s", t.operand(), p.about.Name, p.about.suggest(t.path[0]))
	}
	return p.operator(t)
}

// comparesNext reports whether the next token is an operator of a comparison.
func (p *parser) comparesNext() bool {
	return slices.ContainsFunc(opSymbols[opHas+1:], func(s string) bool { return p.tok.is(s) }) ||
		p.tok.kind == tokenName && p.tok.text == opSymbols[opIn]
}

// operand parses the left side of a comparison: a field or a property.
func (p *parser) operand(t *test) error {
	if len(p.subjects) > 0 {
		return p.subjectOperand(t)
	}
	switch tok := p.tok; {
	case tok.kind == tokenAttr:
		return p.property(t)
	case tok.kind == tokenNumber:
		return p.errorf(tok.pos, "want a field or a property on the left; put the number %s on the right", tok.text)
	case tok.kind == tokenName && reserved(tok.text):
		return p.errorf(tok.pos, "%s is a reserved word; quote the name of the field: %q", tok.text, tok.text)
	case tok.kind != tokenName && tok.kind != tokenString:
		return p.errorf(tok.pos, "want a field such as Size or a property such as $time, got %v", tok)
	}
	return p.names(t)
}

// names parses names separated by dots. After a dot, reserved words are names too.
func (p *parser) names(t *test) error {
	for {
		if p.tok.kind != tokenName && p.tok.kind != tokenString {
			return p.errorf(p.tok.pos, "want a name after the dot, got %v", p.tok)
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

// property parses a property. The key of a label may consist of names with dots between them.
func (p *parser) property(t *test) error {
	tok := p.tok
	if t.attr = attrByName(tok.text[1:]); t.attr == attrNone {
		return p.errorf(tok.pos, "unknown property %s; available: %s", tok.text, attrList(p.x == nil))
	}
	if p.x != nil && attrs[t.attr].kind == kindOwner {
		return p.errorf(tok.pos, "%s cannot be compared, because events do not state it; available: %s", tok.text, attrList(false))
	}
	if err := p.advance(); err != nil || t.attr != attrLabel {
		return err
	}
	if err := p.expect(".", "and a key after $label"); err != nil {
		return err
	}
	err := p.names(t)
	t.path = []string{strings.Join(t.path, ".")}
	return err
}

// operator parses an operator and the right side of a comparison.
func (p *parser) operator(t *test) error {
	tok := p.tok
	text := tok.text
	if tok.kind != tokenOp && !(tok.kind == tokenName && text == "in") {
		text = ""
	}
	for o, s := range opSymbols {
		if s == text && op(o) != opHas {
			t.op = op(o)
		}
	}
	if t.op == opHas {
		return p.errorf(
			tok.pos,
			"want a comparison (== != < <= > >= =~ in), got %v; has(%s) tests whether there is a value",
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
	if err := p.expect("(", "and the values after in"); err != nil {
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

// value parses a value and checks it against what is known about the left side.
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
		return p.errorf(tok.pos, "want a value on the right; put strings in quotes: %q", tok.text)
	default:
		return p.errorf(tok.pos, "want a number, a string in quotes or a duration, got %v", tok)
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

// misfit says why a value cannot be compared with the left side. It returns "" if it can, or if that depends on the
// type of a field.
func (t *test) misfit(l *literal) string {
	kind := attrs[t.attr].kind
	if t.prop != nil {
		return t.misfitProperty(l)
	}
	switch {
	case t.op == opMatch && l.kind != litString:
		return "want a regular expression in quotes"
	case t.op == opMatch && (kind == kindNumber || kind == kindTime):
		return t.operand() + " is not a string; =~ needs a string"
	case kind == kindNumber && l.kind != litNumber:
		return t.operand() + " is a number; want a number, got " + l.String()
	case (kind == kindText || kind == kindID) && l.kind != litString:
		return t.operand() + " is a string; want a string in quotes, got " + l.String()
	case kind == kindTime && l.kind != litDuration && !l.isDate:
		return t.operand() + ` is a time; want a duration since the start such as 1.5s, or a date such as "2026-11-21T06:52:53.5Z", got ` + l.String()
	case kind != kindTime && l.kind == litDuration:
		return "a duration can only be compared with $time; traces do not state the units of their numbers"
	}
	return ""
}
