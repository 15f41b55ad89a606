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
func (m Method) Pretty() string { return new(Speller).Pretty(m) }

// Short returns Pretty without the namespace and without type arguments: Dictionary.TryInsert(string, int). It returns
// Raw if a notation is unknown.
func (m Method) Short() string { return new(Speller).Short(m) }

// A Speller returns the names of many methods, and keeps those of their parameter types because methods share most of
// them. The zero Speller keeps no names. A Speller is not safe for concurrent use.
type Speller struct {
	b     []byte            // buffer of the printer
	types map[string]string // printer.known
}

// NewSpeller returns a Speller that keeps the names of parameter types.
func NewSpeller() *Speller { return &Speller{types: make(map[string]string)} }

// Bounds of Speller.types.
const (
	maxKnown     = 1 << 12
	maxKnownSize = 256
)

// Pretty returns m.Pretty().
func (s *Speller) Pretty(m Method) string { return s.display(m, false) }

// Short returns m.Short().
func (s *Speller) Short(m Method) string { return s.display(m, true) }

func (s *Speller) display(m Method, short bool) string {
	ret, params := cutParams(m.Signature)
	if name, ok := s.pretty(m.Namespace, m.Name, ret, params, short); ok {
		return name
	}
	return m.Raw()
}

// WithoutParameters returns the display name of a method without its parameter list.
func WithoutParameters(name string) string {
	name, _ = cutParams(name)
	return name
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
