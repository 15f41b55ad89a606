package dotnet

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// An argument is a generic argument in one of three forms: a letter, a source string that is not translated yet, or a
// part of the buffer that contains its translation.
type argument struct {
	letter byte // T or U if not 0;
	n, of  int  // then index and number of the letters

	src string // source string if not empty

	lo, hi int // otherwise the part printer.b[lo:hi]
}

// letters returns n type parameters without known arguments.
func letters(c byte, n int) (args []argument) {
	for i := range n {
		args = append(args, argument{letter: c, n: i, of: n})
	}
	return args
}

// A printer translates one name. Its buffer b begins with the translated type arguments, which are copied wherever the
// signature contains !0; the name follows.
//
// Who sets the state, and who uses it:
//
//	args, lettered  declaring sets them; variable resolves !0 with args, and letters depend on lettered
//	margs           member or generic; variable resolves !!0
//	canon           named, for each System.__Canon in order
//	pending         segment adds to it; the next segment or source method writes and clears it
//	machine         segment, for the last segment of the type; whole then writes a mark instead of MoveNext
//	cuts            list and repeat append, insert moves, shown applies them
type printer struct {
	b      []byte
	limit  int  // give up if b is longer, because a short input can repeat arguments without bound
	depth  int  // nesting of types, bounded because the printer recurses
	failed bool // a notation is unknown, so the caller uses the raw name

	canons, canon int        // number of System.__Canon among the arguments, and how many of them have a letter
	args          []argument // !0, !1, ...: arguments of the type and its outer types
	margs         []argument // !!0, !!1, ...
	lettered      bool       // the name of one of args is a letter
	// Arguments of a closure class or state machine; they belong to its source method, which follows.
	pending []argument
	local   bool  // the method is a lambda or a local function, so that closure classes disappear
	short   bool  // omit the namespace, and remove cuts
	cuts    []cut // positions of type arguments, sorted by lo; recorded only if short is set
	machine bool  // the type is a state machine

	known map[string]string // names of parameter types by their recorded spelling; nil if they are not kept
}

// A cut is a part of printer.b that short names omit. Only done removes it, because the signature may repeat its
// contents.
type cut struct{ lo, hi int }

const maxDepth = 40

func (p *printer) str(s string) { p.b = append(p.b, s...) }
func (p *printer) char(c byte)  { p.b = append(p.b, c) }
func (p *printer) fail()        { p.failed = true }
func (p *printer) number(n int) { p.b = strconv.AppendInt(p.b, int64(n), 10) }

// insert inserts s into the buffer at an index and moves the cuts after it.
func (p *printer) insert(at int, s string) {
	p.b = slices.Insert(p.b, at, []byte(s)...)
	for i := len(p.cuts) - 1; i >= 0 && p.cuts[i].lo >= at; i-- {
		p.cuts[i].lo, p.cuts[i].hi = p.cuts[i].lo+len(s), p.cuts[i].hi+len(s)
	}
}

// typ writes a type in either notation. s must contain nothing else.
func (p *printer) typ(s string) {
	if p.depth++; p.depth > maxDepth || len(p.b) > p.limit {
		p.fail()
	}
	if !p.failed {
		start := len(p.b)
		p.suffix(p.element(modifiers(strings.TrimSpace(s))), start)
	}
	p.depth--
}

// modifiers removes words before a type that do not identify it.
func modifiers(s string) string {
	for {
		word, rest, ok := strings.Cut(s, " ")
		if !ok {
			return s
		}
		switch word {
		case "value": // the runtime's "value class"
			if !strings.HasPrefix(rest, "class ") {
				return s
			}
		case "class", "valuetype", "pinned", "instance":
		case "required_modifier", "optional_modifier": // and the modifier, a type
			_, rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
		default:
			return s
		}
		s = strings.TrimLeft(rest, " ")
	}
}

// element writes the type at the start of s and returns the rest (ranks, pointers, ref).
func (p *printer) element(s string) (rest string) {
	switch {
	case s == "":
		p.fail()
		return ""
	case s[0] == '!':
		return p.variable(s)
	case s == "...":
		p.str("__arglist")
		return ""
	case s[0] == '[':
		return p.assembly(s)
	case strings.HasPrefix(s, "pMT: "):
		return p.address(strings.TrimLeft(s[len("pMT:"):], " "))
	case strings.HasPrefix(s, "fnptr "):
		return p.pointer(s[len("fnptr "):])
	case strings.HasPrefix(s, "method "):
		return p.pointer(s[len("method "):])
	}
	if name, n := primitive(s); name != "" {
		p.str(name)
		return s[n:]
	}
	name, args, rest, ok := cutType(s)
	if !ok {
		p.fail()
		return ""
	}
	p.named(name, args)
	return rest
}

// cutType splits s after the type name at its start and its arguments, which are in angle or square brackets.
func cutType(s string) (name string, args []argument, rest string, ok bool) {
	n := nameEnd(s)
	name, rest = s[:n], s[n:]
	if after, found := strings.CutPrefix(rest, " /* "); found { // "Type /* MT: 0x7f2e */<Args>"
		if i := strings.Index(after, "*/"); i >= 0 {
			rest = after[i+2:]
		}
	}
	if rest == "" || rest[0] != '<' && (rest[0] != '[' || isArray(rest)) {
		return name, nil, rest, name != ""
	}
	elems, rest, ok := cutGroup(rest)
	for _, e := range elems {
		args = append(args, argument{src: e})
	}
	return name, args, rest, ok && name != "" && len(elems) > 0
}

