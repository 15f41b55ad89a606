package assembly

import (
	"strconv"
	"strings"
)

// Element types (II.23.1.16) and those that only signatures of precompiled code have (corhdr.h of dotnet/runtime).
const (
	elementVoid      = 0x01
	elementString    = 0x0e
	elementPtr       = 0x0f
	elementByRef     = 0x10
	elementValueType = 0x11
	elementClass     = 0x12
	elementVar       = 0x13
	elementArray     = 0x14
	elementInst      = 0x15
	elementTypedRef  = 0x16
	elementInt       = 0x18
	elementUint      = 0x19
	elementFnPtr     = 0x1b
	elementObject    = 0x1c
	elementSZArray   = 0x1d
	elementMVar      = 0x1e
	elementReqd      = 0x1f
	elementOpt       = 0x20
	elementSentinel  = 0x41
	elementPinned    = 0x45
)

// primitives are the names of element types in signatures of method events, and as types of the library.
var primitives = [...]struct{ name, typ string }{
	0x01: {"void", "System.Void"}, 0x02: {"bool", "System.Boolean"}, 0x03: {"wchar", "System.Char"},
	0x04: {"int8", "System.SByte"}, 0x05: {"unsigned int8", "System.Byte"}, 0x06: {"int16", "System.Int16"},
	0x07: {"unsigned int16", "System.UInt16"}, 0x08: {"int32", "System.Int32"}, 0x09: {"unsigned int32", "System.UInt32"},
	0x0a: {"int64", "System.Int64"}, 0x0b: {"unsigned int64", "System.UInt64"}, 0x0c: {"float32", "System.Single"},
	0x0d: {"float64", "System.Double"}, 0x0e: {"class System.String", "System.String"},
	0x16: {"refany", "System.TypedReference"}, 0x18: {"int", "System.IntPtr"}, 0x19: {"unsigned int", "System.UIntPtr"},
	0x1c: {"class System.Object", "System.Object"},
}

// maxSignature bounds the length of the text of a signature, because a blob of n bytes may refer to n long names.
const maxSignature = 1 << 14

// A Signature reads a signature blob and writes it as text.
type Signature struct {
	Metadata *Metadata // that tokens refer to; signatures with tokens fail without it
	Rest     []byte    // not read yet
	Failed   bool      // the signature is invalid, or exceeds a bound
	Skip     bool      // names are not needed: types of other modules do not fail

	outer *Metadata // of the signature, while a type of another module is read
	depth int
	text  []byte
}

// MethodSignature returns the text of a MethodDefSig or MethodRefSig (II.23.2.1) in the notation of the runtime's
// method events: "instance class System.String  (int32,!0)". It returns "" for an invalid signature.
func (m *Metadata) MethodSignature(blob []byte) string {
	s := Signature{Metadata: m, Rest: blob}
	s.method("  ")
	if s.Failed {
		return ""
	}
	return string(s.text)
}

// TypeName returns the full name of a type in a signature, in the notation of the runtime's names of instantiations:
// System.Collections.Generic.List`1[System.Int32]. It returns "" for an invalid signature.
func (m *Metadata) TypeName(blob []byte) string {
	s := Signature{Metadata: m, Rest: blob}
	name := s.FullName()
	if s.Failed {
		return ""
	}
	return name
}

// Uint reads a compressed unsigned integer.
func (s *Signature) Uint() uint32 {
	v, rest, ok := Compressed(s.Rest)
	s.Failed = s.Failed || !ok
	s.Rest = rest
	return v
}

func (s *Signature) write(text string) {
	if s.text = append(s.text, text...); len(s.text) > maxSignature {
		s.Failed = true
	}
}

// enter counts a level of nesting; leave ends it.
func (s *Signature) enter() bool {
	s.depth++
	s.Failed = s.Failed || s.depth > maxNesting
	return !s.Failed
}

func (s *Signature) leave() { s.depth-- }

// method writes a method signature. between is the text before the parameters.
func (s *Signature) method(between string) {
	const hasThis, generic, kindMask, varArg = 0x20, 0x10, 0x0f, 0x05
	kind := s.Uint()
	if kind&hasThis != 0 {
		s.write("instance ")
	}
	if kind&generic != 0 {
		s.write("generic ")
		s.Uint() // number of type parameters
	}
	if kind&kindMask == varArg {
		s.write("vararg ")
	}
	n := s.Uint()
	s.Type()
	s.write(between + "(")
	for i := uint32(0); i < n && !s.Failed; i++ {
		if i > 0 {
			s.write(",")
		}
		s.Type()
	}
	s.write(")")
}

// Type writes a type in the notation of signatures of method events.
func (s *Signature) Type() {
	if !s.enter() {
		return
	}
	defer s.leave()
	e := s.Uint()
	switch e {
	case elementValueType:
		s.write("value class " + s.shortName(s.Uint()))
	case elementClass:
		s.write("class " + s.shortName(s.Uint()))
	case elementVar:
		s.write("!" + strconv.Itoa(int(s.Uint())))
	case elementMVar:
		s.write("!!" + strconv.Itoa(int(s.Uint())))
	case elementSZArray, elementPtr, elementByRef, elementPinned:
		s.Type()
		s.write(suffix(e))
	case elementArray:
		s.Type()
		s.write("[" + s.shape() + "]")
	case elementInst:
		s.Type()
		s.write("<")
		for i, n := uint32(0), s.Uint(); i < n && !s.Failed; i++ {
			if i > 0 {
				s.write(",")
			}
			s.Type()
		}
		s.write(">")
	case elementFnPtr:
		s.write("fnptr ")
		s.method("")
	case elementReqd:
		s.write("required_modifier " + s.shortName(s.Uint()) + " ")
		s.Type()
	case elementOpt:
		s.write("optional_modifier " + s.shortName(s.Uint()) + " ")
		s.Type()
	case elementSentinel:
		s.write("...")
	default:
		s.primitive(e)
	}
}

// suffix returns what follows the type that an element type modifies.
func suffix(e uint32) string {
	switch e {
	case elementSZArray:
		return "[]"
	case elementPtr:
		return "*"
	case elementByRef:
		return "&"
	}
	return " pinned"
}

func (s *Signature) primitive(e uint32) {
	if e >= uint32(len(primitives)) || primitives[e].name == "" {
		s.Failed = true
		return
	}
	s.write(primitives[e].name)
}

// shape reads the shape of an array (II.23.2.13) and returns its text.
func (s *Signature) shape() string {
	rank := s.Uint()
	for range 2 { // sizes, then lower bounds
		for n := s.Uint(); n > 0 && !s.Failed; n-- {
			s.Uint()
		}
	}
	if rank == 0 || rank > maxNesting {
		s.Failed = true
		return ""
	}
	return strings.Repeat(",", int(rank)-1)
}

// shortName returns the name of a type in the notation of signatures of method events: without enclosing types.
func (s *Signature) shortName(token uint32) string {
	m, row := s.Metadata, token>>2
	if m == nil {
		s.Failed = true
		return ""
	}
	switch token & 3 {
	case 0:
		return m.ownName(row)
	case 1:
		return qualified(m.String(m.Cell(TypeRef, row, TypeRefNamespace)), m.String(m.Cell(TypeRef, row, TypeRefName)))
	}
	return ""
}
