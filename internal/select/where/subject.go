package where

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
)

// A Subject is a kind of object other than an event that an expression can describe, such as a span. The parser knows
// all its properties and rejects other operands. A Subject must not be changed once it is in use; it is then safe for
// concurrent use.
type Subject struct {
	Name       string // first part of every operand: span in span.name
	Properties []Property
	Example    string // a comparison that messages show
}

// A Property is one of the properties of a Subject.
type Property struct {
	Name string
	Kind PropertyKind
	// Values are the existing values of a PropertyWord. Nil means any.
	Values []string
}

// PropertyKind states which values a Property has and with which values it can be compared.
type PropertyKind uint8

const (
	PropertyText     PropertyKind = iota // a string
	PropertyWord                         // a string, case-insensitive
	PropertyNumber                       // a number
	PropertyDuration                     // nanoseconds: an integer; compared with durations
	// PropertyTime is nanoseconds since 1970-01-01 UTC: an integer; compared with dates and with durations since the
	// start of the trace.
	PropertyTime
	// PropertyKeyed is a set of values, and the name of one follows the name of the property. Values of any kind are
	// compared. A string is also compared with a number or a Boolean if it is one in text form, because many recorders
	// write all values as text.
	PropertyKeyed
)

// A Condition is an expression about a Subject. It is immutable and safe for concurrent use.
type Condition struct {
	x     *Expr
	about *Subject
}

// Parse parses an expression about the subject. Errors are of type *Error.
func (s *Subject) Parse(text string) (*Condition, error) { return ParseAbout(text, s) }

// ParseAbout parses an expression about one of several subjects, which its first operand names. The name of the subject
// alone is a comparison that is always true. Errors are of type *Error.
func ParseAbout(text string, subjects ...*Subject) (*Condition, error) {
	x, about, err := parse(text, subjects)
	if err != nil {
		return nil, err
	}
	return &Condition{x, about}, nil
}

// Subject returns what the expression is about.
func (c *Condition) Subject() *Subject { return c.about }

// Text returns the expression as the user wrote it.
func (c *Condition) Text() string { return c.x.text }

// String returns the expression in canonical form, which Subject.Parse accepts.
func (c *Condition) String() string { return c.x.String() }

// Match reports whether the expression holds. value returns the value of a property, given as an index into
// Subject.Properties. key is the key if the property is a PropertyKeyed, and otherwise "". Match ignores the order in
// which it calls value, and value returns ValueNull if there is no value. start is the wall clock at the start of the
// trace. If start is zero, because the trace does not state it, times are nanoseconds since the start and no date
// matches.
func (c *Condition) Match(start time.Time, value func(property int, key string) ntconv.Value) bool {
	m := &conditionMatcher{Condition: c, start: start, value: value}
	return m.eval(c.x.root)
}

type conditionMatcher struct {
	*Condition
	scalar Matcher // for its scratch buffer
	start  time.Time
	value  func(property int, key string) ntconv.Value
}

func (m *conditionMatcher) eval(n *node) bool {
	switch n.kind {
	case nodeAnd:
		return m.eval(n.left) && m.eval(n.right)
	case nodeOr:
		return m.eval(n.left) || m.eval(n.right)
	case nodeNot:
		return !m.eval(n.left)
	}
	t := m.x.tests[n.test]
	if t.any {
		return true
	}
	i := slices.IndexFunc(m.about.Properties, func(p Property) bool { return p.Name == t.prop.Name })
	return m.test(t, m.value(i, t.key()))
}

// key returns the key if the operand is a PropertyKeyed, and otherwise "".
func (t *test) key() string {
	if len(t.path) < 3 {
		return ""
	}
	return t.path[2]
}

// test compares the value of a property. A test of a property without a value is false, != too.
func (m *conditionMatcher) test(t *test, v ntconv.Value) bool {
	if v.Kind() == ntconv.ValueNull || t.op == opHas {
		return v.Kind() != ntconv.ValueNull
	}
	switch t.prop.Kind {
	case PropertyWord:
		word := string(v.AppendString(nil))
		return t.idTest([]byte(strings.ToLower(word))) || t.op == opMatch && t.re.MatchString(word)
	case PropertyDuration:
		return slices.ContainsFunc(
			t.lits,
			func(l literal) bool { return t.op.holds(order(compare(v.Int(), int64(l.dur)))) },
		)
	case PropertyTime:
		return slices.ContainsFunc(t.lits, func(l literal) bool { return m.timeTest(t, v.Int(), &l) })
	}
	return m.scalar.fieldTest(t, v, nil, new(bound)) || t.prop.Kind == PropertyKeyed && m.parsedTest(t, v)
}

// timeTest compares nanoseconds since 1970, or since the start of the trace if its date is unknown.
func (m *conditionMatcher) timeTest(t *test, nanos int64, l *literal) bool {
	start, at := m.start, l.date
	switch {
	case start.IsZero() && l.isDate:
		return false
	case start.IsZero(): // times are nanoseconds since the start
		at = time.Unix(0, int64(l.dur))
	case !l.isDate:
		at = start.Add(l.dur)
	}
	return t.op.holds(order(time.Unix(0, nanos).Compare(at)))
}

// parsedTest compares a string that contains a number or a Boolean in text form, or the elements of a list of such
// strings. It ignores the strings "0" and "1" as Booleans, because they are numbers.
func (m *conditionMatcher) parsedTest(t *test, v ntconv.Value) bool {
	switch v.Kind() {
	case ntconv.ValueList:
		for e := range v.Elems() {
			if m.parsedTest(t, e) {
				return true
			}
		}
	case ntconv.ValueString:
		text := string(v.AppendString(nil))
		if yes, err := strconv.ParseBool(strings.ToLower(text)); err == nil && len(text) > 1 {
			return t.boolTest(yes)
		}
		l, wrong := parseNumber(text)
		return wrong == "" && l.kind == litNumber && t.numberTest(l.num)
	}
	return false
}

