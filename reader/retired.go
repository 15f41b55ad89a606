package reader

import "slices"

// retired holds the types or threads that a sequence point flushed, by the content of their rows: a row that reappears
// after the flush denotes the same type or thread, so its pointer is reused. Among values with equal content, take
// prefers the one with the same ID, then the one that was flushed first. The zero value is empty.
//
// Rows need not reappear, so the memory is bounded: put starts over at maxRetiredBytes. A row that reappears after that
// is a new type or thread.
type retired[T any] struct {
	rows  map[string][]flushedRow[T]
	bytes int // estimated memory of rows
}

// A flushedRow is a flushed type or thread and its ID before the flush.
type flushedRow[T any] struct {
	id    uint64
	value *T
}

const (
	// maxRetiredBytes bounds the memory of all rows. maxAlike bounds the values with equal content, because take
	// searches them one by one.
	maxRetiredBytes = 64 << 20
	maxAlike        = 256
	// flushedRowBytes is the estimated memory of a value in addition to its row.
	flushedRowBytes = 500
)

// put adds a value with its row content and ID.
func (r *retired[T]) put(key string, id uint64, value *T) {
	if r.rows == nil || r.bytes >= maxRetiredBytes {
		r.rows, r.bytes = map[string][]flushedRow[T]{}, 0
	}
	list := r.rows[key]
	if len(list) >= maxAlike {
		return
	}
	r.rows[key] = append(list, flushedRow[T]{id, value})
	r.bytes += flushedRowBytes + 2*len(key)
}

// take removes and returns the value for a row with that content and ID, or returns nil. exact means that IDs are kept
// across a flush, as package writer does: then only a value with the same ID matches.
func (r *retired[T]) take(key string, id uint64, exact bool) *T {
	list := r.rows[key]
	i := slices.IndexFunc(list, func(e flushedRow[T]) bool { return e.id == id })
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
	r.bytes -= flushedRowBytes + 2*len(key)
	return value
}
