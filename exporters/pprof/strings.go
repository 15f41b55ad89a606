package pprof

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/intern"
)

// A stringTable numbers strings from 1 by content; the empty string is 0. It keeps placeholders of addresses, such as
// 0x7f00 and libfoo.so+0x12, as numbers: a trace without symbols has one per address.
type stringTable struct {
	n       uint32
	texts   intern.Table[string]
	textIDs []uint32 // numbers of texts

	prefixes intern.Table[string] // of placeholders
	index    intern.Index         // of list, plus 1
	list     []placeholder
	key      secret
}

// A placeholder is a string that ends in 0x and a number in hexadecimal, the shortest way.
type placeholder struct {
	number uint64
	prefix uint32 // number in prefixes, 0 if it is empty
	id     uint32
}

// text returns the number of a string. Invalid UTF-8 cannot be stored in a profile and is replaced.
func (t *stringTable) text(s string) uint32 {
	if s == "" {
		return 0
	}
	if at := placeholderAt(s); at >= 0 {
		return t.placeholder(s, at)
	}
	if !utf8.ValidString(s) { // ToValidUTF8 takes several times as long for a valid string
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	id, fresh := t.texts.Add(s)
	if fresh {
		t.n++
		t.textIDs = append(t.textIDs, t.n)
	}
	return t.textIDs[id-1]
}

// placeholderAt returns the index of 0x in a placeholder, -1 if s is another string.
func placeholderAt(s string) int {
	i := len(s)
	for i > 0 && len(s)-i < 16 && (s[i-1] >= '0' && s[i-1] <= '9' || s[i-1] >= 'a' && s[i-1] <= 'f') {
		i--
	}
	switch {
	case i < 2 || i == len(s) || s[i-2:i] != "0x", i > 2 && s[i-3] != '+':
		return -1
	case s[i] == '0' && i+1 < len(s): // its number has a shorter form
		return -1
	}
	return i - 2
}

// placeholder is text for a placeholder with 0x at an index.
func (t *stringTable) placeholder(s string, at int) uint32 {
	p := placeholder{}
	p.number, _ = strconv.ParseUint(s[at+2:], 16, 64)
	if at > 0 {
		p.prefix, _ = t.prefixes.Add(strings.ToValidUTF8(s[:at], "\uFFFD"))
	}
	probe := t.index.Probe(t.key.fold(p.number, uint64(p.prefix)))
	for probe.Next() {
		if q := &t.list[probe.ID-1]; q.number == p.number && q.prefix == p.prefix {
			return q.id
		}
	}
	t.n++
	p.id = t.n
	t.list = append(t.list, p)
	t.index.Insert(&probe, uint32(len(t.list)))
	return p.id
}

// all yields the strings in the order of their numbers, valid until the next one.
func (t *stringTable) all(yield func([]byte) bool) {
	texts, list := t.textIDs, t.list
	var b []byte
	for range t.n {
		if len(list) == 0 || len(texts) > 0 && texts[0] < list[0].id {
			b = append(b[:0], t.texts.At(uint32(len(t.textIDs)-len(texts)+1))...)
			texts = texts[1:]
		} else {
			b = b[:0]
			if p := list[0].prefix; p != 0 {
				b = append(b, t.prefixes.At(p)...)
			}
			b = strconv.AppendUint(append(b, "0x"...), list[0].number, 16)
			list = list[1:]
		}
		if !yield(b) {
			return
		}
	}
}
