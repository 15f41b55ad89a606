package dotnet

import "strings"

// Parts are the parts of a method's name.
type Parts struct {
	Namespace string // "System.Collections.Generic", empty if the type has none
	Type      string // "List<int>"; a nested type includes its outer types: "Outer.Inner"
	Method    string // "Add", without parameters
}

// Split splits the display name of a method into parts. raw is the result of Raw, optionally preceded by the name of
// the module and "!". If raw is empty, nested types cannot be distinguished from namespaces. A name without a type has
// only a method.
func Split(name, raw string) Parts {
	if raw == "" {
		raw = name
	}
	full, method := splitRaw(withoutModule(raw), name)
	if full == "" {
		return Parts{Method: method}
	}
	p := Parts{Type: full, Method: method}
	outer := full
	if i := strings.IndexAny(full, "+`[<"); i > 0 {
		outer = full[:i]
	}
	if i := strings.LastIndexByte(outer, '.'); i > 0 {
		p.Namespace, p.Type = full[:i], full[i+1:]
	}
	if typ, method, ok := splitDisplay(name, p.Namespace, nesting(p.Type)); ok {
		p.Type, p.Method = typ, method
	}
	return p
}

// withoutModule returns raw without the module before "!". Generic parameters also contain "!", but only inside type
// arguments and parameters.
func withoutModule(raw string) string {
	if i := strings.IndexByte(raw, '!'); i > 0 && !strings.ContainsAny(raw[:i], "`[<(+") {
		return raw[i+1:]
	}
	return raw
}

// splitRaw splits a raw name into the full name of the type and the method.
func splitRaw(raw, name string) (full, method string) {
	raw, _ = cutParams(raw)
	if full, method, ok := strings.Cut(raw, "::"); ok {
		return full, method
	}
	for _, special := range []string{"..ctor", "..cctor"} {
		if full, ok := strings.CutSuffix(raw, special); ok {
			return full, special[1:]
		}
	}
	// Names of nested types and type arguments end at the next dot. A method that implements a member of an interface
	// contains more dots.
	if i := strings.LastIndexAny(raw, "+`]"); i >= 0 {
		if dot := i + 1 + firstOutside(raw[i+1:], '.'); dot > i {
			return raw[:dot], raw[dot+1:]
		}
	}
	last := lastDot(raw)
	if last <= 0 {
		return "", raw
	}
	// The display name contains only the last part of the interface's name, so it does not begin with the text before
	// the last dot.
	common := commonPrefix(name, raw)
	for dot := last; dot > 0; dot = lastDot(raw[:dot]) {
		if dot < common {
			return raw[:dot], raw[dot+1:]
		}
	}
	return raw[:last], raw[last+1:]
}

// commonPrefix returns the length of the common prefix of a and b in bytes.
func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// lastDot returns the index of the last dot outside of brackets, and -1 if there is none.
func lastDot(s string) int {
	depth := 0
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case '>', ']', ')':
			depth++
		case '<', '[', '(':
			depth--
		case '.':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// nesting returns the number of nested types in a raw name without namespace. It does not count types whose names begin
// with <, because display names omit these.
func nesting(raw string) (n int) {
	for i, part := range strings.Split(raw, "+") {
		if i > 0 && strings.HasPrefix(part, "<") {
			break
		}
		n++
		if strings.Contains(part, "[") { // the rest is type arguments
			break
		}
	}
	return n
}

// splitDisplay splits a display name into the type, which consists of n nested types, and the method.
func splitDisplay(name, namespace string, n int) (typ, method string, ok bool) {
	rest := name
	if namespace != "" {
		if rest, ok = strings.CutPrefix(name, namespace+"."); !ok {
			return "", "", false
		}
	}
	end := 0
	for ; n > 0; n-- {
		if end > 0 {
			end++
		}
		i := firstOutside(rest[end:], '.')
		if i <= 0 {
			return "", "", false
		}
		end += i
	}
	typ, method = rest[:end], rest[end+1:]
	if i := firstOutside(method, '('); i > 0 {
		method = method[:i]
	}
	return typ, method, method != ""
}

// firstOutside returns the index of the first c outside of brackets, and -1 if there is none.
func firstOutside(s string, c byte) int {
	depth := 0
	for i := range len(s) {
		switch b := s[i]; {
		case b == c && depth == 0:
			return i
		case b == '<' || b == '[' || b == '(':
			depth++
		case b == '>' || b == ']' || b == ')':
			depth--
		}
	}
	return -1
}
