package intern

// IDs maps the IDs of a file to values. A slice holds small and dense IDs, which real files have; a map holds the
// others. The zero value of T means that an ID has no value. ID 0 is an ordinary ID.
type IDs[T comparable] struct {
	dense []T
	far   map[uint64]T
	count int
}

// slack bounds the slice: an ID is in the slice if it is at most twice the number of IDs plus slack. So the memory is
// proportional to the number of IDs, also if an attacker chooses them.
const slack = 64

// Near returns the value of an ID if the slice holds it, and zero otherwise. It is small enough to be inlined, for
// callers that have a slow path that calls Get.
func (t *IDs[T]) Near(id uint64) T {
	if id < uint64(len(t.dense)) {
		return t.dense[id]
	}
	var none T
	return none
}

// Get returns the value of an ID, or zero if it has none.
func (t *IDs[T]) Get(id uint64) T {
	if id < uint64(len(t.dense)) {
		return t.dense[id]
	}
	return t.far[id]
}

// Set assigns a value, which must not be zero, to an ID and returns its previous value, or zero.
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

// extend moves all IDs up to id to the slice.
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

// Remove removes the value of an ID.
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

// Reset removes all IDs and keeps the memory of the slice, in which old values remain reachable. To free them, assign
// the zero IDs instead.
func (t *IDs[T]) Reset() { t.dense, t.far, t.count = t.dense[:0], nil, 0 }
