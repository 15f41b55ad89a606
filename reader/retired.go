package reader

import "slices"

// retired remembers what a sequence point flushed, by the content of its row: a row that comes back means the same thing.
// Of things with equal content the one that had the same id comes back first, else the one that was flushed first.
type retired[T any] map[string][]retiree[T]

type retiree[T any] struct {
	id    uint64
	value *T
}

// put adds a thing that had an id.
func (r *retired[T]) put(key string, id uint64, value *T) {
	if *r == nil {
		*r = retired[T]{}
	}
	(*r)[key] = append((*r)[key], retiree[T]{id, value})
}

// take returns and removes the thing for a row with that content and id, or nil.
func (r retired[T]) take(key string, id uint64) *T {
	list := r[key]
	if len(list) == 0 {
		return nil
	}
	i := max(0, slices.IndexFunc(list, func(e retiree[T]) bool { return e.id == id }))
	value := list[i].value
	if len(list) == 1 {
		delete(r, key)
	} else {
		r[key] = slices.Delete(list, i, i+1)
	}
	return value
}
