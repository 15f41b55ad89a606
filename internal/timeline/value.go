package timeline

import (
	"encoding/hex"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// A ValueKind is the type of a Value.
type ValueKind uint8

const (
	NullValue ValueKind = iota // only in lists and objects
	BoolValue                  // Uint is 0 or 1
	IntValue
	UintValue
	FloatValue
	TextValue
	ListValue
	ObjectValue
)

// A Value is the value of an arg, of an element of a list, or of a member of an object.
type Value struct {
	Kind ValueKind
	// Pointer means that a UintValue is an address.
	Pointer bool
	// Nests means that the elements of a ListValue are lists or objects. It is not set for values in lists and objects.
	Nests bool
	// Text is the text of a TextValue, which need not be valid UTF-8: a string, a GUID, a time as RFC 3339, bytes as
	// "hex:" and hexadecimal digits, or the error of a field that cannot be decoded.
	Text []byte
	Err  error // of a field that cannot be decoded

	num     uint64
	decoded ntconv.Value // of a list or object, unless list is set
	list    *span.Value
	child   *Value // the current element or member, reused
}

// decode sets v to a decoded field.
func (v *Value) decode(d *ntconv.Value) {
	v.Err, v.list = nil, nil
	v.Kind, v.Text = TextValue, v.Text[:0]
	switch d.Kind() {
	case ntconv.ValueNull:
		v.Kind = NullValue
	case ntconv.ValueBool:
		v.bool(d.Bool())
	case ntconv.ValueInt:
		v.Kind, v.num = IntValue, d.Uint()
	case ntconv.ValueUint:
		v.Kind, v.num = UintValue, d.Uint()
	case ntconv.ValueFloat:
		v.Kind, v.num = FloatValue, math.Float64bits(d.Float())
	case ntconv.ValueString:
		v.Text = d.AppendString(v.Text)
	case ntconv.ValueBytes:
		v.hex(d.Bytes())
	case ntconv.ValueGUID:
		v.Text = d.GUID().Append(v.Text)
	case ntconv.ValueTime:
		v.Text = d.Time().AppendFormat(v.Text, "2006-01-02T15:04:05.0000000Z")
	case ntconv.ValueList:
		v.Kind, v.decoded = ListValue, *d
	case ntconv.ValueObject:
		v.Kind, v.decoded = ObjectValue, *d
	case ntconv.ValueError:
		v.Err = d.Err()
		v.Text = append(append(v.Text, "error: "...), v.Err.Error()...)
	}
}

// attribute sets v to the value of an attribute, which it borrows.
func (v *Value) attribute(a *span.Value) {
	v.Err, v.list, v.Pointer, v.Nests = nil, a, false, false
	v.Kind, v.Text = NullValue, v.Text[:0]
	switch a.Kind() {
	case span.ValueString:
		v.Kind, v.Text = TextValue, append(v.Text, a.Str()...)
	case span.ValueBool:
		v.bool(a.Bool())
	case span.ValueInt:
		v.Kind, v.num = IntValue, uint64(a.Int())
	case span.ValueFloat:
		v.Kind, v.num = FloatValue, math.Float64bits(a.Float())
	case span.ValueBytes:
		v.Kind = TextValue
		v.hex([]byte(a.Str()))
	case span.ValueArray:
		v.Kind = ListValue
		v.Nests = slices.ContainsFunc(a.Elems(), func(e span.Value) bool { return e.Kind() >= span.ValueArray })
	case span.ValueMap:
		v.Kind = ObjectValue
	}
}

func (v *Value) bool(b bool) {
	v.Kind, v.num = BoolValue, 0
	if b {
		v.num = 1
	}
}

func (v *Value) hex(b []byte) { v.Text = hex.AppendEncode(append(v.Text, "hex:"...), b) }

// Int returns an IntValue, Uint a UintValue or BoolValue, Float a FloatValue.
func (v *Value) Int() int64     { return int64(v.num) }
func (v *Value) Uint() uint64   { return v.num }
func (v *Value) Float() float64 { return math.Float64frombits(v.num) }

// Members yields the members of an ObjectValue, or the elements of a ListValue, without names. Each is borrowed until
// the next one.
func (v *Value) Members() iter.Seq2[string, *Value] {
	return func(yield func(string, *Value) bool) { v.members(yield) }
}

func (v *Value) members(yield func(string, *Value) bool) {
	if v.child == nil {
		v.child = new(Value)
	}
	c := v.child
	if v.list != nil {
		elems, members := v.list.Elems(), v.list.Members()
		for i := range elems {
			if c.attribute(&elems[i]); !yield("", c) {
				return
			}
		}
		for i := range members {
			if c.attribute(&members[i].Value); !yield(members[i].Key, c) {
				return
			}
		}
		return
	}
	for e := range v.decoded.Elems() {
		if c.decode(&e); !yield("", c) {
			return
		}
	}
	for f, m := range v.decoded.Fields() {
		if c.decode(&m); !yield(f.Name, c) {
			return
		}
	}
}

// A JSON appends values as JSON. Its functions append what formats write in different ways.
type JSON struct {
	Text  func(dst, text []byte) []byte        // with quotes
	Key   func(dst []byte, name string) []byte // with quotes
	Int   func(dst []byte, n int64) []byte
	Uint  func(dst []byte, n uint64) []byte // may be nil without fields of events
	Float func(dst []byte, f float64) []byte
}

// Append appends a value.
func (j *JSON) Append(dst []byte, v *Value) []byte {
	switch v.Kind {
	case BoolValue:
		return strconv.AppendBool(dst, v.num != 0)
	case IntValue:
		return j.Int(dst, v.Int())
	case UintValue:
		return j.Uint(dst, v.Uint())
	case FloatValue:
		return j.Float(dst, v.Float())
	case TextValue:
		return j.Text(dst, v.Text)
	case ListValue:
		dst = append(dst, '[')
		for _, e := range v.Members() {
			dst = j.Append(appendComma(dst, '['), e)
		}
		return append(dst, ']')
	case ObjectValue:
		dst = append(dst, '{')
		for name, m := range v.Members() {
			dst = j.Append(j.Name(dst, name), m)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// Name appends the name of a member and a colon, after a comma unless the member is the first of its object.
func (j *JSON) Name(dst []byte, name string) []byte {
	return append(j.Key(appendComma(dst, '{'), name), ':')
}

// appendComma appends a comma unless the JSON text ends with open.
func appendComma(dst []byte, open byte) []byte {
	if dst[len(dst)-1] != open {
		return append(dst, ',')
	}
	return dst
}
