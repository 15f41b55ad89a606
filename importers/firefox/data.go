package firefox

import (
	"bytes"
	"math"
	"strconv"

	"github.com/ntconv/ntconv/internal/data/jsonio"
)

// member returns the value of the first member with this name, or nil if there is none.
func member(object []byte, name string) []byte {
	members := jsonio.MembersOf(object)
	for {
		n, value, ok := members.Next()
		if !ok || string(n[1:len(n)-1]) == name {
			return value
		}
	}
}

// causeOf returns the stack in the data of a marker, and whether there is one.
func causeOf(data []byte) (stack int32, ok bool) {
	if !bytes.Contains(data, []byte(`"cause"`)) {
		return none, false
	}
	n, err := strconv.ParseInt(string(member(member(data, "cause"), "stack")), 10, 32)
	return int32(n), err == nil && n >= 0
}

// legacyTimes returns the times in the marker data of versions before 21, or noTime. interval states whether the marker
// is the "start" or "end" of an interval.
func legacyTimes(data []byte) (from, to int64, interval string) {
	time := func(name string) int64 {
		text := member(data, name)
		if len(text) == 0 || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
			return noTime
		}
		t, _, ok := jsonio.ParseDecimal(text).Scale(6)
		if !ok {
			return noTime
		}
		return t
	}
	if string(member(data, "type")) == `"tracing"` {
		switch string(member(data, "interval")) {
		case `"start"`:
			return noTime, noTime, "start"
		case `"end"`:
			return noTime, noTime, "end"
		}
		return noTime, noTime, ""
	}
	return time("startTime"), time("endTime"), ""
}

// mergeObjects returns the data of an interval from the data of its start (a) and end (b). If both have a member, that
// of b is used. If one of them is not an object, the other is returned.
func mergeObjects(a, b []byte) []byte {
	switch {
	case len(a) == 0 || a[0] != '{':
		return b
	case len(b) == 0 || b[0] != '{':
		return a
	}
	merged := []byte{'{'}
	for name, value := range jsonio.EachMember(a) {
		if member(b, string(name[1:len(name)-1])) == nil {
			merged = appendMember(merged, name, value)
		}
	}
	for name, value := range jsonio.EachMember(b) {
		merged = appendMember(merged, name, value)
	}
	return append(merged, '}')
}

// appendMember appends a member to an object that has not been closed.
func appendMember(dst, name, value []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(append(dst, name...), ':'), value...)
}

// appendArgs appends the data of a marker as the args of an event: an object without the stack, which the event itself
// has, and with strings in place of string indexes.
func (f *file) appendArgs(dst, data []byte, stringArray []string) []byte {
	if data[0] != '{' {
		return append(append(append(dst, `{"data":`...), data...), '}')
	}
	var indexes map[string]bool
	if len(f.meta.schemas) > 0 {
		kind, _ := jsonio.AppendUnquoted(nil, quoted(member(data, "type")))
		indexes = f.meta.schemas[string(kind)]
	}
	_, hasCause := causeOf(data)
	if indexes == nil && !hasCause {
		return append(dst, data...)
	}
	dst = append(dst, '{')
	for name, value := range jsonio.EachMember(data) {
		key := name[1 : len(name)-1]
		switch {
		case hasCause && string(key) == "cause":
			continue
		case indexes[string(key)]:
			if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && n >= 0 &&
				n < int64(min(len(stringArray), math.MaxInt32)) {
				value = jsonio.AppendQuoted(nil, stringArray[n])
			}
		}
		dst = appendMember(dst, name, value)
	}
	return append(dst, '}')
}

// quoted returns value if it is a JSON string, and otherwise an empty JSON string.
func quoted(value []byte) []byte {
	if len(value) == 0 || value[0] != '"' {
		return []byte(`""`)
	}
	return value
}
