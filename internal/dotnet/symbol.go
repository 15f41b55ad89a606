package dotnet

import "strings"

// A Symbol is a method as perf maps and ProcessSymbol events name it:
//
//	Return [Module] Type::Method(Args)[Tier]
type Symbol struct {
	Return string // "instance void"; may name assemblies itself: "valuetype [System.Runtime]System.Nullable`1<int32>"
	Module string // assembly name without directory and extension
	Type   string // as in Method.Namespace: nested types by +, type arguments in brackets
	Method string
	Args   string // with its parentheses
	Tier   string // as recorded, such as "PreJIT" or "OptimizedTier1"
}

// ParseSymbol takes a symbol apart. It reports false for everything else, so for the names of native, kernel and script code.
//
// The module is the first bracket group between blanks, the tier the group at the end: the rule of TraceEvent (its tests are
// UniversalSymbolParsingTest). Beyond that rule, a "::" is required, and a tier may have no blanks, because gcc's
// " [clone .part.0]" has the same shape.
func ParseSymbol(s string) (Symbol, bool) {
	body, ok := strings.CutSuffix(s, "]")
	if !ok {
		return Symbol{}, false
	}
	from := strings.LastIndexByte(body, ']') + 1
	open := strings.IndexByte(body[from:], '[')
	if open < 0 {
		return Symbol{}, false
	}
	open += from
	ret, module, text, ok := cutModule(body[:open])
	tier := body[open+1:]
	if !ok || tier == "" || strings.ContainsAny(tier, " \t") {
		return Symbol{}, false
	}
	name, args := cutParams(text)
	typ, method, ok := strings.Cut(name, "::")
	if !ok || typ == "" || method == "" {
		return Symbol{}, false
	}
	return Symbol{Return: ret, Module: module, Type: typ, Method: method, Args: args, Tier: tier}, true
}

// cutModule splits at the first bracket group that has a blank on either side. "class [Asm]Type" has none after the group.
func cutModule(s string) (ret, module, text string, ok bool) {
	end := 0 // index of the first ']' at or after at: groups may share it, so it is not searched for again
	for at := 1; at < len(s); {
		i := strings.Index(s[at:], " [")
		if i < 0 {
			break
		}
		open := at + i + 2
		if end < open {
			n := strings.IndexByte(s[open:], ']')
			if n < 0 {
				break
			}
			end = open + n
		}
		if after := s[end+1:]; end > open && strings.HasPrefix(after, " ") {
			text = strings.TrimLeft(after, " ")
			return strings.TrimRight(s[:open-2], " "), s[open:end], text, text != ""
		}
		at = open
	}
	return "", "", "", false
}

// Raw returns the name that TraceEvent gives the method: the symbol without return type, module and tier.
func (s Symbol) Raw() string { return s.Type + "::" + s.Method + s.Args }

// Pretty returns the name for reading; see the package comment. It is Raw where the notation is not understood.
func (s Symbol) Pretty() string {
	return s.display(false)
}

// Short returns the name as Pretty spells it, without the namespace and without type arguments. It is Raw where the
// notation is not understood.
func (s Symbol) Short() string { return s.display(true) }

func (s Symbol) display(short bool) string {
	if name, ok := new(Speller).pretty(s.Type, s.Method, s.Return, s.Args, short); ok {
		return name
	}
	return s.Raw()
}
