package dotnet

import "strings"

// A Method is a method as MethodLoadVerbose and its relatives name it (provider Microsoft-Windows-DotNETRuntime and its
// rundown).
type Method struct {
	Namespace string // full name of the type, despite the field's name in the manifest: "System.Collections.Generic.List`1[System.__Canon]"
	Name      string // "Add", ".ctor", "<Run>b__0"
	Signature string // return type and parameters: "instance void  (!0)"
}

// Raw returns the name that TraceEvent gives the method: type, method, and the signature from its first parenthesis on.
func (m Method) Raw() string {
	args := ""
	if i := strings.IndexByte(m.Signature, '('); i >= 0 {
		args = m.Signature[i:]
	}
	return m.Namespace + "." + m.Name + args
}

// Pretty returns the name for reading; see the package comment. It is Raw where the notation is not understood.
func (m Method) Pretty() string {
	return m.display(false)
}

// Short returns the name as Pretty spells it, without the namespace and without type arguments:
// Dictionary.TryInsert(string, int). It is Raw where the notation is not understood.
func (m Method) Short() string { return m.display(true) }

func (m Method) display(short bool) string {
	ret, params := cutParams(m.Signature)
	if s, ok := pretty(m.Namespace, m.Name, ret, params, short); ok {
		return s
	}
	return m.Raw()
}

// cutParams splits a signature before the parenthesis that matches the one at its end; params is empty if there is none.
// The first parenthesis will not do: a function pointer as return type has its own.
func cutParams(sig string) (ret, params string) {
	sig = strings.TrimRight(sig, " ")
	if !strings.HasSuffix(sig, ")") {
		return sig, ""
	}
	depth := 0
	for i := len(sig) - 1; i >= 0; i-- {
		switch sig[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return sig[:i], sig[i:]
			}
		}
	}
	return sig, ""
}
