package dotnet

import "strings"

// A Symbol contains the parts of a method name in a perf map or a ProcessSymbol event:
//
//	Return [Module] Type::Method(Args)[Tier]
type Symbol struct {
	Return string // "instance void"; it may also contain assemblies: "valuetype [System.Runtime]System.Nullable`1<int32>"
	Module string // assembly name without directory and extension
	Type   string // as in Method.Namespace: nested types separated by +, type arguments in brackets
	Method string
	Args   string // parameters, including the parentheses
	Tier   string // as recorded, such as "PreJIT" or "OptimizedTier1"
}

// ParseSymbol splits a symbol into its parts. It returns false for all other names, such as those of native, kernel and
// script code.
//
// The module is the first bracket group between spaces, and the tier is the group at the end, as in TraceEvent (its
// tests are UniversalSymbolParsingTest). In addition, ParseSymbol requires a "::" and rejects a tier with spaces,
// because " [clone .part.0]" of gcc has the same form.
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

// cutModule splits at the first bracket group with a space on either side. In "class [Asm]Type" no space follows the
// group.
func cutModule(s string) (ret, module, text string, ok bool) {
	end := 0 // index of the first ']' at or after at; it may end several groups, so the search is not repeated
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

// Raw returns the name that TraceEvent shows: the symbol without return type, module and tier.
func (s Symbol) Raw() string { return s.Type + "::" + s.Method + s.Args }

// Pretty returns the display name, as the package comment describes it. It returns Raw if a notation is unknown.
func (s Symbol) Pretty() string {
	return s.display(false)
}

// Short returns Pretty without the namespace and without type arguments. It returns Raw if a notation is unknown.
func (s Symbol) Short() string { return s.display(true) }

// FunctionNames returns the names of the function of a method (ntconv.Function.Name and SystemName) from its display
// name, its raw name and the name of its module, of which only the raw name must not be empty. The results always differ,
// so the second may be empty: pprof demangles a function whose two names are equal, which would remove overloads and type
// arguments.
func FunctionNames(display, raw, module string) (name, system string) {
	if name = display; name == "" { // the pretty spelling of malformed text may be empty
		name = raw
	}
	if system = raw; module != "" {
		system = module + "!" + raw
	}
	if system == name {
		system = ""
	}
	return name, system
}

func (s Symbol) display(short bool) string {
	if name, ok := new(Speller).pretty(s.Type, s.Method, s.Return, s.Args, short); ok {
		return name
	}
	return s.Raw()
}
