package payload

import "github.com/ntconv/ntconv"

// A node states how the values of a type are converted for one pointer size. Nodes form a tree, like types.
type node struct {
	op      op
	size    uint8  // bytes of a value; 0 if the size varies
	plain   bool   // the fast path can decode the values, with the same result as ntconv.DecodeFields
	slot    int16  // index in fastPath.counts if a later member counts its elements with the value; otherwise -1
	count   int    // opFixed: number of elements; opCounted: slot of the number
	name    string // JSON name of a member: quoted, with its colon
	key     string // name preceded by the comma, or by the brace of the object
	elem    *node
	members []node
	typ     *ntconv.FieldType
}

// An op states how a value is converted. Ops up to opGUID have a fixed size.
type op uint8

const (
	opInvalid op = iota
	opUint
	opInt
	opFloat
	opBool
	opTime
	opUnit8
	opUnit16
	opDecimal
	opGUID

	opUTF16
	opLatin1
	opVarInt
	opVarUint
	opPad
	opRest
	opObject
	opArray
	opFixed
	opCounted
	opLocation // relative or absolute; not supported by the fast path
)

var ops = map[ntconv.TypeCode]op{
	ntconv.TypeObject: opObject, ntconv.TypeBool8: opBool, ntconv.TypeBool32: opBool, ntconv.TypeUTF8Unit: opUnit8,
	ntconv.TypeUTF16Unit: opUnit16, ntconv.TypeInt8: opInt, ntconv.TypeInt16: opInt, ntconv.TypeInt32: opInt, ntconv.TypeInt64: opInt,
	ntconv.TypeUint8: opUint, ntconv.TypeUint16: opUint, ntconv.TypeUint32: opUint, ntconv.TypeUint64: opUint, ntconv.TypePointer: opUint,
	ntconv.TypeFloat32: opFloat, ntconv.TypeFloat64: opFloat, ntconv.TypeDecimal: opDecimal, ntconv.TypeDateTime: opTime, ntconv.TypeGUID: opGUID,
	ntconv.TypeUTF16String: opUTF16, ntconv.TypeANSIString: opLatin1, ntconv.TypeVarInt: opVarInt, ntconv.TypeVarUint: opVarUint,
	ntconv.TypeArray: opArray, ntconv.TypeFixedArray: opFixed, ntconv.TypeCounted: opCounted, ntconv.TypePad64: opPad, ntconv.TypeRest: opRest,
	ntconv.TypeRelLoc: opLocation, ntconv.TypeDataLoc: opLocation,
}

// A plan is the nodes of a layout. It is immutable once newPlan returns.
type plan struct {
	members []node
	plain   bool // the fast path can decode all members
	pads    bool // a member is padding
	slots   int  // number of slots in use
	min     int  // minimum size in bytes of a payload with all fields
}

func newPlan(fields []ntconv.Field, pointerSize int) *plan {
	p := new(plan)
	p.members, p.min, p.plain = p.object(fields, pointerSize, true)
	return p
}

// object returns the nodes of an object's members and their minimum size in bytes. top is set for the fields of the
// payload itself.
func (p *plan) object(fields []ntconv.Field, ptr int, top bool) (members []node, least int, plain bool) {
	members, plain = make([]node, len(fields)), true
	taken := make(Keys, len(fields))
	before, position := byte('{'), 1
	for i := range fields {
		n := &members[i]
		size := p.node(n, &fields[i].Type, ptr)
		least = min(least+size, maxLeast)
		plain = plain && n.plain && (n.op != opRest || top && i == len(fields)-1)
		if n.op == opCounted {
			slot, ok := p.countedBy(members[:i], n.count)
			n.count, plain = slot, plain && ok
		}
		if n.op == opPad {
			continue
		}
		n.name = taken.Add(fields[i].Name, position)
		n.key = string(before) + n.name
		before, position = ',', position+1
	}
	return members, least, plain
}

// countedBy assigns a slot to the member with an index, which counts the elements of a later member. It returns false
// if this is not an integer or no slot is free.
func (p *plan) countedBy(earlier []node, index int) (slot int, ok bool) {
	if index >= len(earlier) {
		return 0, false
	}
	n := &earlier[index]
	if n.op != opUint && n.op != opInt && n.op != opVarInt && n.op != opVarUint {
		return 0, false
	}
	if n.slot < 0 && p.slots < maxSlots {
		n.slot = int16(p.slots)
		p.slots++
	}
	return int(n.slot), n.slot >= 0
}

// maxSlots bounds the members of a layout that count elements of others. The runtime's layouts have at most two.
const maxSlots = 16

// maxLeast caps minimum sizes, so that nested arrays cannot overflow an int. No payload is that large.
const maxLeast = 1 << 30

// node initializes n for values of type t and returns their minimum size in bytes.
func (p *plan) node(n *node, t *ntconv.FieldType, ptr int) (least int) {
	*n = node{op: ops[t.Code], typ: t, slot: -1, count: int(t.Count), plain: true}
	switch n.op {
	case opInvalid, opLocation:
		n.plain, least = false, 4
	case opUTF16, opArray:
		least = 2
	case opLatin1, opVarInt, opVarUint:
		least = 1
	case opPad:
		p.pads = true
		n.size = uint8(ptr - 4)
		least = ptr - 4
	case opObject:
		n.members, least, n.plain = p.object(t.Fields, ptr, false)
		n.plain = n.plain && least > 0 // ntconv.DecodeFields limits values without bytes
	case opRest, opCounted, opFixed:
	default:
		least, _ = t.Size(ptr)
		n.size = uint8(least)
	}
	if n.op < opArray {
		return least
	}
	if t.Elem == nil {
		n.plain = false
		return least
	}
	n.elem = new(node)
	each := p.node(n.elem, t.Elem, ptr)
	if n.op == opFixed {
		least = min(each*n.count, maxLeast)
		n.plain = n.plain && n.count > 0
	}
	n.plain = n.plain && n.elem.plain && each > 0 && n.elem.op != opPad // all others can be errors, limited or null
	return least
}
