package reader

import "slices"

// retired remembers what a sequence point flushed, by the content of its row: a row that comes back means the same
// thing. Of things with equal content the one that had the same id comes back first, else the one that was flushed
// first, unless ids are known to be kept. The zero value is empty.
//
// Nothing says that rows come back at all, so it is bounded: it forgets, and then equal rows are different things.
type retired[T any] struct {
	rows  map[string][]retiree[T]
	bytes int // about what they take
}

type retiree[T any] struct {
	id    uint64
	value *T
}

const (
	// maxRetiredBytes bounds all, and maxAlike those with equal content, among which is searched.
	maxRetiredBytes = 64 << 20
	maxAlike        = 256
	// retireeBytes is about what one takes besides its row.
	retireeBytes = 500
)

// put adds a thing that had an id.
func (r *retired[T]) put(key string, id uint64, value *T) {
	if r.rows == nil || r.bytes >= maxRetiredBytes {
		r.rows, r.bytes = map[string][]retiree[T]{}, 0
	}
	list := r.rows[key]
	if len(list) >= maxAlike {
		return
	}
	r.rows[key] = append(list, retiree[T]{id, value})
	r.bytes += retireeBytes + 2*len(key)
}

// take returns and removes the thing for a row with that content and id, or nil. exact says that things keep their ids.
func (r *retired[T]) take(key string, id uint64, exact bool) *T {
	list := r.rows[key]
	i := slices.IndexFunc(list, func(e retiree[T]) bool { return e.id == id })
	if len(list) == 0 || i < 0 && exact {
		return nil
	}
	i = max(0, i)
	value := list[i].value
	if len(list) == 1 {
		delete(r.rows, key)
	} else {
		r.rows[key] = slices.Delete(list, i, i+1)
	}
	r.bytes -= retireeBytes + 2*len(key)
	return value
}
