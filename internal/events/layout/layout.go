// Package layout compiles the fields of payloads for one pointer size, and locates the values in a payload.
//
// A visitor walks the nodes of a layout and a payload together. It stores what it needs per node in Node.Info: the name
// of a member in JSON, the class of a text. Layouts do not follow locations; [ntconv.DecodeFields] decodes any payload.
package layout

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
)

// A Node states how the values of a type are encoded. Nodes form a tree, as types do.
type Node[T any] struct {
	Op Op
	// Size is the number of bytes of a value. It is 0 if the size varies.
	Size uint8
	// Plain means that a visitor without locations, errors and limits reads the same values as ntconv.DecodeFields, if
	// the payload contains them all.
	Plain   bool
	Slot    int16 // index in Counts if a later member counts its elements with the value; otherwise -1
	Count   int   // Fixed: number of elements; Counted: slot of the number, or -1 if it cannot be read
	Info    T     // for the visitor; near the members that each visit needs
	Elem    *Node[T]
	Members []Node[T] // of an object
	Type    *ntconv.FieldType
}

// An Op states how a value is encoded. Ops up to GUID have a fixed size.
type Op uint8

const (
	Invalid Op = iota
	Uint
	Int
	Float
	Bool
	Time
	Unit8
	Unit16
	Decimal
	GUID

	UTF16
	Latin1
	VarInt
	VarUint
	Pad
	Rest
	Object
	Array
	Fixed
	Counted
	Location // relative or absolute
)

var ops = [256]Op{
	ntconv.TypeObject: Object, ntconv.TypeBool8: Bool, ntconv.TypeBool32: Bool, ntconv.TypeUTF8Unit: Unit8,
	ntconv.TypeUTF16Unit: Unit16, ntconv.TypeInt8: Int, ntconv.TypeInt16: Int, ntconv.TypeInt32: Int,
	ntconv.TypeInt64: Int, ntconv.TypeUint8: Uint, ntconv.TypeUint16: Uint, ntconv.TypeUint32: Uint,
	ntconv.TypeUint64: Uint, ntconv.TypePointer: Uint, ntconv.TypeFloat32: Float, ntconv.TypeFloat64: Float,
	ntconv.TypeDecimal: Decimal, ntconv.TypeDateTime: Time, ntconv.TypeGUID: GUID, ntconv.TypeUTF16String: UTF16,
	ntconv.TypeANSIString: Latin1, ntconv.TypeVarInt: VarInt, ntconv.TypeVarUint: VarUint, ntconv.TypeArray: Array,
	ntconv.TypeFixedArray: Fixed, ntconv.TypeCounted: Counted, ntconv.TypePad64: Pad, ntconv.TypeRest: Rest,
	ntconv.TypeRelLoc: Location, ntconv.TypeDataLoc: Location,
}

// OpOf returns the Op of a type code.
func OpOf(c ntconv.TypeCode) Op { return ops[c] }

// IsInteger reports whether values are integers.
func (o Op) IsInteger() bool { return o == Uint || o == Int || o == VarInt || o == VarUint }

// A Layout is the nodes of the fields of a payload. It is immutable once its visitor has set Info.
type Layout[T any] struct {
	Members []Node[T]
	Plain   bool // Node.Plain of all members
	Pads    bool // a member is padding
	Located bool // a member or element is a location
	Min     int  // minimum size in bytes of a payload with all fields
	slots   int  // number of slots in use
}

// Counts are the values of members that count the elements of others, by Node.Slot.
type Counts [maxSlots]uint64

// maxSlots bounds the members of a layout that count elements of others. The runtime's layouts have at most two.
const maxSlots = 16

// Compile returns the layout of fields. pointerSize is 4 or 8 bytes. The layout refers to the fields.
func Compile[T any](fields []ntconv.Field, pointerSize int) *Layout[T] {
	l := new(Layout[T])
	l.Members, l.Min, l.Plain = l.object(fields, pointerSize, true)
	return l
}

// CompileType returns the node of one type with 8-byte pointers.
func CompileType[T any](t *ntconv.FieldType) *Node[T] {
	n := new(Node[T])
	new(Layout[T]).node(n, t, 8)
	return n
}

// object returns the nodes of an object's members and their minimum size in bytes. top is set for the fields of the
// payload itself.
func (l *Layout[T]) object(fields []ntconv.Field, ptr int, top bool) (members []Node[T], least int, plain bool) {
	members, plain = make([]Node[T], len(fields)), true
	for i := range fields {
		n := &members[i]
		least = min(least+l.node(n, &fields[i].Type, ptr), maxLeast)
		plain = plain && n.Plain && (n.Op != Rest || top && i == len(fields)-1)
		if n.Op == Counted {
			n.Count = l.countedBy(members[:i], n.Count)
			plain = plain && n.Count >= 0
		}
	}
	return members, least, plain
}

// countedBy returns the slot of the member with an index, which counts the elements of a later member. It returns -1 if
// this is not an integer or no slot is free.
func (l *Layout[T]) countedBy(earlier []Node[T], index int) (slot int) {
	if index >= len(earlier) || !earlier[index].Op.IsInteger() {
		return -1
	}
	n := &earlier[index]
	if n.Slot < 0 && l.slots < maxSlots {
		n.Slot = int16(l.slots)
		l.slots++
	}
	return int(n.Slot)
}

