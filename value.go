package ntconv

import (
	"fmt"
	"iter"
	"math"
	"time"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/bin"
)

// ValueKind says what a Value holds.
type ValueKind uint8

const (
	ValueNull   ValueKind = iota // the payload ends before the field: an older version of the event
	ValueBool                    // Bool
	ValueInt                     // Int
	ValueUint                    // Uint
	ValueFloat                   // Float
	ValueString                  // String, AppendString
	ValueBytes                   // Bytes
	ValueGUID                    // GUID
	ValueTime                    // Time
	ValueList                    // Elems
	ValueObject                  // Fields
	ValueError                   // Err: the payload does not fit the layout
)

var valueKindNames = []string{
	"null",
	"bool",
	"int",
	"uint",
	"float",
	"string",
	"bytes",
	"guid",
	"time",
	"list",
	"object",
	"error",
}

// String returns the kind's name in lower case.
func (k ValueKind) String() string { return nameOf(valueKindNames, int(k)) }

// A Value is a decoded field, or one to encode. A decoded value borrows the event's payload: it is valid as long as the
// event is. Accessors cannot fail; one that does not fit the kind returns zero.
type Value struct {
	kind    ValueKind
	enc     encoding
	mode    mode
	charged uint32     // decoded list or object: total before its first element, see maxLocatedPerByte
	num     uint64     // decoded list or object: position of raw in pay
	raw     []byte     // encoded bytes of what has more than 8
	typ     *FieldType // list: the element; object: itself
	pay     []byte     // the payload, where nested locations may point
	text    string     // string made by StringValue
	list    []Value    // list or object made by ListValue or ObjectValue
	err     error
}

// encoding of the characters of a string value.
type encoding uint8

const (
	encGo encoding = iota // Value.text
	encUTF16
	encUTF8
	encLatin1
)

// Constructors of values to encode.

// BoolValue returns a value of kind ValueBool.
func BoolValue(b bool) Value {
	v := Value{kind: ValueBool}
	if b {
		v.num = 1
	}
	return v
}

// IntValue returns a value of kind ValueInt.
func IntValue(n int64) Value { return Value{kind: ValueInt, num: uint64(n)} }

// UintValue returns a value of kind ValueUint.
func UintValue(n uint64) Value { return Value{kind: ValueUint, num: n} }

// FloatValue returns a value of kind ValueFloat.
func FloatValue(f float64) Value { return Value{kind: ValueFloat, num: math.Float64bits(f)} }

// StringValue returns a value of kind ValueString.
func StringValue(s string) Value { return Value{kind: ValueString, text: s} }

// BytesValue returns a value of kind ValueBytes that refers to b.
func BytesValue(b []byte) Value { return Value{kind: ValueBytes, raw: b} }

// GUIDValue returns a value of kind ValueGUID.
func GUIDValue(g GUID) Value { return Value{kind: ValueGUID, raw: g[:]} }

// TimeValue returns a value of kind ValueTime, cut to 100 ns.
func TimeValue(t time.Time) Value { return Value{kind: ValueTime, num: fileTime(t)} }

// ListValue returns a value of kind ValueList that refers to elems.
func ListValue(elems ...Value) Value { return Value{kind: ValueList, list: elems} }

// ObjectValue returns a value of kind ValueObject: one value a field of the object's type, in order.
func ObjectValue(fields ...Value) Value { return Value{kind: ValueObject, list: fields} }

func errorValue(err error) Value { return Value{kind: ValueError, err: err} }

// Kind returns what the value holds.
func (v Value) Kind() ValueKind { return v.kind }

// Bool returns a ValueBool.
func (v Value) Bool() bool { return v.kind == ValueBool && v.num != 0 }

// Int returns a ValueInt, or a ValueUint as signed bits.
func (v Value) Int() int64 { return int64(v.Uint()) }

// Uint returns a ValueUint, or a ValueInt as unsigned bits.
func (v Value) Uint() uint64 {
	if v.kind == ValueInt || v.kind == ValueUint {
		return v.num
	}
	return 0
}

// Float returns a ValueFloat.
func (v Value) Float() float64 {
	if v.kind == ValueFloat {
		return math.Float64frombits(v.num)
	}
	return 0
}

// Bytes returns a ValueBytes. It is borrowed as the value is.
func (v Value) Bytes() []byte {
	if v.kind == ValueBytes {
		return v.raw
	}
	return nil
}

