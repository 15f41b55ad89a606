package assembly

import "sort"

// maxNesting bounds how deeply types and signatures are nested.
const maxNesting = 32

// TypeDefName returns the full name of a type of this assembly: the namespace, and enclosing types joined by +.
func (m *Metadata) TypeDefName(row uint32) string {
	name := m.ownName(row)
	for range maxNesting {
		if row = m.enclosing(row); row == 0 || len(name) > maxName {
			break
		}
		name = m.ownName(row) + "+" + name
	}
	return name
}

// ownName returns the name of a type without enclosing types.
func (m *Metadata) ownName(row uint32) string {
	return qualified(m.String(m.Cell(TypeDef, row, TypeDefNamespace)), m.String(m.Cell(TypeDef, row, TypeDefName)))
}

// enclosing returns the type that a type is nested in, or 0. The table is sorted by the nested type (II.22.32).
func (m *Metadata) enclosing(row uint32) uint32 {
	n := int(m.Rows(NestedClass))
	i := sort.Search(n, func(i int) bool { return m.Cell(NestedClass, uint32(i)+1, NestedClassNested) >= row })
	if m.Cell(NestedClass, uint32(i)+1, NestedClassNested) != row {
		return 0
	}
	return m.Cell(NestedClass, uint32(i)+1, NestedClassEnclosing)
}

// TypeRefName returns the full name of a type of another assembly.
func (m *Metadata) TypeRefName(row uint32) string {
	name := ""
	for range maxNesting {
		own := qualified(m.String(m.Cell(TypeRef, row, TypeRefNamespace)), m.String(m.Cell(TypeRef, row, TypeRefName)))
		if name != "" {
			own += "+" + name
		}
		name = own
		scope := m.Cell(TypeRef, row, TypeRefScope)
		if resolutionScope[scope&3] != TypeRef || len(name) > maxName {
			break
		}
		row = scope >> 2
	}
	return name
}

func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "." + name
}

// Owner returns the type that a method belongs to, or 0. Each type owns the methods from the first of its list to the
// first of the list of the next type (II.22.37).
func (m *Metadata) Owner(method uint32) uint32 {
	if method == 0 || method > m.Rows(MethodDef) {
		return 0
	}
	n := int(m.Rows(TypeDef))
	return uint32(sort.Search(n, func(i int) bool { return m.Cell(TypeDef, uint32(i)+1, TypeDefMethodList) > method }))
}

// A Method contains the names of a method in the notation of the runtime's method events.
type Method struct {
	Type      string // full name; List`1[System.__Canon] if the method belongs to an instantiation
	Name      string
	Signature string // return type, two spaces and the parameters
}

// MethodDefName returns the names of a method of this assembly. Type has no type arguments. It returns false if there
// is no such method.
func (m *Metadata) MethodDefName(row uint32) (Method, bool) {
	owner := m.Owner(row)
	if owner == 0 {
		return Method{}, false
	}
	return Method{
		Type:      m.TypeDefName(owner),
		Name:      m.String(m.Cell(MethodDef, row, MethodDefName)),
		Signature: m.MethodSignature(m.Blob(m.Cell(MethodDef, row, MethodDefSignature))),
	}, true
}

// MemberRefName returns the names of a method that another assembly, or an instantiation, defines. It returns false if
// there is no such method.
func (m *Metadata) MemberRefName(row uint32) (Method, bool) {
	if row == 0 || row > m.Rows(MemberRef) {
		return Method{}, false
	}
	return Method{
		Type:      m.memberRefOwner(m.Cell(MemberRef, row, MemberRefClass)),
		Name:      m.String(m.Cell(MemberRef, row, MemberRefName)),
		Signature: m.MethodSignature(m.Blob(m.Cell(MemberRef, row, MemberRefSignature))),
	}, true
}

func (m *Metadata) memberRefOwner(class uint32) string {
	row := class >> 3
	switch tag := class & 7; {
	case tag >= uint32(len(memberRefParent)):
		return ""
	case memberRefParent[tag] == TypeDef:
		return m.TypeDefName(row)
	case memberRefParent[tag] == TypeRef:
		return m.TypeRefName(row)
	case memberRefParent[tag] == TypeSpec:
		return m.TypeName(m.Blob(m.Cell(TypeSpec, row, TypeSpecSignature)))
	}
	return ""
}
