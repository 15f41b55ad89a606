package reader

import "github.com/ntconv/ntconv/internal/data/intern"

// A slotTable maps the IDs of a table in the trace to slots, which are indexes of a list. The zero value is empty.
type slotTable struct {
	places intern.IDs[uint32] // slot + 1; 0 means no slot
}

// near returns the slot of an ID plus 1, or 0 if the lookup needs get. It is small enough to be inlined into the fast
// paths.
func (t *slotTable) near(id uint64) uint32 { return t.places.Near(id) }

// get returns the slot of an ID and whether it has one.
func (t *slotTable) get(id uint64) (slot uint32, ok bool) {
	if place := t.places.Get(id); place != 0 {
		return place - 1, true
	}
	return 0, false
}

// set assigns a slot to an ID and reports whether the ID had none.
func (t *slotTable) set(id uint64, slot uint32) (fresh bool) { return t.places.Set(id, slot+1) == 0 }

// remove deletes an ID.
func (t *slotTable) remove(id uint64) { t.places.Remove(id) }

// reset deletes all IDs and keeps the memory.
func (t *slotTable) reset() { t.places.Reset() }
