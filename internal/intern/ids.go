package intern

// IDs maps the IDs of a file to values. IDs of real files are small and dense, so that a slice has most of them; others
// go to a map. The zero value of T means that an ID has no value. The ID 0 is one like any other.
type IDs[T comparable] struct {
	dense []T
	far   map[uint64]T
	count int
}

// slack is how far above twice the number of IDs an ID may be and still have its place in the slice: the bound on what
// IDs can cost that an attacker chose.
const slack = 64

// Near returns the value of an ID if it is one of the slice. It is Get for callers that have a slow path anyway: small
// enough to be inlined.
func (t *IDs[T]) Near(id uint64) T {
	if id < uint64(len(t.dense)) {
		return t.dense[id]
	}
	var none T
	return none
}

// Get returns the value of an ID, zero if it has none.
func (t *IDs[T]) Get(id uint64) T {
	if id < uint64(len(t.dense)) {
		return t.dense[id]
	}
	return t.far[id]
}

// Set gives an ID a value, which is not zero, and returns the one before.
func (t *IDs[T]) Set(id uint64, v T) (old T) {
	var none T
	old = t.Get(id)
	if old == none {
		t.count++
	}
	if id >= uint64(len(t.dense)) && id <= uint64(2*t.count+slack) {
		t.extend(id)
	}
	if id < uint64(len(t.dense)) {
		t.dense[id] = v
		return old
	}
	if t.far == nil {
		t.far = map[uint64]T{}
	}
	t.far[id] = v
	return old
}

// extend gives all IDs up to one their place in the slice.
func (t *IDs[T]) extend(id uint64) {
	for i := uint64(len(t.dense)); i <= id; i++ {
		var v T
		if len(t.far) > 0 {
			v = t.far[i]
			delete(t.far, i)
		}
		t.dense = append(t.dense, v)
	}
}

// Remove removes an ID.
func (t *IDs[T]) Remove(id uint64) {
	var none T
	if t.Get(id) == none {
		return
	}
	t.count--
	if id < uint64(len(t.dense)) {
		t.dense[id] = none
		return
	}
	delete(t.far, id)
}

// Reset removes all IDs and keeps the memory of the slice. Its old values stay reachable: assign the zero IDs instead
// to free them.
func (t *IDs[T]) Reset() { t.dense, t.far, t.count = t.dense[:0], nil, 0 }
