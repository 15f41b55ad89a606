package pprof

import "github.com/ntconv/ntconv/internal/data/intern"

// ids maps the IDs of rows to their places in a table. Most profiles number them from 1.
type ids struct {
	places intern.IDs[uint32] // place + 1
	count  int                // number of places
}

// add assigns the next place to an ID. It returns false if the ID has a place already.
func (t *ids) add(id uint64) bool {
	if t.places.Get(id) != 0 {
		return false
	}
	t.count++
	t.places.Set(id, uint32(t.count))
	return true
}

// find returns the place of an ID. ok is false if it has none.
func (t *ids) find(id uint64) (place uint32, ok bool) {
	if place = t.places.Get(id); place == 0 {
		return 0, false
	}
	return place - 1, true
}
