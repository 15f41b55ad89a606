package span

import (
	"encoding/base64"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"math"
	"strconv"
	"strings"
)

// MaxDepth is the maximum number of nested arrays and maps in a stored value. Encoders of package stored replace deeper values by
// empty ones.
const MaxDepth = 1000

// Names of the kinds of values in events, and the text form of the values.
const (
	typeAbsent = "absent" // empty
	typeEmpty  = "empty"  // empty
	typeString = "string" // the string
	typeBool   = "bool"   // true or false
	typeInt    = "int"    // decimal
	typeDouble = "double" // see appendDouble
	typeBytes  = "bytes"  // base64
	typeArray  = "array"  // JSON
	typeMap    = "kvlist" // JSON
)

var typeNames = [...]string{
	ValueAbsent: typeAbsent, ValueEmpty: typeEmpty, ValueString: typeString, ValueBool: typeBool, ValueInt: typeInt,
	ValueFloat: typeDouble, ValueBytes: typeBytes, ValueArray: typeArray, ValueMap: typeMap,
}

// String returns the name of the kind in events that store values, such as kvlist for ValueMap.
func (k ValueKind) String() string { return typeNames[k] }

// AppendText appends a value in text form and returns the extended slice: strings unchanged, bytes in base64, arrays
// and maps as an AnyValue of OTLP/JSON without white space, such as {"arrayValue":{"values":[{"intValue":"1"},{}]}}. In
// addition, an absent element of an array is null, and invalid UTF-8 is copied unchanged. For an empty or absent value
// AppendText appends nothing.
func (v *Value) AppendText(b []byte) []byte { return appendValue(b, v) }

func appendValue(b []byte, v *Value) []byte {
	switch v.kind {
	case ValueString:
		return append(b, v.str...)
	case ValueBool:
		return strconv.AppendBool(b, v.Bool())
	case ValueInt:
		return strconv.AppendInt(b, v.Int(), 10)
	case ValueFloat:
		return appendDouble(b, v.num)
	case ValueBytes:
		return base64.StdEncoding.AppendEncode(b, []byte(v.str))
	case ValueArray, ValueMap:
		return appendJSON(b, v, MaxDepth)
	}
	return b
}

// nanBits is the NaN that "NaN" represents, that of math.NaN. All other NaNs are written with their bits.
var nanBits = math.Float64bits(math.NaN())

