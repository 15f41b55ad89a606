package scrub

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ntconv/ntconv/internal/select/where"
)

// ErrPolicy means that a line of a policy is invalid.
var ErrPolicy = errors.New("invalid policy")

// An action is what happens to the texts of a class.
type action uint8

const (
	actionReplace action = iota
	actionKeep
	actionFile
	actionHash
	actionNumber
	actionOneOf
	actionID
	actionZero
)

var actionNames = []string{"replace", "keep", "file", "hash", "number", "one-of", "id", "zero"}

// Classes that the code refers to.
const (
	classText        = "text"
	classBytes       = "bytes"
	classUndecoded   = "undecoded"
	classMethod      = "method"
	className        = "name"
	classTemplate    = "template"
	classVersion     = "version"
	classMapped      = "mapped"
	classPattern     = "pattern"
	classBuildID     = "build-id"
	classSource      = "source"
	classProcess     = "process"
	classThread      = "thread"
	classHost        = "host"
	classAddress     = "address"
	classLabel       = "label"
	classChosen      = "chosen"
	classChrome      = "chrome-name"
	classChromeEvent = "chrome-event"
	classID          = "id"
)

// Contexts of keys that are not classes of fields, or that share their keys.
const (
	contextTrace     = "trace"
	contextAttribute = "attribute"
	contextArgument  = "argument"
)

// A class is a kind of secret, or of harmless text.
type class struct {
	name   string
	index  int // in Policy.order
	action action
	names  bool // names: one that contains a path is not kept
	words  map[string]bool
	first  [256]bool // bytes with which kept words begin
	globs  []string  // of words
	keys   *keyTable
}

// matchesGlob reports whether a text matches a pattern among the words of the class.
func (c *class) matchesGlob(text []byte) bool {
	if len(text) > maxKept {
		return false
	}
	for _, g := range c.globs {
		if where.Match(g, string(text)) {
			return true
		}
	}
	return false
}

// A fieldRule assigns a class to fields.
type fieldRule struct {
	provider, path, class string
	rule                  int // in Policy.rules
}

// A keyRule assigns a class to the values of a key.
type keyRule struct {
	key, class string
	rule       int // in Policy.rules
}

// A dropRule drops the events of providers.
type dropRule struct {
	pattern string
	rule    int // in Policy.rules
}

// A keyTable has the classes of the values of keys in a context.
type keyTable struct {
	exact map[string]keyRule
	globs []keyRule
	loose bool // case, punctuation and a prefix Activity do not matter
}

// A Policy has the rules of what to replace. It is read-only after NewPolicy and safe for concurrent use.
type Policy struct {
	classes    map[string]*class
	order      []string // names of classes
	fields     []fieldRule
	keys       map[string]*keyTable
	words      map[string]bool // kept in every class
	extensions map[string]bool
	dropped    []dropRule
	rules      []rule
	used       []bool // by rule: whether it matched; nil outside of a Scrubber
}

// NewPolicy returns a policy with rules in the form of DefaultPolicy, each text before the next, and then the default
// policy. The names are those of the texts in errors, which wrap ErrPolicy and state the line.
func NewPolicy(names, texts []string) (*Policy, error) {
	p := &Policy{
		classes: make(map[string]*class), keys: make(map[string]*keyTable),
		words: make(map[string]bool), extensions: make(map[string]bool),
	}
	for i, text := range append(slices.Clone(texts), DefaultPolicy) {
		name := "default policy"
		if i < len(names) {
			name = names[i]
		}
		if err := p.read(name, strings.NewReader(text), i < len(texts)); err != nil {
			return nil, err
		}
	}
	return p, p.link()
}

