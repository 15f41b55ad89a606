package dotnet

import "strings"

// Names that Roslyn generates begin with '<' and the name of the source method, which may itself be such a name. A
// letter follows that identifies the kind of the member (GeneratedNameKind in Roslyn's sources).
//
//	<Run>b__5_0, <Run>b__0   lambda: numbers of the method and of the lambda; only the latter in <>c__DisplayClass5_0
//	<Run>g__Local|5_0        local function
//	<Run>d__5, <Run>d        state machine of an async method or iterator
//	<Main>$                  method of top-level statements; also <Clone>$ of records
//	<>c, <>c__5              class of the lambdas that capture nothing; the latter in generic methods
//	<>c__DisplayClass5_0     class of captured variables
//	<File>F12AB__Name        type local to a file
//	<>f__AnonymousType0      <>m__Finally1, <>z__ReadOnlyArray: other members, whose names are readable without a method

type kind uint8

const (
	kindOther   kind = iota // unknown: the name remains unchanged
	kindNamed               // has its own name and no source method
	kindMethod              // belongs to the source method
	kindMachine             // a state machine, which represents the source method
)

// generated writes the display name of a compiler-generated name. It writes nothing if the kind is kindOther.
func (p *printer) generated(s string) kind {
	n, ok := skipGroup(s)
	if !ok || n == len(s) || p.depth > maxDepth {
		return kindOther
	}
	inner, rest := s[1:n-1], s[n:]
	letter, tail := rest[0], rest[1:]
	name, hasName := strings.CutPrefix(tail, "__")
	switch {
	case inner == "":
		if !hasName || letter == 'c' || letter == 'n' || name == "" {
			return kindOther
		}
		p.str(name)
		return kindNamed
	case rest == "$":
		p.source(inner)
		return kindMethod
	case letter == 'b' && hasName:
		p.source(inner)
		p.str(".lambda_")
		p.str(name[strings.LastIndexByte(name, '_')+1:])
		return kindMethod
	case letter == 'g' && hasName:
		name, _, _ = strings.Cut(name, "|")
		p.source(inner)
		p.char('.')
		p.str(name)
		return kindMethod
	case letter == 'd' && (tail == "" || hasName):
		// These are the dots of System.IFoo.Bar, which the name of a type cannot contain.
		p.source(strings.ReplaceAll(inner, "-", "."))
		return kindMachine
	case letter == 'F':
		if i := strings.Index(tail, "__"); i > 0 && i+2 < len(tail) &&
			strings.Trim(tail[:i], "0123456789ABCDEFabcdef") == "" {
			p.str(tail[i+2:])
			return kindNamed
		}
	}
	return kindOther
}

// source writes the name in the angle brackets: the source method, with its type arguments.
func (p *printer) source(s string) {
	p.depth++
	defer func() { p.depth-- }()
	if strings.HasPrefix(s, "<") && p.generated(s) != kindOther {
		return
	}
	p.member(s)
	p.list(p.pending)
	p.pending = nil
}

// isClosure reports whether a type is a class that contains lambdas and captured variables.
func isClosure(segment string) bool {
	return segment == "<>c" || strings.HasPrefix(segment, "<>c__")
}

// isLocal reports whether a method is a lambda or a local function.
func isLocal(method string) bool {
	return strings.HasPrefix(method, "<") && (strings.Contains(method, ">b__") || strings.Contains(method, ">g__"))
}
