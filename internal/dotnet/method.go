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
func (m Method) Pretty() string { return new(Speller).Pretty(m) }

// Short returns the name as Pretty spells it, without the namespace and without type arguments:
// Dictionary.TryInsert(string, int). It is Raw where the notation is not understood.
func (m Method) Short() string { return new(Speller).Short(m) }

// A Speller makes the names of many methods, which share most types of parameters. The zero Speller makes names without
// keeping those of types. It is not safe for concurrent use.
type Speller struct {
	b     []byte            // buffer of the printer
	types map[string]string // printer.known
}

// NewSpeller returns a Speller that keeps the names of types.
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
