package pprof

// ids are the IDs of rows, each with its place among them. Most profiles count from 1.
type ids struct {
	dense  []uint32 // place + 1
	sparse map[uint64]uint32
	count  int
}

// add gives an ID the next place. It returns false if the ID has a place already.
func (t *ids) add(id uint64) bool {
	if _, known := t.find(id); known {
		return false
	}
	t.count++
	if id < uint64(2*t.count+1024) {
		for uint64(len(t.dense)) <= id {
			t.dense = append(t.dense, 0)
		}
		t.dense[id] = uint32(t.count)
		return true
	}
	if t.sparse == nil {
		t.sparse = map[uint64]uint32{}
	}
	t.sparse[id] = uint32(t.count)
	return true
}

// find returns the place of an ID.
func (t *ids) find(id uint64) (place uint32, ok bool) {
	if id < uint64(len(t.dense)) && t.dense[id] != 0 {
		return t.dense[id] - 1, true
	}
	n, ok := t.sparse[id]
	return n - 1, ok
}
