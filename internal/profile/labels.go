package profile

import (
	"hash/maphash"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
)

const (
	unitID          = "id"
	unitDefault     = "count" // consumers drop a number 0 without a unit, and print counts without the unit
	junkKey, junk   = "Error", "Expected actual values"
	numOverrideKind = ntconv.LabelOpcode
)

// A labelTable numbers label lists by content from 1; 0 is the empty list. It ignores dropped labels, so dropping an ID
// that differs for every event also saves its memory.
type labelTable struct {
	drop map[string]bool
	all  bool // imported labels are kept even if they look empty
	none bool // every list is treated as empty
	seed maphash.Seed

	index intern.Index
	list  [][]ntconv.Label // by number

	last   *ntconv.Labels
	lastID uint32
}

func newLabelTable(drop map[string]bool) *labelTable {
	return &labelTable{drop: drop, seed: maphash.MakeSeed(), list: make([][]ntconv.Label, 1)}
}

// id returns the number of a label list.
func (t *labelTable) id(l *ntconv.Labels) uint32 {
	if t.none || l == nil || len(l.List()) == 0 {
		return 0
	}
	if l != t.last {
		t.last, t.lastID = l, t.find(l.List())
	}
	return t.lastID
}

func (t *labelTable) find(list []ntconv.Label) uint32 {
	h, n := uint64(0), 0
	for i := range list {
		if t.keeps(&list[i]) {
			h = fold(h^t.hash(&list[i]), 0x9e3779b97f4a7c15)
			n++
		}
	}
	if n == 0 {
		return 0
	}
	p := t.index.Probe(h)
	for p.Next() {
		if t.same(t.list[p.ID], list) {
			return p.ID
		}
	}
	id := uint32(len(t.list))
	t.index.Insert(&p, id)
	t.list = append(t.list, slices.DeleteFunc(slices.Clone(list), func(l ntconv.Label) bool { return !t.keeps(&l) }))
	return id
}

// keeps reports whether a label belongs to the sample. Labels that override a property of the event's type do not, nor
// do empty ones, nor the label that one-collect adds to every event by mistake.
func (t *labelTable) keeps(l *ntconv.Label) bool {
	if l.Kind >= numOverrideKind {
		return false
	}
	key := LabelKey(l)
	if t.all {
		return !t.drop[key]
	}
	switch l.Kind {
	case ntconv.LabelString:
		if l.Str == "" || key == junkKey && l.Str == junk {
			return false
		}
	case ntconv.LabelInt:
	default:
		if l.ID == [16]byte{} {
			return false
		}
	}
	return key != "" && !(len(t.drop) > 0 && t.drop[key])
}

func (t *labelTable) hash(l *ntconv.Label) uint64 {
	h := fold(uint64(l.Num)^maphash.Bytes(t.seed, l.ID[:]), 0x9e3779b97f4a7c15^uint64(l.Kind))
	h = fold(h^maphash.String(t.seed, l.Key), 0x9e3779b97f4a7c15)
	return fold(h^maphash.String(t.seed, l.Str), 0x9e3779b97f4a7c15)
}

// same compares a stored list with the kept labels of another list.
func (t *labelTable) same(stored, list []ntconv.Label) bool {
	n := 0
	for i := range list {
		if !t.keeps(&list[i]) {
			continue
		}
		if n == len(stored) || stored[n] != list[i] {
			return false
		}
		n++
	}
	return n == len(stored)
}

// LabelKey returns the key of a label in a profile, or "" for kinds that have none.
func LabelKey(l *ntconv.Label) string {
	if l.IsID() || l.Kind == ntconv.LabelString || l.Kind == ntconv.LabelInt {
		return l.Name()
	}
	return ""
}

// plain returns a label of the table in the form of profiles.
func (t *labelTable) plain(l ntconv.Label) ntconv.Label {
	if t.all && (l.Kind == ntconv.LabelString || l.Kind == ntconv.LabelInt) {
		return l
	}
	return plain(l)
}

// plain returns a label of any kind as a string, or as a number with a unit.
func plain(l ntconv.Label) ntconv.Label {
	p := ntconv.Label{Kind: ntconv.LabelString, Key: LabelKey(&l)}
	if l.Kind != ntconv.LabelInt {
		p.Str = string(l.AppendText(nil))
		return p
	}
	if p.Kind, p.Num, p.Unit = ntconv.LabelInt, l.Num, l.Unit; p.Unit == "" {
		p.Unit = unitDefault
	}
	return p
}

func number(key string, n uint64) ntconv.Label {
	return ntconv.Label{Kind: ntconv.LabelInt, Key: key, Num: int64(n), Unit: unitID}
}

func text(key, s string) ntconv.Label {
	return ntconv.Label{Kind: ntconv.LabelString, Key: key, Str: s}
}
