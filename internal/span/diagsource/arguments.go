package diagsource

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/schema"
)

// arguments is the payload of an event of the provider: two names, and a list of keys and values. All slices are UTF-16
// without a terminator, and borrowed from the payload.
type arguments struct {
	source, name []byte
	pairs        []byte // keys and values
	count        int    // number of pairs
	encoded      []byte // buffer of encode
}

// read locates the parts of an event's payload. It returns false if a part is missing. It does not check the pairs.
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

// isUsual reports whether the layout is the one that all known .NET versions write: two NUL-terminated strings, and an
// array of objects with two such strings, preceded by a 16-bit count. read has a fast path for this layout.
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

// encode converts the payload of an event to the usual layout. It finds fields by name. The result is borrowed until
// the next call; it is nil if fields are missing.
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

// appendText appends a string in UTF-16 up to its first NUL, and a terminator.
func appendText(dst []byte, v ntconv.Value) []byte {
	if v.Kind() != ntconv.ValueString {
		return append(dst, 0, 0)
	}
	at := len(dst)
	dst = bin.AppendUTF16(dst, v.String())
	text, _, _ := bin.CutUTF16(dst[at:])
	return append(dst[:at+len(text)], 0, 0)
}

// A key is a key in the list of arguments.
type key struct {
	raw  string // UTF-16 with its terminator
	name string
	prop property
}

// keys resolves keys in UTF-16. Events of one specification list the same keys in the same order, so cut first compares
// a key with the one at the same position of the previous event.
type keys struct {
	listener bool
	known    map[string]*key // by raw
	expected [2][]*key       // keys of the previous Start event (0) and Stop event (1)
}

const maxKeys = 4096 // maximum number of cached keys

// cut returns the first key in pairs and the remaining bytes. stop is 1 for a Stop event, and position is the index of
// the key in the list. cut returns nil if the key is not terminated.
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

// add resolves a key, and caches it if it is short.
func (k *keys) add(raw []byte) *key {
	name := bin.UTF16String(raw[:len(raw)-2])
	x := &key{string(raw), name, propertyOf(name, k.listener)}
	if k.known == nil {
		k.known = make(map[string]*key)
	}
	if len(k.known) < maxKeys && len(raw) <= 4*maxCachedString {
		k.known[x.raw] = x
	}
	return x
}
