package interval

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
)

// Open holds the intervals that have begun and not ended. Intervals with equal keys nest: an end ends the latest one.
// Its memory is proportional to the largest number of open intervals, which its user limits by ending Oldest. It
// allocates only if that number grows. It is not safe for concurrent use.
type Open[K comparable, T any] struct {
	byKey          map[K]*Begun[K, T]              // the latest interval with each key
	onThread       map[*ntconv.Thread]*Begun[K, T] // the latest interval of each thread
	oldest, newest *Begun[K, T]
	n              int
	free           *Begun[K, T] // linked by outer
}

// A Begun is an interval that has begun. It is valid until the first Begin after it was removed.
type Begun[K comparable, T any] struct {
	Key    K
	Thread *ntconv.Thread // nil if the interval may end on another thread
	Data   T

	outer, inner   *Begun[K, T] // neighbors among those with the same key
	earlier, later *Begun[K, T] // neighbors among those of the same thread
	prev, next     *Begun[K, T] // neighbors by age
	nested         int64        // nanoseconds of the intervals that the thread began and ended since
}

// NewOpen returns an Open without intervals.
func NewOpen[K comparable, T any]() Open[K, T] {
	return Open[K, T]{byKey: map[K]*Begun[K, T]{}, onThread: map[*ntconv.Thread]*Begun[K, T]{}}
}

// Begin adds an interval. t is its thread, or nil if it may end on another thread.
func (o *Open[K, T]) Begin(key K, t *ntconv.Thread, data T) *Begun[K, T] {
	i := o.free
	if i == nil {
		i = new(Begun[K, T])
	} else {
		o.free = i.outer
	}
	*i = Begun[K, T]{Key: key, Thread: t, Data: data, outer: o.byKey[key], prev: o.newest}
	if i.outer != nil {
		i.outer.inner = i
	}
	o.byKey[key] = i
	if t != nil {
		if i.earlier = o.onThread[t]; i.earlier != nil {
			i.earlier.later = i
		}
		o.onThread[t] = i
	}
	if o.newest != nil {
		o.newest.next = i
	} else {
		o.oldest = i
	}
	o.newest = i
	o.n++
	return i
}

// Latest returns the interval that an end with a key ends, or nil.
func (o *Open[K, T]) Latest(key K) *Begun[K, T] {
	if o.n == 0 {
		return nil
	}
	return o.byKey[key]
}

// Oldest returns the interval that began first, or nil.
func (o *Open[K, T]) Oldest() *Begun[K, T] { return o.oldest }

// OnThread returns the latest interval of a thread, or nil.
func (o *Open[K, T]) OnThread(t *ntconv.Thread) *Begun[K, T] { return o.onThread[t] }

// Len returns the number of intervals.
func (o *Open[K, T]) Len() int { return o.n }

// Exclusive returns the duration of an interval that has ended without the intervals of its thread that lie in it, so
// that no time is in two intervals. Call it once, with the duration in nanoseconds.
func (i *Begun[K, T]) Exclusive(nanos int64) int64 {
	if i.earlier != nil {
		i.earlier.nested = bin.AddClamped(i.earlier.nested, nanos)
	}
	return max(0, nanos-i.nested)
}

// Remove removes an interval.
func (o *Open[K, T]) Remove(i *Begun[K, T]) {
	switch {
	case i.inner != nil:
		i.inner.outer = i.outer
	case i.outer != nil:
		o.byKey[i.Key] = i.outer
	default:
		delete(o.byKey, i.Key)
	}
	if i.outer != nil {
		i.outer.inner = i.inner
	}
	switch {
	case i.Thread == nil:
	case i.later != nil:
		i.later.earlier = i.earlier
	case i.earlier != nil:
		o.onThread[i.Thread] = i.earlier
	default:
		delete(o.onThread, i.Thread)
	}
	if i.earlier != nil {
		i.earlier.later = i.later
	}
	if i.prev != nil {
		i.prev.next = i.next
	} else {
		o.oldest = i.next
	}
	if i.next != nil {
		i.next.prev = i.prev
	} else {
		o.newest = i.prev
	}
	o.n--
	i.outer, o.free = o.free, i
}
