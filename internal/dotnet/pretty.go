package dotnet

import (
	"slices"
	"strings"
)

const canonName = "System.__Canon"

// pretty translates a name; ok is false where the notation is not understood. A short name has no namespace and no type
// arguments.
//
//  1. Translate the type's arguments, which the signature may repeat.
//  2. Write the type, keeping back the arguments of closure classes and state machines for
//  3. the method: its source method, what it is inside of it, and its type arguments.
//  4. Write the parameters, or what kind of state machine it is, whose parameters nobody wrote.
func (s *Speller) pretty(typeName, method, ret, params string, short bool) (name string, ok bool) {
	size := len(typeName) + len(method) + len(params)
	p := printer{b: slices.Grow(s.b[:0], size+64), limit: 4*size + 64, short: short, known: s.types}
	name, ok = p.whole(typeName, method, ret, params)
	s.b = p.b
	return name, ok
}

// whole writes a name and returns it.
func (p *printer) whole(typeName, method, ret, params string) (name string, ok bool) {
	p.canons = strings.Count(typeName, canonName) + strings.Count(method, canonName)
	p.local = isLocal(method)
	start := p.declaring(typeName)
	if len(p.b) > start {
		if p.machine && method == "MoveNext" {
			p.str(machineMark(ret))
			return p.done(start)
		}
		p.char('.')
	}
	switch {
	case typeName == "dynamicClass": // names at the whim of whoever called new DynamicMethod
		p.plain(method)
	case strings.HasPrefix(method, "<") && p.generated(method) != kindOther:
	default:
		p.member(method)
	}
	if len(p.margs) == 0 {
		p.generic(ret, params)
	}
	p.params(params)
	return p.done(start)
}

func (p *printer) done(start int) (string, bool) {
	if p.failed || len(p.b)-start > p.limit {
		return "", false
	}
	if len(p.cuts) > 0 {
		return string(p.shown(start)), true
	}
	return string(p.b[start:]), true
}

// shown returns the buffer from an index on without its cuts. It overwrites the buffer.
func (p *printer) shown(start int) []byte {
	out, at := p.b[start:start], start
	for _, c := range p.cuts {
		if c.lo >= at { // not within the previous cut, nor before start
			out = append(out, p.b[at:c.lo]...)
			at = c.hi
		}
	}
	return append(out, p.b[at:]...)
}

// machineMark tells async methods, whose MoveNext returns nothing, from iterators, whose MoveNext says whether there is
// a next.
func machineMark(ret string) string {
	switch strings.TrimSpace(strings.TrimPrefix(ret, "instance")) {
	case "void":
		return " [async]"
	case "bool":
		return " [iterator]"
	}
	return " [MoveNext]"
}

// declaring writes the type that a method belongs to, with its namespace, and returns where in the buffer it begins.
func (p *printer) declaring(s string) (start int) {
	name, args, rest, ok := cutType(s)
	if s == "" {
		return 0
	}
	if !ok || strings.HasSuffix(rest, "&") {
		p.fail()
		return 0
	}
	if args == nil {
		args = letters('T', min(typeArity(name), maxArity))
	}
	for i, a := range args {
		lo := len(p.b)
		p.argument(a)
		args[i] = argument{lo: lo, hi: len(p.b)}
		p.lettered = p.lettered || a.letter != 0 || p.canon > 0
	}
	p.args = args
	start = len(p.b)
	p.path(name, args, false)
	p.suffix(rest, start)
	return start
}

// typeArity adds up the type parameters that the parts of a nested type's name announce.
func typeArity(name string) (sum int) {
	if strings.IndexByte(name, '`') < 0 {
		return 0
	}
	for name != "" { // searching for the next backtick per part would take quadratic time if only the last part has one
		end := segmentEnd(name)
		_, n := cutArity(name[:end])
		sum += n
		name = name[min(end+1, len(name)):]
	}
	return sum
}

// path writes a type's name: the parts of a nested type, each with its own of the arguments. In short form it loses its namespace.
func (p *printer) path(name string, args []argument, short bool) {
	if args == nil {
		args = letters('T', min(typeArity(name), maxArity))
	}
	begin := len(p.b)
	own := typeArity(name) == len(args)
	for {
		end := segmentEnd(name)
		last := end == len(name)
		base, n := cutArity(name[:end])
		if !own { // as in the runtime's "Enumerator<!0>", which has its outer type's parameters and not its outer type's name
			if n = 0; last {
				n = len(args)
			}
		}
		if len(p.b) == begin {
			base = p.namespace(base, short)
		}
		p.segment(base, args[:n], segmentAt{first: len(p.b) == begin, last: last, short: short})
		if args = args[n:]; last {
			return
		}
		name = name[end+1:]
	}
}

