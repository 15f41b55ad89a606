package eventtext

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/distribution"
)

// A form states how the value of a group is written in JSON.
type form byte

const (
	formNone   form = '-' // the events have no value: null
	formNumber form = 'n' // an integer, a finite float64, true or false
	formText   form = 's' // a string

	// Forms of unresolved owners, which only keys have: the text is a number of owners.
	formProcess form = 'p'
	formThread  form = 't'
)

// A value is one of the values by which a group's events were grouped.
type value struct {
	form form
	text string // UTF-8; untrusted
}

// The key of a group has, for each operand, a form, the length of the text in 4 bytes, and the text.
const keyHeader = 5

// openValue appends the header of a value whose text closeValue completes.
func openValue(key []byte) []byte { return append(key, byte(formNone), 0, 0, 0, 0) }

// closeValue completes the header at an offset.
func closeValue(key []byte, at int) {
	binary.LittleEndian.PutUint32(key[at+1:], uint32(len(key)-at-keyHeader))
}

// appendTo appends the value to a key.
func (v value) appendTo(key []byte) []byte {
	at := len(key)
	key = append(openValue(key), v.text...)
	key[at] = byte(v.form)
	closeValue(key, at)
	return key
}

// values returns the values in a key.
func values(key string) (list []value) {
	for len(key) >= keyHeader {
		n := keyHeader + int(binary.LittleEndian.Uint32([]byte(key[1:keyHeader])))
		list = append(list, value{form(key[0]), key[keyHeader:n]})
		key = key[n:]
	}
	return list
}

// appendValue appends a value to the key that was opened at an offset. Values of a list become one text, separated by
// commas.
func appendValue(key []byte, at int, v ntconv.Value, name string) []byte {
	first := form(key[at]) == formNone
	if !first {
		key[at] = byte(formText)
		key = append(key, ", "...)
	}
	f := formText
	switch v.Kind() {
	case ntconv.ValueInt, ntconv.ValueUint, ntconv.ValueBool:
		if name == "" {
			f = formNumber
			key = appendNumber(key, v)
			break
		}
		key = append(key, name...)
	case ntconv.ValueFloat:
		text := distribution.FormatFloat(v.Float())
		if text[0] == '"' {
			text = text[1 : len(text)-1]
		} else {
			f = formNumber
		}
		key = append(key, text...)
	case ntconv.ValueString:
		key = v.AppendString(key)
	case ntconv.ValueGUID:
		key = v.GUID().Append(key)
	case ntconv.ValueTime:
		key = v.Time().AppendFormat(key, time.RFC3339Nano)
	case ntconv.ValueBytes:
		key = hex.AppendEncode(key, v.Bytes())
	case ntconv.ValueObject:
		key = append(key, "(object)"...)
	}
	if first {
		key[at] = byte(f)
	}
	return key
}

func appendNumber(key []byte, v ntconv.Value) []byte {
	switch v.Kind() {
	case ntconv.ValueInt:
		return strconv.AppendInt(key, v.Int(), 10)
	case ntconv.ValueBool:
		return strconv.AppendBool(key, v.Bool())
	}
	return strconv.AppendUint(key, v.Uint(), 10)
}

// compareValues orders lists of values by their text.
func compareValues(a, b []value) int {
	return slices.CompareFunc(a, b, func(x, y value) int {
		return cmp.Or(cmp.Compare(x.text, y.text), cmp.Compare(x.form, y.form))
	})
}
