package dotnet

import "strings"

// skipGroup returns the index after the bracket that closes the one at s[0]. All kinds of brackets are counted
// together: a name like <A[B>c does not come from a compiler.
func skipGroup(s string) (int, bool) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '<', '[', '(':
			depth++
		case '>', ']', ')':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}

// cutGroup splits the bracket group at the start of s at its outer commas. An empty group has no elements. It examines
// each byte a bounded number of times: groups come from untrusted files and may contain any number of commas and
// spaces.
func cutGroup(s string) (elems []string, rest string, ok bool) {
	depth, from := 0, 1
	for i := range len(s) {
		switch s[i] {
		case '<', '[', '(':
			depth++
			continue
		case '>', ']', ')':
			if depth--; depth != 0 {
				continue
			}
		case ',':
			if depth != 1 {
				continue
			}
		default:
			continue
		}
		elem := strings.TrimSpace(s[from:i])
		if elem == "" {
			if depth == 0 && elems == nil {
				return nil, s[i+1:], true
			}
			return nil, s, false
		}
		if elems == nil {
			elems = make([]string, 0, 4)
		}
		if elems, from = append(elems, elem), i+1; depth == 0 {
			return elems, s[i+1:], true
		}
	}
	return nil, s, false
}

// indexOuter returns the index of the first c outside all brackets, or -1.
func indexOuter(s string, c byte) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case c:
			if depth == 0 {
				return i
			}
		}
		switch s[i] {
		case '<', '[', '(':
			depth++
		case '>', ']', ')':
			depth--
		}
	}
	return -1
}

// lastOuter returns the index of the last c outside all brackets, or -1.
func lastOuter(s string, c byte) int {
	depth := 0
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case c:
			if depth == 0 {
				return i
			}
		case '>', ']', ')':
			depth++
		case '<', '[', '(':
			depth--
		}
	}
	return -1
}

// nameEnd returns the index after the type name at the start of s. A '<' at the start of an identifier belongs to a
// compiler-generated name (<>c, <Run>d__3); any other '<' starts type arguments and ends the name.
func nameEnd(s string) int {
	begins := true
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<':
			if !begins {
				return i
			}
			n, ok := skipGroup(s[i:])
			if !ok {
				return i
			}
			i += n - 1
			begins = false
		case '[', ']', '(', ')', '>', ',', '*', '&', ' ':
			return i
		case '.', '+', '/':
			begins = true
		case '\\':
			i++ // the runtime escapes special characters in names
			begins = false
		default:
			begins = false
		}
	}
	return len(s)
}

// segmentEnd returns the index of the '+' or '/' after the first segment of a nested type's name, or len(s).
func segmentEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<':
			depth++
		case '>':
			depth--
		case '\\':
			i++
		case '+', '/':
			if depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// cutArity splits a name such as List`1 into the name and the number of type parameters.
func cutArity(s string) (string, int) {
	i := strings.LastIndexByte(s, '`')
	if i < 0 {
		return s, 0
	}
	n, ok := number(s[i+1:])
	if !ok || n > maxArity {
		return s, 0
	}
	return s[:i], n
}

// maxArity is the largest accepted number after a backtick; C# compilers accept far fewer type parameters.
const maxArity = 255

// number parses a short decimal number.
func number(s string) (int, bool) {
	if s == "" || len(s) > 5 {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// isArray reports whether the bracket group at the start of s is the rank of an array, not a list of arguments: [],
// [,], [0...,0...], [*].
func isArray(s string) bool {
	i := strings.IndexByte(s, ']')
	return i > 0 && strings.Trim(s[1:i], "0123456789.,* ") == ""
}