// namespace writes the namespace of a name, unless the short form is asked for, and returns the name without it.
func (p *printer) namespace(s string, short bool) string {
	i := lastOuter(s, '.')
	if i <= 0 {
		return s
	}
	if !short && !p.short {
		p.str(s[:i])
	}
	return s[i+1:]
}

// segmentAt says where in a type's name a segment stands.
type segmentAt struct{ first, last, short bool }

// segment writes one part of a nested type's name.
func (p *printer) segment(base string, args []argument, at segmentAt) {
	if isClosure(base) && !at.first && (!at.last || p.local && !at.short) {
		p.pending = append(p.pending, args...)
		return
	}
	if !at.first {
		p.char('.')
	}
	if strings.HasPrefix(base, "<") {
		p.pending = append(p.pending, args...)
		switch p.generated(base) {
		case kindMachine:
			p.machine = at.last && !at.short
			return
		case kindMethod:
			return
		case kindOther:
			p.str(base)
		}
		p.list(p.pending)
		p.pending = nil
		return
	}
	p.str(base)
	p.list(args)
}

// member writes a method's name as it stands in metadata. What has a dot in it implements an interface's member explicitly;
// brackets at the end are the method's type arguments.
func (p *printer) member(s string) {
	if i := strings.IndexByte(s, '['); i > 0 && strings.HasSuffix(s, "]") {
		if elems, rest, ok := cutGroup(s[i:]); ok && rest == "" && len(elems) > 0 {
			for _, e := range elems {
				p.margs = append(p.margs, argument{src: e})
			}
			s = s[:i]
		}
	}
	mark, cuts := len(p.b), len(p.cuts)
	if i := lastOuter(s, '.'); i > 0 && i+1 < len(s) {
		if name, args, rest, ok := cutType(s[:i]); ok && rest == "" {
			p.named(name, args)
			p.char('.')
			s = s[i+1:]
		}
		if p.failed {
			p.b, p.cuts, p.failed = p.b[:mark], p.cuts[:cuts], false
		}
	}
	p.plain(s)
	p.list(p.margs)
}

// plain writes a name, with letters for the number of type parameters that a backtick announces, as in InvokeStub_KeyValuePair`2.get_Key.
func (p *printer) plain(s string) {
	for {
		i := strings.IndexByte(s, '`')
		if i < 0 || p.failed {
			p.str(s)
			return
		}
		end := i + 1
		for end < len(s) && s[end] >= '0' && s[end] <= '9' {
			end++
		}
		p.str(s[:i])
		if n, ok := number(s[i+1 : end]); ok && n > 0 && n <= maxArity {
			p.list(letters('T', n))
		} else {
			p.str(s[i:end])
		}
		s = s[end:]
	}
}

// generic writes the type parameters of a generic method, of which method events only tell that they exist, and a
// signature which of them it uses.
func (p *printer) generic(ret, params string) {
	count := max(variables(ret), variables(params))
	if count == 0 {
		for word := range strings.FieldsSeq(ret) {
			if word == "generic" {
				count = 1
			}
		}
	}
	c := byte('T')
	if p.lettered {
		c = 'U'
	}
	p.margs = letters(c, count)
	p.list(p.margs)
}

// variables returns one more than the highest number of a method's type parameter (!!2) in a signature.
func variables(s string) (count int) {
	for {
		i := strings.Index(s, "!!")
		if i < 0 {
			return count
		}
		s = s[i+2:]
		end := 0
		for end < len(s) && s[end] >= '0' && s[end] <= '9' {
			end++
		}
		if n, ok := number(s[:end]); ok && n < maxArity {
			count = max(count, n+1)
		}
	}
}

// params writes the parameter list. A local function's last parameters are the structs of its captured variables.
func (p *printer) params(s string) {
	if s == "" {
		return
	}
	parts, rest, ok := cutGroup(s)
	if !ok || rest != "" {
		p.fail()
		return
	}
	p.char('(')
	first := true
	for _, part := range parts {
		if p.local && strings.HasSuffix(part, "&") && strings.Contains(part, "<>c__DisplayClass") {
			continue
		}
		if !first {
			p.str(", ")
		}
		first = false
		p.param(part)
	}
	p.char(')')
}

// param writes the type of a parameter. Its name does not depend on the method if it contains no type parameter, unless
// the length of the name exceeds the limit within it. Short names have cuts, which known does not have.
func (p *printer) param(s string) {
	name, ok := p.known[s]
	if ok && !p.short && !p.failed && len(p.b)+len(name) <= p.limit {
		p.str(name)
		return
	}
	start := len(p.b)
	p.typ(s)
	if p.known == nil || ok || p.short || p.failed || len(p.known) >= maxKnown || len(s) > maxKnownSize ||
		strings.IndexByte(s, '!') >= 0 || strings.Contains(s, canonName) {
		return
	}
	p.known[strings.Clone(s)] = string(p.b[start:])
}