// appendDouble appends the number with the given bits: the shortest decimal number that restores it, Infinity,
// -Infinity, NaN, or, for NaNs other than nanBits, NaN(0x7ff8000000000000) with their bits.
func appendDouble(b []byte, bits uint64) []byte {
	f := math.Float64frombits(bits)
	switch {
	case bits == nanBits:
		return append(b, "NaN"...)
	case f != f:
		b = append(b, "NaN(0x"...)
		return append(strconv.AppendUint(b, bits, 16), ')')
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

// parseDouble is the inverse of appendDouble.
func parseDouble(s string) (Value, bool) {
	if bits, ok := strings.CutPrefix(s, "NaN(0x"); ok {
		n, err := strconv.ParseUint(strings.TrimSuffix(bits, ")"), 16, 64)
		return Value{kind: ValueFloat, num: n}, err == nil
	}
	f, err := strconv.ParseFloat(s, 64)
	return Float(f), err == nil
}

// appendJSON appends a value as OTLP/JSON, with at most depth levels of arrays and maps.
func appendJSON(b []byte, v *Value, depth int) []byte {
	if depth == 0 && (v.kind == ValueArray || v.kind == ValueMap) {
		return append(b, "{}"...)
	}
	switch v.kind {
	case ValueAbsent:
		return append(b, "null"...)
	case ValueString:
		b = appendQuoted(append(b, `{"stringValue":`...), v.str)
	case ValueBool:
		b = appendValue(append(b, `{"boolValue":`...), v)
	case ValueInt:
		b = append(appendValue(append(b, `{"intValue":"`...), v), '"')
	case ValueFloat:
		if f := v.Float(); f-f != 0 { // Inf and NaN are not JSON numbers
			b = append(appendValue(append(b, `{"doubleValue":"`...), v), '"')
		} else {
			b = appendValue(append(b, `{"doubleValue":`...), v)
		}
	case ValueBytes:
		b = append(appendValue(append(b, `{"bytesValue":"`...), v), '"')
	case ValueArray:
		b = append(b, `{"arrayValue":{"values":[`...)
		for i := range v.elems {
			b = appendJSON(appendComma(b, i), &v.elems[i], depth-1)
		}
		b = append(b, "]}"...)
	case ValueMap:
		b = append(b, `{"kvlistValue":{"values":[`...)
		for i := range v.members {
			b = appendMember(appendComma(b, i), &v.members[i], depth-1)
		}
		b = append(b, "]}"...)
	default:
		b = append(b, '{')
	}
	return append(b, '}')
}

func appendComma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// appendMember appends a KeyValue. It omits the value if that is absent.
func appendMember(b []byte, a *Attribute, depth int) []byte {
	b = appendQuoted(append(b, `{"key":`...), a.Key)
	if a.Value.kind != ValueAbsent {
		b = appendJSON(append(b, `,"value":`...), &a.Value, depth)
	}
	return append(b, '}')
}

// appendQuoted appends a JSON string and escapes only the characters that JSON requires to be escaped.
func appendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// ParseValue is the inverse of AppendText. typ is the name of the kind. ok is false if s is not the text form of such a
// value.
func ParseValue(typ, s string) (v Value, ok bool) {
	switch typ {
	case typeString:
		return String(s), true
	case typeInt:
		n, err := strconv.ParseInt(s, 10, 64)
		return Int(n), err == nil
	case typeBool:
		return Bool(s == "true"), s == "true" || s == "false"
	case typeDouble:
		return parseDouble(s)
	case typeBytes:
		raw, err := base64.StdEncoding.DecodeString(s)
		return Bytes(string(raw)), err == nil
	case typeArray, typeMap:
		j := jsonText{Scanner: jsonio.Scanner{Text: []byte(s)}}
		v = j.value(MaxDepth)
		return v, !j.failed && j.Peek() == 0 && typeNames[v.kind] == typ
	case typeEmpty:
		return Empty(), s == ""
	}
	return Value{}, typ == typeAbsent && s == ""
}

// A jsonText parses text written by appendJSON, not JSON in general.
type jsonText struct {
	jsonio.Scanner
	failed bool
}

// want consumes required text.
func (j *jsonText) want(text string) {
	if !j.Literal(text) {
		j.fail()
	}
}

// fail ends the text, so that every loop over it ends.
func (j *jsonText) fail() { j.Text, j.Pos, j.failed = nil, 0, true }

// value parses a value written by appendJSON.
func (j *jsonText) value(depth int) (v Value) {
	switch {
	case j.Literal("null"):
		return Value{}
	case j.Literal("{}"):
		return Empty()
	case j.Literal(`{"stringValue":`):
		v = String(j.quoted())
	case j.Literal(`{"boolValue":`):
		if v = Bool(j.Literal("true")); !v.Bool() {
			j.want("false")
		}
	case j.Literal(`{"intValue":`):
		v = j.scalar(typeInt, j.quoted())
	case j.Literal(`{"doubleValue":`):
		if text := j.Number(); len(text) > 0 {
			v = j.scalar(typeDouble, string(text))
		} else {
			v = j.scalar(typeDouble, j.quoted())
		}
	case j.Literal(`{"bytesValue":`):
		v = j.scalar(typeBytes, j.quoted())
	case depth > 0 && j.Literal(`{"arrayValue":{"values":[`):
		v.kind = ValueArray
		for first := true; j.more(first); first = false {
			v.elems = append(v.elems, j.value(depth-1))
		}
		j.want("}")
	case depth > 0 && j.Literal(`{"kvlistValue":{"values":[`):
		v.kind = ValueMap
		for first := true; j.more(first); first = false {
			v.members = append(v.members, j.member(depth-1))
		}
		j.want("}")
	default:
		j.fail()
	}
	j.want("}")
	return v
}

// more reports whether a list has another element, and consumes the comma before it or the bracket at the end.
func (j *jsonText) more(first bool) bool {
	if j.failed || j.Literal("]") {
		return false
	}
	if !first {
		j.want(",")
	}
	return !j.failed
}

func (j *jsonText) member(depth int) (a Attribute) {
	j.want(`{"key":`)
	a.Key = j.quoted()
	if j.Literal(`,"value":`) {
		a.Value = j.value(depth)
	}
	j.want("}")
	return a
}

// scalar parses the text form of a scalar.
func (j *jsonText) scalar(typ, s string) Value {
	v, ok := ParseValue(typ, s)
	if !ok {
		j.fail()
	}
	return v
}

// quoted parses a string written by appendQuoted.
func (j *jsonText) quoted() string {
	text, escapes, ok := j.String()
	if escapes {
		text, _, ok = jsonio.AppendUnescaped(nil, text)
	}
	if !ok {
		j.fail()
	}
	return string(text)
}
