package dotnet

import (
	"slices"
	"strings"
)

const canonName = "System.__Canon"

// pretty returns the display name of a method. ok is false if a notation is unknown. A short name has no namespace and
// no type arguments.
//
//  1. Translate the type arguments, which the signature may repeat.
//  2. Write the type. Arguments of closure classes and state machines become pending.
//  3. Write the method: the source method with the pending arguments, the generated member in it, and its type
//     arguments.
//  4. Write the parameters. A state machine has a mark instead, because its parameters are not recorded.
func (s *Speller) pretty(typeName, method, ret, params string, short bool) (name string, ok bool) {
	size := len(typeName) + len(method) + len(params)
	p := printer{b: slices.Grow(s.b[:0], size+64), limit: 4*size + 64, short: short, known: s.types}
	name, ok = p.whole(typeName, method, ret, params)
	s.b = p.b
	return name, ok
}

// whole writes the whole name and returns it without its cuts.
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
	case typeName == "dynamicClass": // arbitrary names, chosen by callers of new DynamicMethod
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

// shown returns the buffer from start on, without its cuts. It overwrites the buffer.
func (p *printer) shown(start int) []byte {
	out, at := p.b[start:start], start
	for _, c := range p.cuts {
		if c.lo >= at { // neither inside the previous cut nor before start
			out = append(out, p.b[at:c.lo]...)
			at = c.hi
		}
	}
	return append(out, p.b[at:]...)
}

// machineMark distinguishes async methods, whose MoveNext returns void, from iterators, whose MoveNext returns bool.
func machineMark(ret string) string {
	switch strings.TrimSpace(strings.TrimPrefix(ret, "instance")) {
	case "void":
		return " [async]"
	case "bool":
		return " [iterator]"
	}
	return " [MoveNext]"
}

// declaring writes the declaring type of a method, with its namespace, and returns the index in the buffer at which it
// begins. It sets args, lettered and machine.
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

// typeArity returns the total number of type parameters that the segments of a nested type's name declare.
func typeArity(name string) (sum int) {
	if strings.IndexByte(name, '`') < 0 {
		return 0
	}
	for name != "" { // searching for the next backtick from each segment would take quadratic time if only the last one has any
		end := segmentEnd(name)
		_, n := cutArity(name[:end])
		sum += n
		name = name[min(end+1, len(name)):]
	}
	return sum
}

// path writes the name of a type, possibly nested. Each segment takes its own part of args. The short form has no
// namespace.
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
		if !own {
			// As in "Enumerator<!0>" of the runtime, which has the type parameters of its outer type, but not its name.
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

// namespace writes the namespace of a name, unless the name is short, and returns the rest of the name.
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

// A segmentAt is the position of a segment in the name of a type.
type segmentAt struct{ first, last, short bool }

// segment writes one segment of a nested type's name.
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

// member writes the name of a method as metadata spells it. A name with a dot explicitly implements a member of an
// interface. Brackets at the end contain the type arguments of the method.
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

// plain writes a name, with letters in place of the arity after a backtick, as in InvokeStub_KeyValuePair`2.get_Key.
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

// generic writes the type parameters of a generic method. Method events state only that a method is generic; its
// signature shows how many type parameters it uses.
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

// variables returns one more than the highest type parameter of a method (!!2) in a signature.
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

// params writes the parameter list. It omits the last parameters of a local function, which are structs of captured
// variables.
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

// param writes the type of a parameter. If the type contains no type parameter, its name depends on the method only by
// the limit on the length of p.b. Short names have cuts, which known does not contain.
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
