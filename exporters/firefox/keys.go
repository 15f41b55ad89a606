package firefox

import (
	"strconv"
	"strings"

	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/timeline"
)

// A key is a member name of marker data. Its ID is its index in argEncoder.keys. If an object has several members of
// the same name, each later member uses a replacement key, whose name differs.
type key struct {
	text string
	json []byte             // the quoted text and a colon
	ids  [numFormats]uint32 // ID of the field with each format plus 1; 0 means none
	mark uint64             // the last object with this key
	then uint32             // the key that followed this one in an object, a guess
	next uint32             // ID of the key that replaces this one if an object already has it; 0 means not known yet
	// For a key that replaces others, base is the first of them and copies their number. copies is 0 for names of
	// members.
	base   string
	copies int
	// In the object jumpMark, all replacements of this key before jump are in use.
	jump     uint32
	jumpMark uint64
}

// plainCopies is the number of replacements that append an underscore each. Further replacements append a number,
// because the total length of the strings would grow with the square of their number.
const plainCopies = 8

// copyText returns the text of the key that replaces k.
func (k *key) copyText() string {
	if k.copies < plainCopies {
		return k.text + "_"
	}
	return k.base + "_" + strconv.Itoa(k.copies+1)
}

// The first keys, in the order of reservedKeys: the exporter sets them itself, or the Firefox Profiler gives them a
// meaning.
const numReserved = 6

var reservedKeys = [numReserved]string{"type", "cause", timeline.ArgUnfinished, timeline.ArgEndThread, "innerWindowID", "stack"}

// following returns the key with a name after the latest one. Objects of one type have the same keys, so the key that
// followed last time is likely.
func (a *argEncoder) following(name string) uint32 {
	n := a.keys[a.last].then
	if a.keys[n].text != name {
		if n = a.key(name); n >= maxKeys {
			return n
		}
		a.keys[a.last].then = n
	}
	a.last = n
	return n
}

// key returns the ID of the key with this text, or maxKeys if the table is full. Invalid UTF-8 becomes U+FFFD.
func (a *argEncoder) key(text string) uint32 {
	n, ok := a.byText[text]
	if ok {
		return n
	}
	valid := strings.ToValidUTF8(text, "\ufffd")
	if valid != text {
		a.replaced++
		return a.key(valid)
	}
	n = uint32(len(a.keys))
	if n >= maxKeys {
		return maxKeys
	}
	json := jsonio.AppendQuoted(nil, text)
	text = strings.Clone(text)
	a.keys = append(a.keys, key{text: text, json: append(json, ':'), base: text})
	a.byText[text] = n
	return n
}

// after returns the key that replaces key n, or maxKeys.
func (a *argEncoder) after(n uint32) uint32 {
	k := &a.keys[n]
	if k.jumpMark == a.object {
		return k.jump
	}
	if k.next == 0 {
		known, base, copies := len(a.keys), k.base, k.copies
		next := a.key(k.copyText())
		if len(a.keys) > known {
			a.keys[next].base, a.keys[next].copies = base, copies+1
		}
		a.keys[n].next = next
	}
	return a.keys[n].next
}

// free returns the key for a member with key n: n itself, or its first replacement that the current object does not
// have yet. It records the distance in every key that it passed, so that many members with one name cost no more than
// members with different names.
func (a *argEncoder) free(n uint32) uint32 {
	first := n
	for n < numReserved || n < maxKeys && a.keys[n].mark == a.object {
		n = a.after(n)
	}
	for first != n {
		following := a.after(first)
		a.keys[first].jump, a.keys[first].jumpMark = n, a.object
		first = following
	}
	return n
}
