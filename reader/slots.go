package reader

// A slotTable maps the ids of a wire table to slots: small numbers that index a list. Ids from real files are dense and
// small; others go to a map. The zero value is empty. Id 0 is an id like any other.
type slotTable struct {
	dense []uint32 // slot+1 by id; 0 if there is none
	far   map[uint64]uint32
	count int
}

// maxDense bounds the dense part, and with it what one large id can cost.
const maxDense = 1 << 20

// get returns the slot of an id.
func (t *slotTable) get(id uint64) (slot uint32, ok bool) {
	if id < uint64(len(t.dense)) {
		if s := t.dense[id]; s != 0 {
			return s - 1, true
		}
		return 0, false
	}
	if t.far == nil {
		return 0, false
	}
	slot, ok = t.far[id]
	return slot, ok
}

// set gives an id a slot and reports whether it had none.
func (t *slotTable) set(id uint64, slot uint32) (fresh bool) {
	_, had := t.get(id)
	if !had {
		t.count++
	}
	switch {
	case id < uint64(len(t.dense)):
		t.dense[id] = slot + 1
	case id < maxDense && id <= uint64(2*t.count+64):
		for i := uint64(len(t.dense)); i <= id; i++ {
			t.dense = append(t.dense, 0)
			if s, ok := t.far[i]; ok {
				t.dense[i] = s + 1
				delete(t.far, i)
			}
		}
		t.dense[id] = slot + 1
	default:
		if t.far == nil {
			t.far = map[uint64]uint32{}
		}
		t.far[id] = slot
	}
	return !had
}

// remove forgets an id.
func (t *slotTable) remove(id uint64) {
	if _, ok := t.get(id); !ok {
		return
	}
	t.count--
	if id < uint64(len(t.dense)) {
		t.dense[id] = 0
		return
	}
	delete(t.far, id)
}

// reset forgets all ids and keeps the memory.
func (t *slotTable) reset() {
	t.dense = t.dense[:0]
	t.far = nil
	t.count = 0
}
