package rows

import (
	"encoding/base64"
	"encoding/hex"

	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/data/jsonio"

	"github.com/ntconv/ntconv/internal/span"
)

// maxValueDepth limits the nesting of arrays and maps in JSON; deeper values become null.
const maxValueDepth = 64

// attributeMap returns attributes as a map of strings, and the memory of the map in bytes. If a key repeats, its first
// value is used. It omits the key omit; "" omits none.
func attributeMap(list []span.Attribute, omit string) (m map[string]string, bytes int) {
	if len(list) == 0 {
		return nil, 0
	}
	m = make(map[string]string, len(list))
	for i := range list {
		key := valid(list[i].Key)
		if _, taken := m[key]; taken || key == omit && omit != "" {
			continue
		}
		m[key] = valueText(list[i].Value)
		bytes += len(key) + len(m[key]) + 48
	}
	return m, bytes
}

// valueText returns strings unchanged, bytes as base64, and all other values as JSON.
func valueText(v span.Value) string {
	switch v.Kind() {
	case span.ValueString:
		return valid(v.Str())
	case span.ValueAbsent, span.ValueEmpty:
		return ""
	case span.ValueBytes:
		return base64.StdEncoding.EncodeToString([]byte(v.Str()))
	case span.ValueFloat:
		return strings.Trim(string(jsonio.AppendDouble(nil, v.Float())), `"`)
	}
	return string(plain.AppendValue(nil, &v))
}

// plain appends values as JSON: bytes as base64, infinities and NaN as strings. If a key of an object repeats, its
// first value is used.
var plain = span.JSON{
	Text: jsonio.AppendQuoted[string], Float: jsonio.AppendDouble, Depth: maxValueDepth, Omits: repeats,
	Int:   func(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) },
	Bytes: func(b, raw []byte) []byte { return append(base64.StdEncoding.AppendEncode(append(b, '"'), raw), '"') },
}

// maxCompared is the number of earlier keys with which a key is compared, so that the cost is not quadratic. An object
// with more members may contain a key twice.
const maxCompared = 256

// repeats reports whether one of the first maxCompared attributes before list[i] has the same key.
func repeats(list []span.Attribute, i int) bool {
	for j := range min(i, maxCompared) {
		if list[j].Key == list[i].Key {
			return true
		}
	}
	return false
}

func appendComma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// appendEvents appends the events of a span as a JSON array.
func appendEvents(b []byte, list []span.Event) []byte {
	b = append(b, '[')
	for i := range list {
		b = append(appendComma(b, i), `{"ts_ns":`...)
		b = strconv.AppendInt(b, int64(list[i].Time), 10)
		b = jsonio.AppendQuoted(append(b, `,"name":`...), list[i].Name)
		b = plain.AppendObject(append(b, `,"attributes":`...), list[i].Attributes)
		b = append(b, '}')
	}
	return append(b, ']')
}

// appendLinks appends the links of a span as a JSON array.
func appendLinks(b []byte, list []span.Link) []byte {
	b = append(b, '[')
	for i := range list {
		b = append(appendComma(b, i), `{"trace_id":"`...)
		b = hex.AppendEncode(b, list[i].TraceID[:])
		b = hex.AppendEncode(append(b, `","span_id":"`...), list[i].ID[:])
		b = plain.AppendObject(append(b, `","attributes":`...), list[i].Attributes)
		b = append(b, '}')
	}
	return append(b, ']')
}
