package ntconv

import (
	"fmt"
	"iter"
	"math"
	"time"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// ValueKind is the kind of a Value. The accessor for each kind is in its comment.
type ValueKind uint8

const (
	ValueNull   ValueKind = iota // no value, or padding
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
	ValueError                   // Err: the field cannot be decoded
)

var valueKindNames = []string{
	"null", "bool", "int", "uint", "float", "string", "bytes", "guid", "time", "list", "object", "error",
}

// String returns the kind's name in lower case.
func (k ValueKind) String() string { return nameOf(valueKindNames, int(k)) }

// A Value is a decoded field, or a value to encode. A decoded Value borrows the event's payload and is valid as long as
// the event is. Accessors cannot fail: an accessor for another kind returns zero. The zero Value has the kind
// ValueNull.
type Value struct {
	kind    ValueKind
	enc     encoding
	mode    mode
	charged uint32     // decoded list or object: total before its first element, see chargeLimit
	num     uint64     // bits of a number; decoded list or object: position of raw in pay
	raw     []byte     // encoded bytes of values with more than 8 bytes
	typ     *FieldType // list: type of the elements; object: type of the object
	pay     []byte     // the whole payload, because nested locations may refer to any part
	text    string     // string of StringValue
	list    []Value    // elements of ListValue or ObjectValue
	err     error
}

// An encoding is the encoding of a string value.
type encoding uint8

const (
	encGo encoding = iota // Value.text
	encUTF16
	encUTF8
	encLatin1
)

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

// BytesValue returns a value of kind ValueBytes that aliases b.
func BytesValue(b []byte) Value { return Value{kind: ValueBytes, raw: b} }

// GUIDValue returns a value of kind ValueGUID.
func GUIDValue(g GUID) Value { return Value{kind: ValueGUID, raw: g[:]} }

// TimeValue returns a value of kind ValueTime, rounded down to 100 ns.
func TimeValue(t time.Time) Value { return Value{kind: ValueTime, num: fileTime(t)} }

// ListValue returns a value of kind ValueList that aliases elems.
func ListValue(elems ...Value) Value { return Value{kind: ValueList, list: elems} }

// ObjectValue returns a value of kind ValueObject that aliases fields: one value per field of the object's type, in
// order.
func ObjectValue(fields ...Value) Value { return Value{kind: ValueObject, list: fields} }

func errorValue(err error) Value { return Value{kind: ValueError, err: err} }

// Kind returns the kind of the value, which determines the accessor.
func (v Value) Kind() ValueKind { return v.kind }

// Bool returns a ValueBool, and false for other kinds.
func (v Value) Bool() bool { return v.kind == ValueBool && v.num != 0 }

// Int returns a ValueInt, or the bits of a ValueUint as a signed number, and 0 for other kinds.
func (v Value) Int() int64 { return int64(v.Uint()) }

// Uint returns a ValueUint, or the bits of a ValueInt as an unsigned number, and 0 for other kinds.
func (v Value) Uint() uint64 {
	if v.kind == ValueInt || v.kind == ValueUint {
		return v.num
	}
	return 0
}

// Float returns a ValueFloat, and 0 for other kinds.
func (v Value) Float() float64 {
	if v.kind == ValueFloat {
		return math.Float64frombits(v.num)
	}
	return 0
}

// Bytes returns a ValueBytes, and nil for other kinds. The slice is borrowed, like the value, and read-only.
func (v Value) Bytes() []byte {
	if v.kind == ValueBytes {
		return v.raw
	}
	return nil
}

// GUID returns a ValueGUID, and the zero GUID for other kinds.
func (v Value) GUID() (g GUID) {
	if v.kind == ValueGUID {
		copy(g[:], v.raw)
	}
	return g
}

// Time returns a ValueTime in UTC, and the zero Time for other kinds.
func (v Value) Time() time.Time {
	if v.kind != ValueTime {
		return time.Time{}
	}
	n := int64(v.num)
	return time.Unix(n/1e7-fileTimeEpoch, n%1e7*100).UTC()
}

// FileTime returns a ValueTime in units of 100 ns since 1601-01-01 UTC, and 0 for other kinds.
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

// Err returns why a ValueError could not be decoded, and nil for other kinds.
func (v Value) Err() error { return v.err }

// String returns a ValueString. Unpaired surrogates and invalid UTF-8 become U+FFFD. For other kinds it returns a
// representation for debugging.
func (v Value) String() string {
	switch v.kind {
	case ValueString:
		if v.enc == encGo {
			return v.text
		}
		var buf [128]byte // most strings fit, so they need only one allocation
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

// AppendString appends a ValueString to dst as UTF-8 and returns the extended slice. For other kinds it returns dst.
func (v Value) AppendString(dst []byte) []byte {
	if v.kind != ValueString {
		return dst
	}
	switch v.enc {
	case encUTF16:
		return bin.DecodeUTF16(dst, v.raw)
	case encLatin1:
		return bin.DecodeLatin1(dst, v.raw)
	case encUTF8:
		for b := v.raw; len(b) > 0; {
			r, n := utf8.DecodeRune(b)
			dst, b = utf8.AppendRune(dst, r), b[n:]
		}
		return dst
	}
	return append(dst, v.text...)
}

// Len returns the number of elements of a ValueList, and 0 for other kinds. It decodes all elements if necessary.
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

// Elems iterates over the elements of a ValueList, and over none for other kinds. A list ends with the element that
// exceeds the limit on located bytes (see [Event.Fields]).
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
			return // otherwise one error per element would follow, many more than the payload has bytes
		}
	}
}

// Fields iterates over the members of a decoded ValueObject. It yields none for other kinds, and none for a value of
// ObjectValue, which has no names.
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

// Field returns the first member of a ValueObject with this name, and false if there is none.
func (v Value) Field(name string) (Value, bool) {
	for f, m := range v.Fields() {
		if f.Name == name {
			return m, true
		}
	}
	return Value{}, false
}
