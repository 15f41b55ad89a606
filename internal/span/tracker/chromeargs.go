package tracker

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/span"
)

// appendArgs appends the members of args as attributes to dst, and returns how many were dropped. Args that are not an
// object become the attribute args. If restored is set, it omits the facts, which restore has set.
func (t *Tracker) appendArgs(dst []span.Attribute, args []byte, restored bool) (_ []span.Attribute, dropped uint32) {
	if len(args) == 0 {
		return dst, 0
	}
	if args[0] != '{' {
		return t.appendJSON(dst, "args", args)
	}
	limit := len(dst) + maxAttributes
	for members := jsonio.MembersOf(args); ; {
		name, value, ok := members.Next()
		if !ok {
			return dst, dropped
		}
		if restored {
			if _, isFact := factOf(name); isFact {
				continue
			}
		}
		if len(dst) == limit {
			dropped++
			continue
		}
		key := t.unquoted(name)
		if restored {
			key = ownKey(key)
		}
		var n uint32
		dst, n = t.appendJSON(dst, key, value)
		dropped += n
	}
}

// ownKey returns the key of an attribute that a timeline has renamed because a fact has the same name.
func ownKey(key string) string {
	if own, ok := strings.CutPrefix(key, "attributes."); ok {
		if _, isFact := factOf(strconv.AppendQuote(nil, own)); isFact {
			return own
		}
	}
	return key
}

func (t *Tracker) appendJSON(dst []span.Attribute, name string, value []byte) (_ []span.Attribute, dropped uint32) {
	budget := maxElements
	v, ok := t.jsonValue(value, &budget, 0)
	if !ok {
		return dst, 1
	}
	return append(dst, span.Attribute{Key: name, Value: v}), 0
}

func (t *Tracker) unquoted(quoted []byte) string {
	t.buf, _ = jsonio.AppendUnquoted(t.buf[:0], quoted)
	return t.strings.of(t.buf)
}

// jsonValue converts a valid JSON value. It returns false if the value has too many elements or is nested too deeply.
func (t *Tracker) jsonValue(b []byte, budget *int, depth int) (span.Value, bool) {
	switch b[0] {
	case '{':
		return t.jsonObject(b, budget, depth+1)
	case '[':
		return t.jsonArray(b, budget, depth+1)
	case '"':
		return span.String(t.unquoted(b)), true
	case 't', 'f':
		return span.Bool(b[0] == 't'), true
	case 'n':
		return span.Empty(), true
	}
	return t.jsonNumber(b), true
}

// jsonNumber converts a number. A number that fits into neither an int64 nor a float64 becomes a string.
func (t *Tracker) jsonNumber(b []byte) span.Value {
	if !bytes.ContainsAny(b, ".eE") {
		if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
			return span.Int(n)
		}
	} else if f, err := strconv.ParseFloat(string(b), 64); err == nil && !math.IsInf(f, 0) {
		return span.Float(f)
	}
	return span.String(t.strings.of(b))
}

func (t *Tracker) jsonArray(b []byte, budget *int, depth int) (span.Value, bool) {
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

func (t *Tracker) jsonObject(b []byte, budget *int, depth int) (span.Value, bool) {
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
		key := t.unquoted(name)
		v, ok := t.jsonValue(value, budget, depth)
		if !ok {
			return span.Value{}, false
		}
		list = append(list, span.Attribute{Key: key, Value: v})
	}
}
