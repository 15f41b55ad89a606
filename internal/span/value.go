package span

import "math"

// An Attribute is a key with its value. Keys in a list need not be unique.
type Attribute struct {
	Key   string
	Value Value
}

// ValueKind is the kind of a Value.
type ValueKind uint8

const (
	ValueAbsent ValueKind = iota // the attribute has no AnyValue
	ValueEmpty                   // an AnyValue without a value
	ValueString
	ValueBool
	ValueInt
	ValueFloat
	ValueBytes
	ValueArray
	ValueMap
)

// A Value is the value of an attribute: AnyValue of common.proto. It is immutable. The zero Value is absent.
type Value struct {
	kind    ValueKind
	num     uint64
	str     string
	elems   []Value
	members []Attribute
}

// Empty returns a value of kind ValueEmpty.
func Empty() Value { return Value{kind: ValueEmpty} }

// String returns a string value.
func String(s string) Value { return Value{kind: ValueString, str: s} }

// Bytes returns a value whose bytes are those of the string.
func Bytes(b string) Value { return Value{kind: ValueBytes, str: b} }

// Int returns an integer value.
func Int(n int64) Value { return Value{kind: ValueInt, num: uint64(n)} }

// Float returns a floating-point value.
func Float(f float64) Value { return Value{kind: ValueFloat, num: math.Float64bits(f)} }

// FloatBits returns a floating-point value with the given IEEE 754 bits. It preserves the bits of a NaN on every
// machine.
func FloatBits(bits uint64) Value { return Value{kind: ValueFloat, num: bits} }

// Bool returns a Boolean value.
func Bool(b bool) Value {
	v := Value{kind: ValueBool}
	if b {
		v.num = 1
	}
	return v
}

// Array returns a list. It takes ownership of elems.
func Array(elems []Value) Value { return Value{kind: ValueArray, elems: elems} }

// Map returns a list of keys and values. It takes ownership of members.
func Map(members []Attribute) Value { return Value{kind: ValueMap, members: members} }

// Kind returns the kind of the value.
func (v Value) Kind() ValueKind { return v.kind }

// Str returns the string of a ValueString, or the bytes of a ValueBytes.
func (v Value) Str() string { return v.str }

// Int returns the integer of a ValueInt.
func (v Value) Int() int64 { return int64(v.num) }

// Bool returns the Boolean of a ValueBool.
func (v Value) Bool() bool { return v.num != 0 }

// Float returns the number of a ValueFloat, with the bits of a NaN.
func (v Value) Float() float64 { return math.Float64frombits(v.num) }

// Elems returns the elements of a ValueArray. The caller must not change them.
func (v Value) Elems() []Value { return v.elems }

// Members returns the keys and values of a ValueMap. The caller must not change them.
func (v Value) Members() []Attribute { return v.members }
