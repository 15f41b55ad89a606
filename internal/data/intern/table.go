package intern

import "hash/maphash"

// A Table assigns numbers to values by content, in order from 1. Unlike a map, it stores each value once and returns it
// by its number.
type Table[K comparable] struct {
	seed  maphash.Seed
	index Index
	list  []K // indexed by number - 1
}

// Len returns the number of values, which is the largest number.
func (t *Table[K]) Len() int { return len(t.list) }

// Find returns the number of k, or 0 if it has none.
func (t *Table[K]) Find(k K) uint32 {
	if len(t.list) == 0 {
		return 0
	}
	for p := t.index.Probe(maphash.Comparable(t.seed, k)); p.Next(); {
		if t.list[p.ID-1] == k {
			return p.ID
		}
	}
	return 0
}

// Add returns the number of k and whether it is new. If k has no number, it gets the next one.
func (t *Table[K]) Add(k K) (id uint32, fresh bool) {
	if t.list == nil {
		t.seed = maphash.MakeSeed()
	}
	hash := maphash.Comparable(t.seed, k)
	p := t.index.Probe(hash)
	for p.Next() {
		if t.list[p.ID-1] == k {
			return p.ID, false
		}
	}
	t.list = append(t.list, k)
	id = uint32(len(t.list))
	t.index.Insert(&p, id)
	return id, true
}

// At returns the value with a number. It panics if no value has the number.
func (t *Table[K]) At(id uint32) K { return t.list[id-1] }

// All returns the values in the order of their numbers. The slice is read-only and valid until the next Add.
func (t *Table[K]) All() []K { return t.list }
