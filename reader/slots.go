package reader

import "github.com/ntconv/ntconv/internal/intern"

// A slotTable maps the ids of a wire table to slots: small numbers that index a list. The zero value is empty.
type slotTable struct {
	places intern.IDs[uint32] // slot + 1
}

// near returns the slot of an id plus 1, or 0 if a lookup needs get. It is small enough to become part of the fast
// paths.
func (t *slotTable) near(id uint64) uint32 { return t.places.Near(id) }

// get returns the slot of an id.
func (t *slotTable) get(id uint64) (slot uint32, ok bool) {
	if place := t.places.Get(id); place != 0 {
		return place - 1, true
	}
	return 0, false
}

// set gives an id a slot and reports whether it had none.
func (t *slotTable) set(id uint64, slot uint32) (fresh bool) { return t.places.Set(id, slot+1) == 0 }

// remove discards an id.
func (t *slotTable) remove(id uint64) { t.places.Remove(id) }

// reset discards all ids and keeps the memory.
func (t *slotTable) reset() { t.places.Reset() }
