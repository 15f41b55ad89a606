package assembly

import (
	"strconv"
	"strings"
)

// Element types that only signatures of precompiled code have (corhdr.h of dotnet/runtime).
const (
	elementNativeValueType = 0x3d
	elementCanon           = 0x3e
	elementModule          = 0x3f
)

// FullName reads a type and returns its name in the notation of the runtime's names of instantiations. It fails for a
// type of another module; see FullNameIn.
func (s *Signature) FullName() string { return s.FullNameIn(nil) }

// FullNameIn is FullName with the metadata of other modules: other returns that of the module with an index, or nil
// (ReadyToRun format, "Module override").
func (s *Signature) FullNameIn(other func(uint32) *Metadata) string {
	if !s.enter() {
		return ""
	}
	defer s.leave()
	e := s.Uint()
	switch e {
	case elementVar:
		return "!" + strconv.Itoa(int(s.Uint()))
	case elementMVar:
		return "!!" + strconv.Itoa(int(s.Uint()))
	case elementValueType, elementClass:
		return s.typeDefOrRef(s.Uint())
	case elementCanon:
		return "System.__Canon"
	case elementSZArray:
		return s.FullNameIn(other) + "[]"
	case elementPtr:
		return s.FullNameIn(other) + "*"
	case elementByRef:
		return s.FullNameIn(other) + "&"
	case elementNativeValueType, elementPinned:
		return s.FullNameIn(other)
	case elementArray:
		element := s.FullNameIn(other)
		return element + "[" + s.shape() + "]"
	case elementInst:
		return s.instantiation(other)
	case elementModule:
		return s.inModule(other)
	}
	if e >= uint32(len(primitives)) || primitives[e].typ == "" {
		s.Failed = true
		return ""
	}
	return primitives[e].typ
}

// inModule reads a type whose tokens belong to another module.
func (s *Signature) inModule(other func(uint32) *Metadata) string {
	index := s.Uint()
	var m *Metadata
	if other != nil {
		m = other(index)
	}
	if m == nil && !s.Skip {
		s.Failed = true
		return ""
	}
	outer := s.Metadata
	if s.outer == nil {
		s.outer = outer
		defer func() { s.outer = nil }()
	}
	s.Metadata = m
	name := s.FullNameIn(other)
	s.Metadata = outer
	return name
}

// instantiation reads a generic type and its arguments. Tokens of the arguments belong to the module of the signature,
// even if the generic type belongs to another one.
func (s *Signature) instantiation(other func(uint32) *Metadata) string {
	var b strings.Builder
	b.WriteString(s.FullNameIn(other))
	inner := s.Metadata
	if s.outer != nil {
		s.Metadata = s.outer
	}
	n := s.Uint()
	for i := uint32(0); i < n && !s.Failed; i++ {
		if i == 0 {
			b.WriteByte('[')
		} else {
			b.WriteByte(',')
		}
		b.WriteString(s.FullNameIn(other))
		s.Failed = s.Failed || b.Len() > maxSignature
	}
	s.Metadata = inner
	b.WriteByte(']')
	return b.String()
}

// PeekModule returns the module that the next type belongs to, without reading it. It returns false if the type belongs
// to the module of the signature.
func (s *Signature) PeekModule() (uint32, bool) {
	e, rest, ok := Compressed(s.Rest)
	if !ok || e != elementModule {
		return 0, false
	}
	index, _, ok := Compressed(rest)
	return index, ok
}

// SkipTypes reads n types without their names.
func (s *Signature) SkipTypes(n uint32) {
	skip := s.Skip
	s.Skip = true
	for ; n > 0 && !s.Failed; n-- {
		s.FullName()
	}
	s.Skip = skip
}

func (s *Signature) typeDefOrRef(token uint32) string {
	if s.Skip {
		return ""
	}
	if s.Metadata == nil { // that of a module which is not at hand
		s.Failed = true
		return ""
	}
	switch token & 3 {
	case 0:
		return s.Metadata.TypeDefName(token >> 2)
	case 1:
		return s.Metadata.TypeRefName(token >> 2)
	}
	s.Failed = true
	return ""
}
