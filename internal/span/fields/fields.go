// Package fields converts the values of payloads, and JSON values in them, to attributes.
package fields

import (
	"hash/maphash"
	"math"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// maxElements limits the elements of a list or object that becomes an attribute, because decoded elements take up to a
// hundred times their size in a payload. Larger attributes are dropped and counted.
const maxElements = 1024

// MaxAttributes limits the fields of an event that become attributes. A type may have 4,096 fields, and the attributes
// of Start and Stop are compared with each other.
const MaxAttributes = 256

// maxDepth limits the nesting depth of objects and lists in an attribute.
const maxDepth = 16

// A Reader converts values to attributes. It is not safe for concurrent use.
type Reader struct {
	report  *ntconv.Report
	strings stringCache
	buf     []byte
}

// NewReader returns a Reader. It counts payloads that cannot be decoded in report (CodePayload), which may be nil.
func NewReader(report *ntconv.Report) *Reader {
	return &Reader{report: report, strings: newStringCache()}
}

// Text returns b as a string, which it shares with earlier ones if it can.
func (t *Reader) Text(b []byte) string { return t.strings.of(b) }

// Append appends the fields of an event's payload, which s describes, to dst, and returns how many were dropped.
func (t *Reader) Append(dst []span.Attribute, e *ntconv.Event, s *schema.Schema) (_ []span.Attribute, dropped uint32) {
	limit := len(dst) + MaxAttributes
	for f, v := range s.Values(e) {
		if v.Kind() == ntconv.ValueError {
			t.report.Add(ntconv.CodePayload, 1, e.Offset)
			return dst, dropped + 1
		}
		var n uint32
		dst, n = t.appendField(dst, f.Name, v)
		if len(dst) > limit {
			n += uint32(len(dst) - limit)
			dst = dst[:limit]
		}
		dropped += n
	}
	return dst, dropped
}

// appendField appends a field as an attribute. If it is an object without a name, in which .NET wraps the payload of a
// self-describing event, each member becomes an attribute. A field beyond the end of the payload is omitted.
func (t *Reader) appendField(dst []span.Attribute, name string, v ntconv.Value) (_ []span.Attribute, dropped uint32) {
	switch {
	case v.Kind() == ntconv.ValueNull:
		return dst, 0
	case v.Kind() == ntconv.ValueObject && name == "":
		for f, member := range v.Fields() {
			var n uint32
			dst, n = t.appendMember(dst, f.Name, member)
			dropped += n
		}
		return dst, dropped
	}
	return t.appendMember(dst, name, v)
}

func (t *Reader) appendMember(dst []span.Attribute, name string, v ntconv.Value) (_ []span.Attribute, dropped uint32) {
	budget := maxElements
	value, ok := t.value(v, &budget, 0)
	if !ok {
		return dst, 1
	}
	return append(dst, span.Attribute{Key: name, Value: value}), 0
}

// value converts a decoded value. It returns false if the value has too many elements, is nested too deeply, or cannot
// be decoded.
func (t *Reader) value(v ntconv.Value, budget *int, depth int) (span.Value, bool) {
	switch v.Kind() {
	case ntconv.ValueList:
		return t.list(v, budget, depth+1)
	case ntconv.ValueObject:
		return t.object(v, budget, depth+1)
	case ntconv.ValueError:
		return span.Value{}, false
	}
	return t.Scalar(v), true
}

// Scalar converts a value without elements. Numbers that do not fit into an int64, GUIDs and times become strings.
func (t *Reader) Scalar(v ntconv.Value) span.Value {
	switch v.Kind() {
	case ntconv.ValueNull:
		return span.Empty()
	case ntconv.ValueBool:
		return span.Bool(v.Bool())
	case ntconv.ValueInt:
		return span.Int(v.Int())
	case ntconv.ValueUint:
		if v.Uint() <= math.MaxInt64 {
			return span.Int(v.Int())
		}
	case ntconv.ValueFloat:
		return span.Float(v.Float())
	case ntconv.ValueBytes:
		return span.Bytes(string(v.Bytes()))
	case ntconv.ValueString:
		t.buf = v.AppendString(t.buf[:0])
		return span.String(t.strings.of(t.buf))
	case ntconv.ValueGUID:
		t.buf = v.GUID().Append(t.buf[:0])
		return span.String(t.strings.of(t.buf))
	case ntconv.ValueTime:
		return span.String(v.Time().Format(time.RFC3339Nano))
	}
	return span.String(v.String())
}

func (t *Reader) list(v ntconv.Value, budget *int, depth int) (span.Value, bool) {
	if depth > maxDepth || v.Len() > *budget {
		return span.Value{}, false
	}
	*budget -= v.Len()
	elems := make([]span.Value, 0, v.Len())
	for elem := range v.Elems() {
		x, ok := t.value(elem, budget, depth)
		if !ok {
			return span.Value{}, false
		}
		elems = append(elems, x)
	}
	return span.Array(elems), true
}

func (t *Reader) object(v ntconv.Value, budget *int, depth int) (span.Value, bool) {
	if depth > maxDepth {
		return span.Value{}, false
	}
	var members []span.Attribute
	for f, member := range v.Fields() {
		if *budget--; *budget < 0 {
			return span.Value{}, false
		}
		x, ok := t.value(member, budget, depth)
		if !ok {
			return span.Value{}, false
		}
		members = append(members, span.Attribute{Key: f.Name, Value: x})
	}
	return span.Map(members), true
}

// A stringCache interns recently used strings, because the payloads of spans repeat methods, paths and names.
type stringCache struct {
	seed    maphash.Seed
	entries []string
}

const (
	cachedStrings = 1 << 10
	maxCached     = 128 // maximum length of a cached string in bytes
)

func newStringCache() stringCache { return stringCache{seed: maphash.MakeSeed()} }

// of returns b as a string.
func (c *stringCache) of(b []byte) string {
	if len(b) > maxCached {
		return string(b)
	}
	if c.entries == nil {
		c.entries = make([]string, cachedStrings)
	}
	s := &c.entries[maphash.Bytes(c.seed, b)%cachedStrings]
	if *s != string(b) {
		*s = string(b)
	}
	return *s
}