// maxLeast caps minimum sizes, so that nested arrays cannot overflow an int. No payload is that large.
const maxLeast = 1 << 30

// node initializes n for values of type t and returns their minimum size in bytes.
func (l *Layout[T]) node(n *Node[T], t *ntconv.FieldType, ptr int) (least int) {
	*n = Node[T]{Op: ops[t.Code], Type: t, Slot: -1, Count: int(t.Count), Plain: true}
	switch n.Op {
	case Invalid, Location:
		l.Located = l.Located || n.Op == Location
		n.Plain, least = false, 4
	case UTF16, Array:
		least = 2
	case Latin1, VarInt, VarUint:
		least = 1
	case Pad:
		l.Pads = true
		n.Size = uint8(ptr - 4)
		least = ptr - 4
	case Object:
		n.Members, least, n.Plain = l.object(t.Fields, ptr, false)
		n.Plain = n.Plain && least > 0 // ntconv.DecodeFields limits values without bytes
	case Rest, Counted, Fixed:
	default:
		least, _ = t.Size(ptr)
		n.Size = uint8(least)
	}
	if n.Op < Array {
		return least
	}
	if t.Elem == nil {
		n.Plain = false
		return least
	}
	n.Elem = new(Node[T])
	each := l.node(n.Elem, t.Elem, ptr)
	if n.Op == Fixed {
		least = min(each*n.Count, maxLeast)
		n.Plain = n.Plain && n.Count > 0
	}
	n.Plain = n.Plain && n.Elem.Plain && each > 0 && n.Elem.Op != Pad // all others can be errors, limited or null
	return least
}

// Leaf returns the bytes of the value that b begins with, and how many bytes the value has in total, which include the
// terminator of a string. ok is false if b ends before the value does, and for objects, arrays and invalid nodes.
func (n *Node[T]) Leaf(b []byte) (value []byte, size int, ok bool) {
	switch n.Op {
	case UTF16:
		text, rest, ok := bin.CutUTF16(b)
		return text, len(b) - len(rest), ok
	case Latin1:
		end := bytes.IndexByte(b, 0)
		if end < 0 {
			return nil, 0, false
		}
		return b[:end], end + 1, true
	case VarInt, VarUint:
		_, size = Varint(n.Op, b)
		ok = size > 0
	case Rest:
		size, ok = len(b), true
	case Location:
		size, ok = 4, len(b) >= 4
	case Invalid, Object, Array, Fixed, Counted:
	default:
		size = int(n.Size)
		ok = size <= len(b)
	}
	if !ok {
		return nil, 0, false
	}
	return b[:size], size, true
}

// Len returns the number of elements of the array that b begins with, and the size of a count before them in bytes. ok
// is false if b ends inside the count, if the number cannot be read, and for other values.
func (n *Node[T]) Len(b []byte, counts *Counts) (count uint64, size int, ok bool) {
	switch {
	case n.Op == Array && len(b) >= 2:
		return uint64(binary.LittleEndian.Uint16(b)), 2, true
	case n.Op == Fixed:
		return uint64(n.Count), 0, true
	case n.Op == Counted && n.Count >= 0:
		return counts[n.Count], 0, true
	}
	return 0, 0, false
}

// Number returns the value of an integer, a float, a time or a Boolean of fixed size. A signed integer is
// sign-extended.
func Number(op Op, b []byte) uint64 {
	switch len(b) {
	case 8:
		return binary.LittleEndian.Uint64(b)
	case 4:
		if op == Int {
			return uint64(int32(binary.LittleEndian.Uint32(b)))
		}
		return uint64(binary.LittleEndian.Uint32(b))
	case 2:
		if op == Int {
			return uint64(int16(binary.LittleEndian.Uint16(b)))
		}
		return uint64(binary.LittleEndian.Uint16(b))
	}
	if op == Int {
		return uint64(int8(b[0]))
	}
	return uint64(b[0])
}

// Varint returns the VarInt or VarUint that b begins with, and its size in bytes, which is not positive if b ends
// before the number does, or if the number has more than 64 bits.
func Varint(op Op, b []byte) (u uint64, size int) {
	u, size = binary.Uvarint(b)
	if op == VarInt {
		u = uint64(int64(u>>1) ^ -int64(u&1))
	}
	return u, size
}

// Short returns a copy of fields in which a bool has 1 byte and a decimal is a float of 8 bytes, as self-describing
// .NET sources write them.
func Short(fields []ntconv.Field) []ntconv.Field {
	fields = slices.Clone(fields)
	for i := range fields {
		fields[i].Type = short(fields[i].Type)
	}
	return fields
}

func short(t ntconv.FieldType) ntconv.FieldType {
	switch t.Code {
	case ntconv.TypeBool32:
		t.Code = ntconv.TypeBool8
	case ntconv.TypeDecimal:
		t.Code = ntconv.TypeFloat64
	}
	if t.Elem != nil {
		elem := short(*t.Elem)
		t.Elem = &elem
	}
	if t.Fields != nil {
		t.Fields = Short(t.Fields)
	}
	return t
}
