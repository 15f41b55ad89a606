package wire

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// A TypeCode identifies the encoding of a payload field.
type TypeCode uint8

// The type codes. Versions 3 to 5 store them as int32.
const (
	TypeObject           TypeCode = 1
	TypeBoolean32        TypeCode = 3
	TypeUTF16CodeUnit    TypeCode = 4
	TypeSByte            TypeCode = 5
	TypeByte             TypeCode = 6
	TypeInt16            TypeCode = 7
	TypeUInt16           TypeCode = 8
	TypeInt32            TypeCode = 9
	TypeUInt32           TypeCode = 10
	TypeInt64            TypeCode = 11
	TypeUInt64           TypeCode = 12
	TypeSingle           TypeCode = 13
	TypeDouble           TypeCode = 14
	TypeDecimal          TypeCode = 15
	TypeDateTime         TypeCode = 16
	TypeGuid             TypeCode = 17
	TypeUTF16String      TypeCode = 18
	TypeArray            TypeCode = 19
	TypeVarInt           TypeCode = 20
	TypeVarUInt          TypeCode = 21
	TypeFixedLengthArray TypeCode = 22
	TypeUTF8CodeUnit     TypeCode = 23
	TypeRelLoc           TypeCode = 24
	TypeDataLoc          TypeCode = 25
	TypeBoolean8         TypeCode = 26
)

// A TypeSpec describes a type code. A spec without a name is that of an undefined code.
type TypeSpec struct {
	Name  string
	Elem  bool // an element type follows the code
	Since Version
}

// TypeCodes is indexed by [TypeCode]. [bin.FixedSize] has the sizes of values. The specification lacks Decimal, but
// TraceEvent reads it.
var TypeCodes = [...]TypeSpec{
	TypeObject:           {"Object", false, V3},
	TypeBoolean32:        {"Boolean32", false, V3},
	TypeUTF16CodeUnit:    {"UTF16CodeUnit", false, V3},
	TypeSByte:            {"SByte", false, V3},
	TypeByte:             {"Byte", false, V3},
	TypeInt16:            {"Int16", false, V3},
	TypeUInt16:           {"UInt16", false, V3},
	TypeInt32:            {"Int32", false, V3},
	TypeUInt32:           {"UInt32", false, V3},
	TypeInt64:            {"Int64", false, V3},
	TypeUInt64:           {"UInt64", false, V3},
	TypeSingle:           {"Single", false, V3},
	TypeDouble:           {"Double", false, V3},
	TypeDecimal:          {"Decimal", false, V3},
	TypeDateTime:         {"DateTime", false, V3},
	TypeGuid:             {"Guid", false, V3},
	TypeUTF16String:      {"UTF16String", false, V3},
	TypeArray:            {"Array", true, V5},
	TypeVarInt:           {"VarInt", false, V6},
	TypeVarUInt:          {"VarUInt", false, V6},
	TypeFixedLengthArray: {"FixedLengthArray", true, V6},
	TypeUTF8CodeUnit:     {"UTF8CodeUnit", false, V6},
	TypeRelLoc:           {"RelLoc", true, V6},
	TypeDataLoc:          {"DataLoc", true, V6},
	TypeBoolean8:         {"Boolean8", false, V3},
}

// Spec returns the description of c, or the zero spec if c is not defined.
func (c TypeCode) Spec() TypeSpec {
	if int(c) < len(TypeCodes) {
		return TypeCodes[c]
	}
	return TypeSpec{}
}

func (c TypeCode) String() string {
	if s := c.Spec(); s.Name != "" {
		return s.Name
	}
	return fmt.Sprintf("Type(%d)", uint8(c))
}

// A Type is the type of a field. It is a tree: Elem for arrays, Fields for objects.
type Type struct {
	Code   TypeCode
	Count  uint16  // TypeFixedLengthArray: number of elements
	Elem   *Type   // types whose spec has Elem
	Fields []Field // TypeObject
}

// A Field is a field of a payload or of an object in a payload.
type Field struct {
	Name string // may be empty
	Type Type
	// Opaque means that the type could not be parsed. Then Type has only the code of its outermost level, or 0 if that
	// is missing, and Extra has all bytes of the type. The size of such a field in a payload is unknown.
	Opaque bool
	Extra  []byte // bytes after the type, borrowed
}

// maxFixedSize bounds the result of FixedSize. Larger values do not fit into a payload.
const maxFixedSize = 1 << 30

// FixedSize returns the size in bytes of a value of type t, and true if all values have this size. RelLoc and DataLoc
// count as their 4-byte descriptor.
func (t *Type) FixedSize() (int, bool) {
	switch t.Code {
	case TypeObject:
		sum := 0
		for i := range t.Fields {
			n, ok := t.Fields[i].Type.FixedSize()
			if sum += n; !ok || t.Fields[i].Opaque || sum > maxFixedSize {
				return 0, false
			}
		}
		return sum, true
	case TypeFixedLengthArray:
		if t.Elem == nil {
			return 0, false
		}
		n, ok := t.Elem.FixedSize()
		total := int64(n) * int64(t.Count)
		return int(total), ok && total <= maxFixedSize
	}
	n := bin.FixedSize(uint8(t.Code))
	return n, n > 0
}