// assembly drops the assembly in "[Assembly]Type", and in "[Type, Assembly, Version=...]", an argument in full names of
// reflection.
func (p *printer) assembly(s string) string {
	elems, rest, ok := cutGroup(s)
	if !ok || len(elems) == 0 {
		p.fail()
		return ""
	}
	if rest == "" {
		p.typ(elems[0])
		return ""
	}
	if rest[0] == '[' { // "[A][B]" is invalid, and would recurse once per pair of brackets
		p.fail()
		return ""
	}
	return p.element(rest)
}

// address writes a type of which only the address of its method table is known.
func (p *printer) address(s string) string {
	n := 0
	for n < len(s) && (s[n] == 'x' || s[n] >= '0' && s[n] <= '9' || s[n] >= 'a' && s[n] <= 'f' || s[n] >= 'A' && s[n] <= 'F') {
		n++
	}
	p.char('?')
	if rest := s[n:]; strings.HasPrefix(rest, "<") {
		_, args, after, ok := cutType("?" + rest)
		if !ok {
			p.fail()
		}
		p.list(args)
		return after
	}
	return s[n:]
}

// pointer writes a function pointer, "R(A,B)" or "R *(A,B)", as C# does: delegate*<A, B, R>.
func (p *printer) pointer(s string) string {
	open := indexOuter(s, '(')
	if open < 0 {
		p.fail()
		return ""
	}
	params, rest, ok := cutGroup(s[open:])
	if !ok {
		p.fail()
		return ""
	}
	p.str("delegate*<")
	for _, t := range params {
		p.typ(t)
		p.str(", ")
	}
	p.typ(strings.TrimSuffix(strings.TrimSpace(s[:open]), " *"))
	p.char('>')
	return rest
}

// suffix writes ranks and pointers. A final & becomes a ref that is inserted at start.
func (p *printer) suffix(s string, start int) {
	for s = strings.TrimLeft(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		switch {
		case s == "&":
			p.insert(start, "ref ")
			return
		case s[0] == '*':
			p.char('*')
			s = s[1:]
		case s[0] == '[' && isArray(s):
			end := strings.IndexByte(s, ']') + 1
			p.char('[')
			for range strings.Count(s[:end], ",") {
				p.char(',')
			}
			p.char(']')
			s = s[end:]
		case strings.HasPrefix(s, "modreq(") || strings.HasPrefix(s, "modopt("):
			n, ok := skipGroup(s[len("modreq"):])
			if !ok {
				p.fail()
				return
			}
			s = s[len("modreq")+n:]
		default:
			p.fail()
			return
		}
	}
}

// variable writes the argument of a type parameter: !1 of the type, !!1 of the method.
func (p *printer) variable(s string) (rest string) {
	args, s := p.args, s[1:]
	method := strings.HasPrefix(s, "!")
	if method {
		args, s = p.margs, s[1:]
	}
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, ok := number(s[:end])
	switch {
	case !ok || n > maxArity:
		p.fail()
	case n < len(args):
		p.argument(args[n])
	default: // the name of the type does not state its parameters
		c := byte('T')
		if method && p.lettered {
			c = 'U'
		}
		p.letter(c, n, n+1)
	}
	return s[end:]
}

// letter writes the name of type parameter n of count, which has no known argument.
func (p *printer) letter(c byte, n, count int) {
	p.char(c)
	if count > 1 {
		p.number(n + 1)
	}
}

func (p *printer) argument(a argument) {
	switch {
	case a.letter != 0:
		p.letter(a.letter, a.n, a.of)
	case a.src != "":
		p.typ(a.src)
	default:
		p.repeat(a.lo, a.hi)
	}
}

// repeat appends a part of the buffer, including its cuts.
func (p *printer) repeat(lo, hi int) {
	by := len(p.b) - lo
	p.b = append(p.b, p.b[lo:hi]...)
	i, _ := slices.BinarySearchFunc(p.cuts, lo, func(c cut, lo int) int { return cmp.Compare(c.lo, lo) })
	for n := len(p.cuts); i < n && p.cuts[i].lo < hi; i++ {
		p.cuts = append(p.cuts, cut{p.cuts[i].lo + by, p.cuts[i].hi + by})
	}
}

// list writes type arguments, or nothing if args is empty, and stores the positions of the translations in args.
func (p *printer) list(args []argument) {
	if len(args) == 0 {
		return
	}
	i, lo := len(p.cuts), len(p.b)
	if p.short {
		p.cuts = append(p.cuts, cut{lo, lo}) // before the cuts of the arguments, so that cuts remain sorted
	}
	p.brackets('<', args, '>')
	if p.short {
		p.cuts[i].hi = len(p.b)
	}
}

func (p *printer) brackets(open byte, args []argument, end byte) {
	if len(p.b) > p.limit {
		p.fail()
		return
	}
	p.char(open)
	for i, a := range args {
		if i > 0 {
			p.str(", ")
		}
		lo := len(p.b)
		p.argument(a)
		args[i] = argument{lo: lo, hi: len(p.b)}
	}
	p.char(end)
}

// named writes a type as an argument or parameter: in C# notation if it has one, and otherwise by its short name.
func (p *printer) named(name string, args []argument) {
	short, _ := cutArity(name)
	switch {
	case len(args) == 0:
		if kw := keyword(name); kw != "" {
			p.str(kw)
			return
		}
		if name == canonName && p.canon < p.canons {
			p.letter('T', p.canon, p.canons)
			p.canon++
			return
		}
	case len(args) == 1 && short == "System.Nullable":
		p.argument(args[0])
		p.char('?')
		return
	case len(args) > 1 && short == "System.ValueTuple":
		p.brackets('(', args, ')')
		return
	}
	// Perf maps include outer types in signatures, method events do not; omit them in both.
	if i := lastOuter(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	outer := p.pending
	p.pending = nil
	p.path(name, args, true)
	p.pending = outer
}
