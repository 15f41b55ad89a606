package firefox

import (
	"bytes"
	"math"
	"strconv"

	"github.com/ntconv/ntconv/internal/jsonread"
	"github.com/ntconv/ntconv/internal/jsonscan"
)

// member returns the value of a member of an object, nil if there is none.
func member(object []byte, name string) []byte {
	members := jsonscan.MembersOf(object)
	for {
		n, value, ok := members.Next()
		if !ok || string(n[1:len(n)-1]) == name {
			return value
		}
	}
}

// causeOf returns the stack of the data of a marker, and whether it has one.
func causeOf(data []byte) (stack int32, ok bool) {
	if !bytes.Contains(data, []byte(`"cause"`)) {
		return none, false
	}
	n, err := strconv.ParseInt(string(member(member(data, "cause"), "stack")), 10, 32)
	return int32(n), err == nil && n >= 0
}

// legacyTimes returns the times in the data of a marker of the versions before 21, noTime if there are none, and
// whether it is the start or the end of an interval.
func legacyTimes(data []byte) (from, to int64, interval string) {
	time := func(name string) int64 {
		text := member(data, name)
		if len(text) == 0 || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
			return noTime
		}
		t, _, ok := jsonread.ParseDecimal(text).Scale(6)
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

// mergeObjects returns the data of an interval whose start and end have data: the members of both, those of the end
// where both have them. It is a or b if one of them is no object.
func mergeObjects(a, b []byte) []byte {
	switch {
	case len(a) == 0 || a[0] != '{':
		return b
	case len(b) == 0 || b[0] != '{':
		return a
	}
	merged := []byte{'{'}
	members := jsonscan.MembersOf(a)
	for {
		name, value, ok := members.Next()
		if !ok {
			break
		}
		if member(b, string(name[1:len(name)-1])) == nil {
			merged = appendMember(merged, name, value)
		}
	}
	members = jsonscan.MembersOf(b)
	for {
		name, value, ok := members.Next()
		if !ok {
			return append(merged, '}')
		}
		merged = appendMember(merged, name, value)
	}
}

// appendMember appends a member to the text of an object without its end.
func appendMember(dst, name, value []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(append(dst, name...), ':'), value...)
}

// appendArgs appends the data of a marker as the args of an event: an object without the stack, which the event has,
// and with strings in place of their indexes.
func (f *file) appendArgs(dst, data []byte, texts []string) []byte {
	if data[0] != '{' {
		return append(append(append(dst, `{"data":`...), data...), '}')
	}
	var indexes map[string]bool
	if len(f.meta.schemas) > 0 {
		kind, _ := jsonscan.AppendUnquoted(nil, quoted(member(data, "type")))
		indexes = f.meta.schemas[string(kind)]
	}
	_, hasCause := causeOf(data)
	if indexes == nil && !hasCause {
		return append(dst, data...)
	}
	dst = append(dst, '{')
	members := jsonscan.MembersOf(data)
	for {
		name, value, ok := members.Next()
		if !ok {
			return append(dst, '}')
		}
		key := name[1 : len(name)-1]
		switch {
		case hasCause && string(key) == "cause":
			continue
		case indexes[string(key)]:
			if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && n >= 0 &&
				n < int64(min(len(texts), math.MaxInt32)) {
				value = jsonscan.AppendQuoted(nil, texts[n])
			}
		}
		dst = appendMember(dst, name, value)
	}
}

// quoted returns a value if it is a string, otherwise an empty string.
func quoted(value []byte) []byte {
	if len(value) == 0 || value[0] != '"' {
		return []byte(`""`)
	}
	return value
}
