package ntconv

import (
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// GUID is a globally unique ID in the memory layout of a little-endian machine: the bytes of the first three groups of
// its text are swapped.
type GUID [16]byte

// IsZero reports whether all bytes are zero, which means that there is no GUID.
func (g GUID) IsZero() bool { return g == GUID{} }

// String returns the GUID as 8-4-4-4-12 hexadecimal digits in lower case.
func (g GUID) String() string {
	var buf [36]byte
	return string(g.Append(buf[:0]))
}

// Append appends the result of String to dst and returns the extended slice.
func (g GUID) Append(dst []byte) []byte {
	swapped := [16]byte{
		g[3], g[2], g[1], g[0], g[5], g[4], g[7], g[6],
		g[8], g[9], g[10], g[11], g[12], g[13], g[14], g[15],
	}
	for i, n := range [...]int{0, 4, 6, 8, 10, 16} {
		if i == 0 {
			continue
		}
		from := [...]int{0, 0, 4, 6, 8, 10}[i]
		if from > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, swapped[from:n])
	}
	return dst
}

// ParseGUID parses 8-4-4-4-12 hexadecimal digits in either case, with or without braces.
func ParseGUID(s string) (GUID, error) {
	t := s
	if len(t) == 38 && t[0] == '{' && t[37] == '}' {
		t = t[1:37]
	}
	if len(t) != 36 || t[8] != '-' || t[13] != '-' || t[18] != '-' || t[23] != '-' {
		return GUID{}, fmt.Errorf("GUID %q: want 8-4-4-4-12 hexadecimal digits", s)
	}
	b, err := hex.DecodeString(t[:8] + t[9:13] + t[14:18] + t[19:23] + t[24:])
	if err != nil {
		return GUID{}, fmt.Errorf("GUID %q: %w", s, err)
	}
	return GUID{
		b[3], b[2], b[1], b[0], b[5], b[4], b[7], b[6],
		b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15],
	}, nil
}

// A Type describes the events of one kind, like a metadata row of nettrace. It is immutable and compared by pointer:
// two rows with equal content are two types, but a row that reappears after a flush denotes the same Type.
type Type struct {
	Provider    string
	GUID        GUID // zero if the input does not state it
	ID          uint32
	Name        string // empty for events of the .NET runtime itself
	Version     uint8
	Level       uint8
	Opcode      uint8
	HasOpcode   bool // the input states the opcode
	Keywords    uint64
	Fields      []Field
	Message     string // human-readable template
	Description string
	Attrs       Attrs
	Extra       []byte // bytes of the input's row that the reader could not parse, in the encoding of the input
	// OptionalExtra has the unparsed bytes of the optional part of a nettrace 6 row.
	OptionalExtra []byte

	layout uint32 // cache of layoutOf; atomic
}

// A Field describes a field of a payload or of an object in it.
type Field struct {
	Name string
	Type FieldType
	// Extra has the bytes of the input's field description that the reader could not parse.
	Extra []byte
}

// FieldType is the encoding of a value in a payload (nettrace-v6, "MetadataBlock", Type format).
type FieldType struct {
	Code   TypeCode
	Elem   *FieldType // TypeArray, TypeFixedArray, TypeRelLoc, TypeDataLoc, TypeCounted
	Count  uint16     // TypeFixedArray: number of elements; TypeCounted: index of the earlier field with it
	Fields []Field    // TypeObject
}

// TypeCode identifies an encoding. Codes below 128 are those of nettrace v6. Codes from 128 never appear in a file;
// they describe layouts from the manifests of the .NET runtime.
type TypeCode uint8

const (
	TypeObject      TypeCode = 1
	TypeBool32      TypeCode = 3 // 4 bytes; self-describing .NET sources write 1 byte under this code, see Event.Fields
	TypeUTF16Unit   TypeCode = 4
	TypeInt8        TypeCode = 5
	TypeUint8       TypeCode = 6
	TypeInt16       TypeCode = 7
	TypeUint16      TypeCode = 8
	TypeInt32       TypeCode = 9
	TypeUint32      TypeCode = 10
	TypeInt64       TypeCode = 11
	TypeUint64      TypeCode = 12
	TypeFloat32     TypeCode = 13
	TypeFloat64     TypeCode = 14
	TypeDecimal     TypeCode = 15 // 16 bytes in TraceEvent; .NET writes an 8-byte double, see Event.Fields
	TypeDateTime    TypeCode = 16 // 8 bytes: 100 ns since 1601-01-01 UTC (16 bytes in the specification)
	TypeGUID        TypeCode = 17
	TypeUTF16String TypeCode = 18 // ends with a zero unit
	TypeArray       TypeCode = 19 // 16-bit count, then the elements
	TypeVarInt      TypeCode = 20 // zigzag LEB128
	TypeVarUint     TypeCode = 21 // LEB128
	TypeFixedArray  TypeCode = 22 // Count elements
	TypeUTF8Unit    TypeCode = 23
	TypeRelLoc      TypeCode = 24 // 32 bits: low half the distance from the end of the field, high half the bytes
	TypeDataLoc     TypeCode = 25 // the same, with the distance from the start of the payload
	TypeBool8       TypeCode = 26

	TypePointer    TypeCode = 128 // unsigned, of the event's pointer size
	TypeANSIString TypeCode = 129 // 8-bit characters up to a zero byte
	TypePad64      TypeCode = 130 // 4 bytes if pointers have 8 bytes, otherwise none
	TypeCounted    TypeCode = 131 // elements counted by an earlier field
	TypeRest       TypeCode = 132 // bytes up to the end of the payload, possibly none; must be the last field
)