// read adds the rules of a text. own means that the text is not the default policy.
func (p *Policy) read(name string, r io.Reader, own bool) error {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "# ")
		if words := strings.Fields(line); len(words) > 0 && words[0][0] != '#' {
			r := rule{file: name, line: n, own: own}
			if own {
				r.text = strings.Join(words, " ")
			}
			if err := p.rule(words, r); err != nil {
				return fmt.Errorf("%s: line %d: %w: %w", name, n, ErrPolicy, err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w: %w", name, ErrPolicy, err)
	}
	return nil
}

// rule adds the rule of one line. r describes the line.
func (p *Policy) rule(w []string, r rule) error {
	want := map[string]int{"class": 3, "field": 3, "key": 4, "provider": 3}
	if n := want[w[0]]; n != 0 && len(w) != n {
		return fmt.Errorf("%s with %d words, want %d", w[0], len(w), n)
	}
	switch w[0] {
	case "class":
		i := slices.Index(actionNames, w[2])
		if i < 0 {
			return fmt.Errorf("no action %q; these exist: %s", w[2], strings.Join(actionNames, ", "))
		}
		if p.classes[w[1]] == nil {
			p.add(w[1], action(i))
		}
		r.defines = w[1]
		p.addRule(r)
	case "field":
		field, err := newFieldRule(w[1], w[2])
		if err != nil {
			return err
		}
		r.class, r.selects = w[2], true
		field.rule = p.addRule(r)
		p.fields = append(p.fields, field)
	case "key":
		r.class, r.context, r.selects = w[3], w[1], true
		p.table(w[1]).add(keyRule{w[2], w[3], p.addRule(r)})
	case "words":
		return p.addWords(w[1:])
	case "extension":
		for _, ext := range w[1:] {
			p.extensions[ext] = true
		}
	case "provider":
		if w[2] != "drop" {
			return fmt.Errorf("provider %s %s: want drop", w[1], w[2])
		}
		r.selects = true
		p.dropped = append(p.dropped, dropRule{w[1], p.addRule(r)})
	default:
		return fmt.Errorf("no rule %q; these exist: class, field, key, words, extension, provider", w[0])
	}
	return nil
}

func (p *Policy) add(name string, a action) *class {
	c := &class{name: name, index: len(p.order), action: a, words: make(map[string]bool)}
	p.classes[name], p.order = c, append(p.order, name)
	return c
}

// newFieldRule splits a pattern at the last slash before its last part.
func newFieldRule(pattern, class string) (fieldRule, error) {
	i := strings.IndexByte(pattern, '/')
	if i < 0 || !strings.Contains(pattern[i:], ".") {
		return fieldRule{}, fmt.Errorf("field %q: want PROVIDER/EVENT.FIELD", pattern)
	}
	return fieldRule{provider: pattern[:i], path: pattern[i+1:], class: class}, nil
}

func (p *Policy) table(context string) *keyTable {
	t := p.keys[context]
	if t == nil {
		t = &keyTable{exact: make(map[string]keyRule), loose: context == contextArgument}
		p.keys[context] = t
	}
	return t
}

// add adds a key unless it exists, because the first rule applies.
func (t *keyTable) add(r keyRule) {
	if t.loose {
		r.key = string(appendLoose(nil, []byte(r.key)))
	}
	switch _, ok := t.exact[r.key]; {
	case strings.ContainsAny(r.key, "*?"):
		t.globs = append(t.globs, r)
	case !ok:
		t.exact[r.key] = r
	}
}

func (p *Policy) addWords(w []string) error {
	if len(w) == 0 {
		return errors.New("words without a class")
	}
	if w[0] == "*" {
		for _, word := range w[1:] {
			p.words[word] = true
		}
		return nil
	}
	c := p.classes[w[0]]
	if c == nil {
		return fmt.Errorf("words of the class %q, which no earlier line defines", w[0])
	}
	for _, word := range w[1:] {
		if strings.ContainsAny(word, "*?") {
			c.globs = append(c.globs, word)
		} else {
			c.words[word] = true
		}
	}
	return nil
}

// link checks that all classes exist and connects them with the tables of keys.
func (p *Policy) link() error {
	if err := p.check(); err != nil {
		return err
	}
	for name, c := range p.classes {
		c.keys = p.keys[name]
		c.names = name == classMethod || name == className
		for _, words := range []map[string]bool{c.words, p.words} {
			for word := range words {
				c.first[word[0]] = true
			}
		}
	}
	p.classes[classLabel].keys = p.keys[contextAttribute]
	return nil
}

// class returns a class by name. Every policy contains the classes of the default policy.
func (p *Policy) class(name string) *class { return p.classes[name] }

// rulesFor returns the rules for the fields of a provider.
func (p *Policy) rulesFor(provider string) (rules []fieldRule) {
	for _, f := range p.fields {
		if where.Match(f.provider, provider) {
			rules = append(rules, f)
		}
	}
	return rules
}

// field returns the class of a field by the rules of its provider, or nil if no rule names it. It marks all matching
// rules up to those of the default policy, although only the first one applies.
func (p *Policy) field(rules []fieldRule, path string) (c *class) {
	for i := range rules {
		r := &rules[i]
		if c != nil && !p.rules[r.rule].own {
			break
		}
		if where.Match(r.path, path) {
			p.mark(r.rule)
			if c == nil {
				c = p.classes[r.class]
			}
		}
	}
	return c
}

// key returns the class of the value of a key in a context, or nil if no rule knows the key. Arguments may also have
// the keys of attributes.
func (p *Policy) key(context string, key []byte) *class {
	t := p.keys[context]
	if t == nil {
		return nil
	}
	if c := p.in(t, key); c != nil || context != contextArgument {
		return c
	}
	return p.in(p.keys[contextAttribute], key)
}

// in returns the class of the value of a key in a table, or nil.
func (p *Policy) in(t *keyTable, key []byte) *class {
	if t == nil {
		return nil
	}
	if t.loose {
		var buf [64]byte
		key = appendLoose(buf[:0], key)
	}
	if r, ok := t.exact[string(key)]; ok {
		p.mark(r.rule)
		return p.classes[r.class]
	}
	for i := range t.globs {
		if g := &t.globs[i]; where.Match(g.key, string(key)) {
			p.mark(g.rule)
			return p.classes[g.class]
		}
	}
	return nil
}

// appendLoose appends a key in the form in which keys of arguments are compared.
func appendLoose(dst, key []byte) []byte {
	from := len(dst)
	for _, b := range key {
		switch {
		case 'A' <= b && b <= 'Z':
			dst = append(dst, b|0x20)
		case b != '_' && b != '-' && b != '.' && b != ' ':
			dst = append(dst, b)
		}
	}
	const prefix = "activity"
	if rest := dst[from:]; len(rest) > len(prefix) && string(rest[:len(prefix)]) == prefix {
		return append(dst[:from], rest[len(prefix):]...)
	}
	return dst
}

// keyClass is key for a text of a class.
func (p *Policy) keyClass(c *class, key []byte) *class {
	if c.keys == nil {
		return nil
	}
	return p.in(c.keys, key)
}

// drops reports whether the events of a provider are dropped.
func (p *Policy) drops(provider string) bool {
	drops := false
	for _, d := range p.dropped {
		if where.Match(d.pattern, provider) {
			p.mark(d.rule)
			drops = true
		}
	}
	return drops
}

// Drops reports whether the policy drops events of some provider.
func (p *Policy) Drops() bool { return len(p.dropped) > 0 }

// hasExtension reports whether the first word of a text is a known extension.
func (p *Policy) hasExtension(text []byte) bool {
	n := 0
	for n < len(text) && isWordRune(rune(text[n])) {
		n++
	}
	return p.extensions[string(text[:n])]
}