// GUID returns a ValueGUID.
func (v Value) GUID() (g GUID) {
	if v.kind == ValueGUID {
		copy(g[:], v.raw)
	}
	return g
}

// Time returns a ValueTime in UTC.
func (v Value) Time() time.Time {
	if v.kind != ValueTime {
		return time.Time{}
	}
	n := int64(v.num)
	return time.Unix(n/1e7-fileTimeEpoch, n%1e7*100).UTC()
}

// FileTime returns a ValueTime as 100 ns since 1601-01-01 UTC.
func (v Value) FileTime() uint64 {
	if v.kind == ValueTime {
		return v.num
	}
	return 0
}

// fileTimeEpoch is the number of seconds from 1601-01-01 to 1970-01-01.
const fileTimeEpoch = 11644473600

func fileTime(t time.Time) uint64 {
	return uint64((t.Unix()+fileTimeEpoch)*1e7 + int64(t.Nanosecond()/100))
}

// Err returns why a ValueError could not be decoded.
func (v Value) Err() error { return v.err }

// String returns a ValueString, all of its characters included. Lone surrogates and invalid UTF-8 become U+FFFD. For
// other kinds it returns a text for debugging.
func (v Value) String() string {
	switch v.kind {
	case ValueString:
		if v.enc == encGo {
			return v.text
		}
		var buf [128]byte // most strings fit, and cost one allocation
		return string(v.AppendString(buf[:0]))
	case ValueBool:
		return fmt.Sprint(v.Bool())
	case ValueInt:
		return fmt.Sprint(v.Int())
	case ValueUint:
		return fmt.Sprint(v.Uint())
	case ValueFloat:
		return fmt.Sprint(v.Float())
	case ValueGUID:
		return v.GUID().String()
	case ValueTime:
		return v.Time().Format(time.RFC3339Nano)
	case ValueBytes:
		return fmt.Sprintf("%x", v.raw)
	case ValueError:
		return v.err.Error()
	}
	return v.kind.String()
}

// AppendString appends the characters of a ValueString to dst as UTF-8.
func (v Value) AppendString(dst []byte) []byte {
	if v.kind != ValueString {
		return dst
	}
	switch v.enc {
	case encUTF16:
		return bin.DecodeUTF16(dst, v.raw)
	case encLatin1:
		for _, c := range v.raw {
			dst = utf8.AppendRune(dst, rune(c))
		}
		return dst
	case encUTF8:
		for b := v.raw; len(b) > 0; {
			r, n := utf8.DecodeRune(b)
			dst, b = utf8.AppendRune(dst, r), b[n:]
		}
		return dst
	}
	return append(dst, v.text...)
}

// Len returns the number of elements of a ValueList, counting them if need be.
func (v Value) Len() int {
	if v.list != nil {
		return len(v.list)
	}
	n := 0
	for range v.Elems() {
		n++
	}
	return n
}

// Elems iterates over the elements of a ValueList. A list in which the limit on located bytes is exceeded (see
// [Event.Fields]) ends with that element.
func (v Value) Elems() iter.Seq[Value] {
	return func(yield func(Value) bool) { eachElem(&v, yield) }
}

func eachElem(v *Value, yield func(Value) bool) {
	if v.kind != ValueList {
		return
	}
	if v.list != nil {
		for _, e := range v.list {
			if !yield(e) {
				return
			}
		}
		return
	}
	for d := v.decoder(); d.off < len(d.b); {
		if !yield(d.value(v.typ, nil, 0)) {
			return
		}
		if d.charged == overCharged && v.charged != overCharged {
			return // otherwise an error per element would follow, far more than the payload has bytes
		}
	}
}

// Fields iterates over the members of a decoded ValueObject. A constructed object has no names: it yields none.
func (v Value) Fields() iter.Seq2[*Field, Value] {
	return func(yield func(*Field, Value) bool) { eachMember(&v, yield) }
}

func eachMember(v *Value, yield func(*Field, Value) bool) {
	if v.kind != ValueObject || v.typ == nil {
		return
	}
	d := v.decoder()
	d.each(v.typ.Fields, yield)
}

// Field returns the first member of that name of a ValueObject.
func (v Value) Field(name string) (Value, bool) {
	for f, m := range v.Fields() {
		if f.Name == name {
			return m, true
		}
	}
	return Value{}, false
}
