package dictionary

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ntconv/ntconv/internal/data/intern"
)

// Strings numbers strings by content from 1; the empty string is 0. It stores placeholders of addresses, such as
// 0x7f00 and libfoo.so+0x12, as numbers: a trace without symbols has one per address.
type Strings struct {
	n           uint32
	bytes       int // total length
	interned    intern.Table[string]
	internedIDs []uint32 // number of each string in interned

	prefixes intern.Table[string] // of placeholders
	index    intern.Index         // maps hashes to indexes of list, plus 1
	list     []placeholder
	key      secret
}

// A placeholder is a string that ends in 0x and a hexadecimal number without leading zeros.
type placeholder struct {
	number uint64
	prefix uint32 // number in prefixes; 0 if empty
	id     uint32
}

// Add returns the number of a string. It replaces invalid UTF-8, which a profile cannot store.
func (t *Strings) Add(s string) uint32 {
	if s == "" {
		return 0
	}
	if at := placeholderAt(s); at >= 0 {
		return t.placeholder(s, at)
	}
	if id := t.interned.Find(s); id != 0 {
		return t.internedIDs[id-1]
	}
	if !utf8.ValidString(s) { // ToValidUTF8 takes several times as long for a valid string
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	id, fresh := t.interned.Add(s)
	if fresh {
		t.n++
		t.bytes += len(s)
		t.internedIDs = append(t.internedIDs, t.n)
	}
	return t.internedIDs[id-1]
}

// placeholderAt returns the index of 0x in a placeholder, or -1 if s is another string.
func placeholderAt(s string) int {
	i := len(s)
	for i > 0 && len(s)-i < 16 && (s[i-1] >= '0' && s[i-1] <= '9' || s[i-1] >= 'a' && s[i-1] <= 'f') {
		i--
	}
	switch {
	case i < 2 || i == len(s) || s[i-2:i] != "0x", i > 2 && s[i-3] != '+':
		return -1
	case s[i] == '0' && i+1 < len(s): // the number is not in its shortest form
		return -1
	}
	return i - 2
}

// placeholder returns the number of a placeholder with 0x at an index.
func (t *Strings) placeholder(s string, at int) uint32 {
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
	t.bytes += len(s)
	p.id = t.n
	t.list = append(t.list, p)
	t.index.Insert(&probe, uint32(len(t.list)))
	return p.id
}

// All yields the strings in the order of their numbers, from 1. Each is valid until the next one.
func (t *Strings) All(yield func([]byte) bool) {
	ids, list := t.internedIDs, t.list
	var b []byte
	for range t.n {
		if len(list) == 0 || len(ids) > 0 && ids[0] < list[0].id {
			b = append(b[:0], t.interned.At(uint32(len(t.internedIDs)-len(ids)+1))...)
			ids = ids[1:]
		} else {
			b = t.appendPlaceholder(b[:0], &list[0])
			list = list[1:]
		}
		if !yield(b) {
			return
		}
	}
}

func (t *Strings) appendPlaceholder(dst []byte, p *placeholder) []byte {
	if p.prefix != 0 {
		dst = append(dst, t.prefixes.At(p.prefix)...)
	}
	return strconv.AppendUint(append(dst, "0x"...), p.number, 16)
}

// Append appends the string with a number to dst.
func (t *Strings) Append(dst []byte, number uint32) []byte {
	if number == 0 {
		return dst
	}
	if i, ok := slices.BinarySearch(t.internedIDs, number); ok {
		return append(dst, t.interned.At(uint32(i+1))...)
	}
	i, _ := slices.BinarySearchFunc(t.list, number, func(p placeholder, n uint32) int { return cmp.Compare(p.id, n) })
	return t.appendPlaceholder(dst, &t.list[i])
}

// Len returns the number of strings without the empty one, which is the largest number.
func (t *Strings) Len() int { return int(t.n) }
