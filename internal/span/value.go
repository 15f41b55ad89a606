package span

import "math"

// An Attribute is a key and its value. Keys may repeat.
type Attribute struct {
	Key   string
	Value Value
}

// ValueKind says what a Value holds.
type ValueKind uint8

const (
	ValueAbsent ValueKind = iota // the attribute has no value at all
	ValueEmpty                   // an AnyValue in which nothing is set
	ValueString
	ValueBool
	ValueInt
	ValueFloat
	ValueBytes
	ValueArray
	ValueMap
)

// A Value is the value of an attribute: AnyValue of common.proto. The zero Value is absent.
type Value struct {
	kind    ValueKind
	num     uint64
	str     string
	elems   []Value
	members []Attribute
}

// Empty returns a value in which nothing is set.
func Empty() Value { return Value{kind: ValueEmpty} }

// String returns a string value.
func String(s string) Value { return Value{kind: ValueString, str: s} }

// Bytes returns a value of bytes, which are those of the string.
func Bytes(b string) Value { return Value{kind: ValueBytes, str: b} }

// Int returns an integer value.
func Int(n int64) Value { return Value{kind: ValueInt, num: uint64(n)} }

// Float returns a floating point value.
func Float(f float64) Value { return Value{kind: ValueFloat, num: math.Float64bits(f)} }

// FloatBits returns a floating point value with the given IEEE 754 bits, which keeps those of a NaN on every machine.
func FloatBits(bits uint64) Value { return Value{kind: ValueFloat, num: bits} }

// Bool returns a Boolean value.
func Bool(b bool) Value {
	v := Value{kind: ValueBool}
	if b {
		v.num = 1
	}
	return v
}

// Array returns a list that owns elems.
func Array(elems []Value) Value { return Value{kind: ValueArray, elems: elems} }

// Map returns a list of keys and values that owns members.
func Map(members []Attribute) Value { return Value{kind: ValueMap, members: members} }

// Kind returns what the value holds.
func (v Value) Kind() ValueKind { return v.kind }

// Str returns a ValueString, or the bytes of a ValueBytes.
func (v Value) Str() string { return v.str }

// Int returns a ValueInt.
func (v Value) Int() int64 { return int64(v.num) }

// Bool returns a ValueBool.
func (v Value) Bool() bool { return v.num != 0 }

// Float returns a ValueFloat, bits of a NaN included.
func (v Value) Float() float64 { return math.Float64frombits(v.num) }

// Elems returns the elements of a ValueArray. The caller must not change them.
func (v Value) Elems() []Value { return v.elems }

// Members returns the keys and values of a ValueMap. The caller must not change them.
func (v Value) Members() []Attribute { return v.members }
