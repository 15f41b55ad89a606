package fields

import (
	"bytes"
	"math"
	"strconv"

	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/span"
)

// AppendJSON appends a valid JSON value as an attribute, and returns how many were dropped.
func (t *Reader) AppendJSON(dst []span.Attribute, name string, value []byte) (_ []span.Attribute, dropped uint32) {
	budget := maxElements
	v, ok := t.jsonValue(value, &budget, 0)
	if !ok {
		return dst, 1
	}
	return append(dst, span.Attribute{Key: name, Value: v}), 0
}

// Unquoted returns a valid JSON string without its quotes.
func (t *Reader) Unquoted(quoted []byte) string {
	t.buf, _ = jsonio.AppendUnquoted(t.buf[:0], quoted)
	return t.strings.of(t.buf)
}

// jsonValue converts a valid JSON value. It returns false if the value has too many elements or is nested too deeply.
func (t *Reader) jsonValue(b []byte, budget *int, depth int) (span.Value, bool) {
	switch b[0] {
	case '{':
		return t.jsonObject(b, budget, depth+1)
	case '[':
		return t.jsonArray(b, budget, depth+1)
	case '"':
		return span.String(t.Unquoted(b)), true
	case 't', 'f':
		return span.Bool(b[0] == 't'), true
	case 'n':
		return span.Empty(), true
	}
	return t.jsonNumber(b), true
}

// jsonNumber converts a number. A number that fits into neither an int64 nor a float64 becomes a string.
func (t *Reader) jsonNumber(b []byte) span.Value {
	if !bytes.ContainsAny(b, ".eE") {
		if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
			return span.Int(n)
		}
	} else if f, err := strconv.ParseFloat(string(b), 64); err == nil && !math.IsInf(f, 0) {
		return span.Float(f)
	}
	return span.String(t.strings.of(b))
}

func (t *Reader) jsonArray(b []byte, budget *int, depth int) (span.Value, bool) {
	if depth > maxDepth {
		return span.Value{}, false
	}
	var list []span.Value
	for elements := jsonio.ElementsOf(b); ; {
		element, ok := elements.Next()
		if !ok {
			return span.Array(list), true
		}
		if *budget--; *budget < 0 {
			return span.Value{}, false
		}
		v, ok := t.jsonValue(element, budget, depth)
		if !ok {
			return span.Value{}, false
		}
		list = append(list, v)
	}
}

func (t *Reader) jsonObject(b []byte, budget *int, depth int) (span.Value, bool) {
	if depth > maxDepth {
		return span.Value{}, false
	}
	var list []span.Attribute
	for members := jsonio.MembersOf(b); ; {
		name, value, ok := members.Next()
		if !ok {
			return span.Map(list), true
		}
		if *budget--; *budget < 0 {
			return span.Value{}, false
		}
		key := t.Unquoted(name)
		v, ok := t.jsonValue(value, budget, depth)
		if !ok {
			return span.Value{}, false
		}
		list = append(list, span.Attribute{Key: key, Value: v})
	}
}
