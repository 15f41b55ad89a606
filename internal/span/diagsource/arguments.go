package diagsource

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/bin"
	"github.com/ntconv/ntconv/schema"
)

// arguments is the payload of an event of the provider: two names, and a list of keys and values. All slices are UTF-16
// without a terminator, borrowed from the payload.
type arguments struct {
	source, name []byte
	pairs        []byte // what follows the count of the list
	count        int
	encoded      []byte // a payload in the usual layout, made from one in another layout
}

// read finds the parts of an event's payload and reports whether it has them. It does not check the pairs.
func (a *arguments) read(e *ntconv.Event, k *kind, s *schema.Schema) bool {
	payload := e.Payload
	if !k.usual {
		payload = a.encode(e, s)
	}
	var ok bool
	if a.source, payload, ok = bin.CutUTF16(payload); !ok {
		return false
	}
	if a.name, payload, ok = bin.CutUTF16(payload); !ok || len(payload) < 2 {
		return false
	}
	a.count, a.pairs = int(binary.LittleEndian.Uint16(payload)), payload[2:]
	return true
}

// isUsual reports whether the fields are the ones that every known .NET version writes: two strings that end with a
// zero unit, and an array of objects of two such strings, after a count of 16 bits. This layout is read without a
// general decoder.
func isUsual(fields []ntconv.Field) bool {
	if len(fields) != 3 || fields[0].Type.Code != ntconv.TypeUTF16String ||
		fields[1].Type.Code != ntconv.TypeUTF16String {
		return false
	}
	list := &fields[2].Type
	if list.Code != ntconv.TypeArray || list.Elem == nil || list.Elem.Code != ntconv.TypeObject ||
		len(list.Elem.Fields) != 2 {
		return false
	}
	pair := list.Elem.Fields
	return pair[0].Name == "Key" && pair[0].Type.Code == ntconv.TypeUTF16String &&
		pair[1].Type.Code == ntconv.TypeUTF16String
}

// encode returns the payload of an event as if it had the usual layout, valid until the next call. Fields are found by
// name.
func (a *arguments) encode(e *ntconv.Event, s *schema.Schema) []byte {
	var source, name, list ntconv.Value
	for f, v := range s.Values(e) {
		switch f.Name {
		case "SourceName":
			source = v
		case "EventName", "ActivityName":
			name = v
		case "Arguments":
			list = v
		}
	}
	a.encoded = appendText(appendText(a.encoded[:0], source), name)
	if name.Kind() != ntconv.ValueString || list.Kind() != ntconv.ValueList {
		return nil
	}
	at, n := len(a.encoded), 0
	a.encoded = append(a.encoded, 0, 0)
	for pair := range list.Elems() {
		key, _ := pair.Field("Key")
		value, _ := pair.Field("Value")
		if n++; key.Kind() != ntconv.ValueString || n > 1<<16-1 {
			return nil
		}
		a.encoded = appendText(appendText(a.encoded, key), value)
	}
	binary.LittleEndian.PutUint16(a.encoded[at:], uint16(n))
	return a.encoded
}

// appendText appends a string in UTF-16 up to its first zero unit, and a zero unit.
func appendText(dst []byte, v ntconv.Value) []byte {
	if v.Kind() != ntconv.ValueString {
		return append(dst, 0, 0)
	}
	at := len(dst)
	dst = bin.AppendUTF16(dst, v.String())
	text, _, _ := bin.CutUTF16(dst[at:])
	return append(dst[:at+len(text)], 0, 0)
}

// A key is a name in the list of arguments.
type key struct {
	raw  string // UTF-16 with its terminator
	name string
	prop property
}

// keys finds keys by their UTF-16. Events of one specification list the same keys in the same order, so each key is
// first compared with the one that was there in the event before.
type keys struct {
	listener bool
	known    map[string]*key // by raw, with the terminator
	expected [2][]*key       // by whether the event is a Stop
}

const maxKeys = 4096 // distinct keys that are remembered

// cut splits pairs after the first key. position is that of the key in the list. It returns nil if there is none.
func (k *keys) cut(pairs []byte, stop, position int) (*key, []byte) {
	expected := k.expected[stop]
	if position < len(expected) {
		if x := expected[position]; len(pairs) >= len(x.raw) && string(pairs[:len(x.raw)]) == x.raw {
			return x, pairs[len(x.raw):]
		}
	}
	raw, rest, ok := bin.CutUTF16(pairs)
	if !ok {
		return nil, nil
	}
	x := k.known[string(pairs[:len(raw)+2])]
	if x == nil {
		x = k.add(pairs[:len(raw)+2])
	}
	switch {
	case position < len(expected):
		expected[position] = x
	case position == len(expected) && position < maxKeys:
		k.expected[stop] = append(expected, x)
	}
	return x, rest
}

func (k *keys) add(raw []byte) *key {
	name := bin.UTF16String(raw[:len(raw)-2])
	x := &key{string(raw), name, propertyOf(name, k.listener)}
	if k.known == nil {
		k.known = make(map[string]*key)
	}
	if len(k.known) < maxKeys && len(raw) <= 4*maxCachedText {
		k.known[x.raw] = x
	}
	return x
}