// example returns a comparison for messages.
func (p *parser) example() string {
	if len(p.subjects) == 0 {
		return "Size > 1000"
	}
	return p.subjects[0].Example
}

// subjectOperand parses the left side of a comparison of a subject's property, or the name of the subject alone.
func (p *parser) subjectOperand(t *test) error {
	tok := p.tok
	if tok.kind != tokenName && tok.kind != tokenString {
		s := p.subjects[0]
		return p.errorf(tok.pos, "want a property such as %s.%s, got %v", s.Name, s.Properties[0].Name, tok)
	}
	if err := p.names(t); err != nil {
		return err
	}
	s, err := p.subject(t, tok.pos)
	if err != nil {
		return err
	}
	if len(t.path) == 1 {
		t.any = true
		return nil
	}
	i := slices.IndexFunc(s.Properties, func(p Property) bool { return p.Name == t.path[1] })
	if i < 0 {
		return p.errorf(tok.pos, "a %s has no property %s%s", s.Name, t.path[1], s.suggest(t.path[1]))
	}
	t.prop = &s.Properties[i]
	keyed := t.prop.Kind == PropertyKeyed
	switch {
	case keyed && len(t.path) == 2:
		return p.errorf(tok.pos, `%s needs a key: %s."KEY"`, t.operand(), t.operand())
	case keyed:
		t.path = append(t.path[:2], strings.Join(t.path[2:], "."))
	case len(t.path) > 2:
		return p.errorf(tok.pos, "%s.%s has no member %s", s.Name, t.path[1], t.path[2])
	}
	return nil
}

// subject returns the subject that an operand names. It is the same for all operands of an expression.
func (p *parser) subject(t *test, pos int) (*Subject, error) {
	name, member := t.path[0], t.path[len(t.path)-1]
	i := slices.IndexFunc(p.subjects, func(s *Subject) bool { return s.Name == name })
	switch {
	case i < 0 && p.about != nil:
		return nil, p.errorf(pos, "%s is not a property of a %s%s", t.operand(), p.about.Name, p.about.suggest(member))
	case i < 0 && len(p.subjects) == 1:
		return nil, p.errorf(pos, "%s is not a property of a %s%s", t.operand(), p.subjects[0].Name, p.subjects[0].suggest(member))
	case i < 0:
		return nil, p.errorf(pos, "%s is unknown; %s", t.operand(), p.available(name))
	case p.about != nil && p.about != p.subjects[i]:
		return nil, p.errorf(pos, "%s and %s in one expression; use one expression for each", p.about.Name, name)
	}
	p.about = p.subjects[i]
	return p.about, nil
}

// available returns the end of a message: the subject whose name resembles name most, or else all subjects.
func (p *parser) available(name string) string {
	best, least := "", max(1, len(name)/3)+1
	var all []string
	for _, s := range p.subjects {
		all = append(all, s.Name)
		if d := distance(strings.ToLower(name), s.Name); d < least {
			best, least = s.Name, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return "available: " + strings.Join(all, ", ")
}

// suggest returns the end of a message: the property whose name resembles name most, or else all properties.
func (s *Subject) suggest(name string) string {
	best, least := "", max(2, len(name)/3)+1
	var all []string
	for _, p := range s.Properties {
		full := s.Name + "." + p.Name
		if p.Kind == PropertyKeyed {
			full += ".KEY"
		}
		all = append(all, full)
		if d := distance(strings.ToLower(name), p.Name); d < least {
			best, least = full, d
		}
	}
	if best != "" {
		return "; did you mean " + best + "?"
	}
	return "; available: " + strings.Join(all, ", ")
}

// distance returns the Levenshtein distance: the number of bytes that must be inserted, deleted or replaced to turn a
// into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// misfitProperty says why a value cannot be compared with a property. It returns "" if it can.
func (t *test) misfitProperty(l *literal) string {
	kind, name := t.prop.Kind, t.operand()
	switch {
	case t.op == opMatch && (kind == PropertyDuration || kind == PropertyTime):
		return name + " is not a string; =~ needs a string"
	case t.op == opMatch && l.kind != litString:
		return "want a regular expression in quotes"
	case (kind == PropertyText || kind == PropertyWord) && l.kind != litString:
		return name + " is a string; want a string in quotes, got " + l.String()
	case kind == PropertyWord && t.op != opMatch && t.prop.Values != nil && !slices.Contains(t.prop.Values, l.lower):
		return fmt.Sprintf("%s is never %s; want one of %s", name, l, strings.Join(t.prop.Values, ", "))
	case kind == PropertyNumber && t.op == opMatch:
		return name + " is not a string; =~ needs a string"
	case kind == PropertyNumber && l.kind != litNumber:
		return name + " is a number; want a number, got " + l.String()
	case kind == PropertyDuration && l.kind != litDuration:
		return name + " is a duration; want a duration such as 100ms, got " + l.String()
	case kind == PropertyTime && l.kind != litDuration && !l.isDate:
		return name + ` is a time; want a duration since the start such as 1.5s, or a date such as "2026-11-21T06:52:53.5Z", got ` + l.String()
	case kind == PropertyKeyed && l.kind == litDuration:
		return name + " has no unit; want a number or a string, got " + l.String()
	}
	return ""
}
