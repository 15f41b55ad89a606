package firefox

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/jsonio"
	"github.com/ntconv/ntconv/internal/span"
)

// payload adds a payload field with key n.
func (a *argEncoder) payload(n uint32, f *ntconv.Field, v ntconv.Value) {
	number := formatInteger
	if f.Type.Code == ntconv.TypePointer {
		number = formatHexadecimal
	}
	switch v.Kind() {
	case ntconv.ValueNull:
	case ntconv.ValueInt:
		a.int(n, v.Int(), number)
	case ntconv.ValueUint:
		a.uint(n, v.Uint(), number)
	case ntconv.ValueFloat:
		a.float(n, v.Float())
	case ntconv.ValueList:
		if e := f.Type.Elem; e != nil && (e.Code == ntconv.TypeObject || e.Elem != nil) {
			a.nest(n, v)
		} else if a.begin(n, formatList) {
			a.body = a.appendValue(a.body, v)
		}
	case ntconv.ValueObject:
		a.nest(n, v)
	case ntconv.ValueError:
		a.text(n, "error: "+v.Err().Error())
	default:
		if a.begin(n, formatString) {
			a.body = a.appendValue(a.body, v)
		}
	}
}

// nest adds an object, or a list of objects or lists, as a string that contains its JSON: no marker format shows nested
// values.
func (a *argEncoder) nest(n uint32, v ntconv.Value) {
	a.nested = a.appendValue(a.nested[:0], v)
	if a.begin(n, formatString) {
		a.body = jsonio.AppendQuoted(a.body, a.nested)
	}
}

// appendValue appends a value as JSON.
func (a *argEncoder) appendValue(dst []byte, v ntconv.Value) []byte {
	switch v.Kind() {
	case ntconv.ValueBool:
		return strconv.AppendBool(dst, v.Bool())
	case ntconv.ValueInt:
		return appendInt(dst, v.Int())
	case ntconv.ValueUint:
		return appendUint(dst, v.Uint())
	case ntconv.ValueFloat:
		return jsonio.AppendDouble(dst, v.Float())
	case ntconv.ValueString:
		return a.appendText(dst, v)
	case ntconv.ValueBytes:
		return append(hex.AppendEncode(append(dst, '"'), v.Bytes()), '"')
	case ntconv.ValueGUID:
		return append(v.GUID().Append(append(dst, '"')), '"')
	case ntconv.ValueTime:
		return append(v.Time().AppendFormat(append(dst, '"'), "2006-01-02T15:04:05.0000000Z"), '"')
	case ntconv.ValueList:
		return a.appendList(dst, v)
	case ntconv.ValueObject:
		return a.appendObject(dst, v)
	case ntconv.ValueError:
		dst = jsonio.AppendQuoted(dst, "error: "+v.Err().Error())
		return dst
	}
	return append(dst, "null"...)
}

// appendText appends a string value as JSON and counts invalid UTF-8.
func (a *argEncoder) appendText(dst []byte, v ntconv.Value) []byte {
	a.list = v.AppendString(a.list[:0])
	dst, exact := jsonio.AppendString(dst, a.list)
	if !exact {
		a.replaced++
	}
	return dst
}

func (a *argEncoder) appendList(dst []byte, v ntconv.Value) []byte {
	dst = append(dst, '[')
	start := len(dst)
	for m := range v.Elems() {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = a.appendValue(dst, m)
	}
	return append(dst, ']')
}

func (a *argEncoder) appendObject(dst []byte, v ntconv.Value) []byte {
	dst = append(dst, '{')
	start := len(dst)
	for f, m := range v.Fields() {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = jsonio.AppendQuoted(dst, f.Name)
		dst = a.appendValue(append(dst, ':'), m)
	}
	return append(dst, '}')
}

// attribute adds an attribute of a span.
func (a *argEncoder) attribute(t *span.Attribute) {
	n, v := a.key(t.Key), t.Value
	switch v.Kind() {
	case span.ValueString:
		a.text(n, v.Str())
	case span.ValueBool:
		a.text(n, strconv.FormatBool(v.Bool()))
	case span.ValueInt:
		a.int(n, v.Int(), formatInteger)
	case span.ValueFloat:
		a.float(n, v.Float())
	case span.ValueBytes:
		a.text(n, base64.StdEncoding.EncodeToString([]byte(v.Str())))
	case span.ValueArray, span.ValueMap:
		a.nested = anyValue.AppendValue(a.nested[:0], &t.Value)
		if a.begin(n, formatString) {
			a.body = jsonio.AppendQuoted(a.body, a.nested)
		}
	}
}

// anyValue appends values of attributes as JSON.
var anyValue = span.JSON{
	Text: jsonio.AppendQuoted[string], Int: appendInt, Float: jsonio.AppendDouble, Depth: span.MaxDepth,
	Bytes: func(dst, b []byte) []byte { return append(base64.StdEncoding.AppendEncode(append(dst, '"'), b), '"') },
}

// appendInt appends an integer, as a string if JavaScript cannot represent it exactly.
func appendInt(dst []byte, n int64) []byte {
	if n > exact || n < -exact {
		return append(strconv.AppendInt(append(dst, '"'), n, 10), '"')
	}
	return strconv.AppendInt(dst, n, 10)
}

// appendUint is appendInt for unsigned numbers.
func appendUint(dst []byte, n uint64) []byte {
	if n > exact {
		return append(strconv.AppendUint(append(dst, '"'), n, 10), '"')
	}
	return strconv.AppendUint(dst, n, 10)
}

// appendMillis appends nanoseconds as milliseconds without loss of digits.
func appendMillis(dst []byte, nanos int64) []byte {
	if nanos < 0 {
		nanos = max(nanos, -math.MaxInt64)
		return appendMillis(append(dst, '-'), -nanos)
	}
	dst = strconv.AppendInt(dst, nanos/1e6, 10)
	rest := nanos % 1e6
	if rest == 0 {
		return dst
	}
	dst = append(
		dst,
		'.',
		byte('0'+rest/1e5),
		byte('0'+rest/1e4%10),
		byte('0'+rest/1e3%10),
		byte('0'+rest/100%10),
		byte('0'+rest/10%10),
		byte('0'+rest%10),
	)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}
