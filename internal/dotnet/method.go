package dotnet

import "strings"

// A Method contains the names of a method in a MethodLoadVerbose event or a similar one (provider
// Microsoft-Windows-DotNETRuntime and its rundown provider).
type Method struct {
	Namespace string // full name of the type, although the manifest calls the field MethodNamespace: "System.Collections.Generic.List`1[System.__Canon]"
	Name      string // "Add", ".ctor", "<Run>b__0"
	Signature string // return type and parameters: "instance void  (!0)"
}

// Raw returns the name that TraceEvent shows: type, method, and the signature from its first parenthesis on.
func (m Method) Raw() string {
	args := ""
	if i := strings.IndexByte(m.Signature, '('); i >= 0 {
		args = m.Signature[i:]
	}
	return m.Namespace + "." + m.Name + args
}

// Pretty returns the display name, as the package comment describes it. It returns Raw if a notation is unknown.
func (m Method) Pretty() string {
	return m.display(false)
}

// Short returns Pretty without the namespace and without type arguments: Dictionary.TryInsert(string, int). It returns
// Raw if a notation is unknown.
func (m Method) Short() string { return m.display(true) }

func (m Method) display(short bool) string {
	ret, params := cutParams(m.Signature)
	if s, ok := pretty(m.Namespace, m.Name, ret, params, short); ok {
		return s
	}
	return m.Raw()
}

// cutParams splits a signature before the parenthesis that matches the last one; params is empty if there is none. It
// cannot split at the first parenthesis, because a function pointer as the return type contains one.
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