var typeCodeNames = map[TypeCode]string{
	TypeObject: "object", TypeBool32: "bool32", TypeUTF16Unit: "utf16", TypeInt8: "int8", TypeUint8: "uint8",
	TypeInt16: "int16", TypeUint16: "uint16", TypeInt32: "int32", TypeUint32: "uint32",
	TypeInt64: "int64", TypeUint64: "uint64",
	TypeFloat32: "float32", TypeFloat64: "float64", TypeDecimal: "decimal", TypeDateTime: "datetime", TypeGUID: "guid",
	TypeUTF16String: "string", TypeArray: "array", TypeVarInt: "varint", TypeVarUint: "varuint", TypeFixedArray: "fixedarray",
	TypeUTF8Unit: "utf8", TypeRelLoc: "relloc", TypeDataLoc: "dataloc", TypeBool8: "bool8",
	TypePointer: "pointer", TypeANSIString: "ansistring", TypePad64: "pad64", TypeCounted: "counted",
	TypeRest: "rest",
}

// String returns a short name in lower case, or "type(N)" for a value without a constant.
func (c TypeCode) String() string {
	if s, ok := typeCodeNames[c]; ok {
		return s
	}
	return fmt.Sprintf("type(%d)", uint8(c))
}

// fixedSize returns the size of a scalar in bytes. It returns 0 if the size depends on the payload or on Elem.
func (c TypeCode) fixedSize(m mode) int {
	switch {
	case c == TypePointer:
		return int(m.ptr)
	case m.narrow && c == TypeBool32:
		return 1
	case m.narrow && c == TypeDecimal:
		return 8
	}
	return bin.FixedSize(uint8(c))
}

// A mode holds what determines an encoding in addition to the type.
type mode struct {
	ptr    uint8 // size of a pointer in bytes
	narrow bool  // bool32 has 1 byte and decimal 8
}

// modeOf returns the mode for a pointer size. Any value except 4 counts as 8.
func modeOf(pointerSize int) mode {
	if pointerSize == 4 {
		return mode{ptr: 4}
	}
	return mode{ptr: 8}
}

// maxFixedSize bounds the result of size. Larger values do not fit into a payload.
const maxFixedSize = 1 << 30

// size returns the size in bytes of values of type t, and true if all values have this size.
func (m mode) size(t *FieldType) (n int, ok bool) {
	f, ok := m.footprint(t)
	return f.size, ok
}

// Size returns the size in bytes of a value of the type for a pointer size, and true if all values have this size. A
// location has the size of its reference, 4 bytes. Any pointer size except 4 counts as 8.
func (t *FieldType) Size(pointerSize int) (n int, fixed bool) { return modeOf(pointerSize).size(t) }

const (
	layoutKnown     = 1 << iota
	layoutAmbiguous // has a field whose type code has two possible sizes
)

// layoutOf returns properties of the type's fields. It computes them once.
func (t *Type) layoutOf() uint32 {
	l := atomic.LoadUint32(&t.layout)
	if l == 0 {
		l = layoutKnown
		// Sources with narrow values write no locations. With locations, a payload has no unambiguous end.
		if hasCode(t.Fields, TypeBool32, TypeDecimal) && !hasCode(t.Fields, TypeRelLoc, TypeDataLoc) {
			l |= layoutAmbiguous
		}
		atomic.StoreUint32(&t.layout, l)
	}
	return l
}

// hasCode reports whether one of two type codes occurs in the fields.
func hasCode(fields []Field, a, b TypeCode) bool {
	for i := range fields {
		for t := &fields[i].Type; t != nil; t = t.Elem {
			if t.Code == a || t.Code == b || hasCode(t.Fields, a, b) {
				return true
			}
		}
	}
	return false
}

// Errors of values that cannot be decoded.
var (
	errPayloadShort = errors.New("payload ends before the field does")
	errElementSize  = errors.New("element has no size")
	errLocRange     = errors.New("location lies outside the payload")
	errLocSize      = errors.New("size is not a multiple of the element")
	errVarint       = errors.New("variable-length number does not end")
	errTypeCode     = errors.New("unknown type code")
	errCountField   = errors.New("count is not an earlier integer field")
)
