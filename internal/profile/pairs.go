package profile

import (
	"github.com/ntconv/ntconv"
)

// maxIntervals bounds the intervals of one kind that are open at a time. Beyond it the oldest one is given up, so that
// begins without an end do not fill the memory.
const maxIntervals = 1 << 17

// An intervalKey is equal for the begin and the end of an interval.
type intervalKey struct {
	process *ntconv.Process
	thread  *ntconv.Thread // nil if begin and end may be on different threads
	id      uint64
	high    uint64 // the upper half of an ID of 128 bits
}

// intervalKeyOf returns the key of an interval of a thread; id distinguishes intervals of one thread that do not nest.
func intervalKeyOf(e *ntconv.Event, id uint64) intervalKey {
	k := intervalKey{thread: e.Thread, id: id}
	if e.Thread != nil {
		k.process = e.Thread.Process
	}
	return k
}

// shared returns the key for an interval that may end on another thread of its process.
func (k intervalKey) shared() intervalKey {
	k.thread = nil
	return k
}

// openIntervals holds the intervals that have begun. Intervals with equal keys nest: an end ends the latest begin. T is
// what a meter keeps of a begin in addition to its place.
type openIntervals[T any] struct {
	c        *collector
	byKey    map[intervalKey]*openInterval[T]    // the latest interval of each key
	onThread map[*ntconv.Thread]*openInterval[T] // the latest interval of each thread, of those whose key has a thread
	n        int
	limit    int                    // of n
	expired  func(*openInterval[T]) // takes the place of an interval whose end is unknown; nil drops it
	oldest   *openInterval[T]       // the list of all open intervals by age
	newest   *openInterval[T]
	free     *openInterval[T] // linked by outer
}

// An openInterval is an interval that has begun.
type openInterval[T any] struct {
	*place
	key            intervalKey
	data           T
	outer, inner   *openInterval[T] // neighbors among those with the same key
	earlier, later *openInterval[T] // neighbors among those of the same thread
	prev, next     *openInterval[T] // neighbors by age
	nested         int64            // nanoseconds of the intervals that the thread began and ended since
}

// exclusive returns the duration of an ended interval without the intervals of the thread that lie in it, so that no
// time is in two samples. Both are in nanoseconds.
func (i *openInterval[T]) exclusive(nanos int64) int64 {
	if i.earlier != nil {
		addTo(&i.earlier.nested, nanos)
	}
	return max(0, nanos-i.nested)
}

func newOpenIntervals[T any](c *collector) openIntervals[T] {
	return openIntervals[T]{
		c: c, limit: maxIntervals, byKey: map[intervalKey]*openInterval[T]{}, onThread: map[*ntconv.Thread]*openInterval[T]{},
	}
}

// begin opens an interval at the current event.
func (o *openIntervals[T]) begin(r *reading, key intervalKey, data T) {
	if o.n >= o.limit {
		o.discard(o.oldest, cutLimit)
	}
	i := o.free
	if i == nil {
		i = new(openInterval[T])
	} else {
		o.free = i.outer
	}
	*i = openInterval[T]{place: o.c.hold(r), key: key, data: data, outer: o.byKey[key], prev: o.newest}
	if i.outer != nil {
		i.outer.inner = i
	}
	o.byKey[key] = i
	if key.thread != nil {
		if i.earlier = o.onThread[key.thread]; i.earlier != nil {
			i.earlier.later = i
		}
		o.onThread[key.thread] = i
	}
	if o.newest != nil {
		o.newest.next = i
	} else {
		o.oldest = i
	}
	o.newest = i
	o.n++
}

// latest returns the open interval that an end with a key ends, or nil.
func (o *openIntervals[T]) latest(key intervalKey) *openInterval[T] { return o.byKey[key] }

// end removes and returns the interval that an end with a key ends. It returns nil, and notes it, if there is none. The
// caller must pass the place to emit or drop. The result is valid until the next begin.
func (o *openIntervals[T]) end(key intervalKey) *openInterval[T] {
	i := o.byKey[key]
	if i == nil {
		o.c.unmatched()
		return nil
	}
	o.remove(i)
	return i
}

// remove unlinks an interval.
func (o *openIntervals[T]) remove(i *openInterval[T]) {
	switch {
	case i.inner != nil:
		i.inner.outer = i.outer
	case i.outer != nil:
		o.byKey[i.key] = i.outer
	default:
		delete(o.byKey, i.key)
	}
	if i.outer != nil {
		i.outer.inner = i.inner
	}
	switch {
	case i.key.thread == nil:
	case i.later != nil:
		i.later.earlier = i.earlier
	case i.earlier != nil:
		o.onThread[i.key.thread] = i.earlier
	default:
		delete(o.onThread, i.key.thread)
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

// discard removes an interval whose end is unknown.
func (o *openIntervals[T]) discard(i *openInterval[T], reason cutReason) {
	p := i.place
	o.remove(i)
	if o.expired != nil {
		o.expired(i)
		return
	}
	o.c.drop(p, reason)
}

// release removes an interval without a report.
func (o *openIntervals[T]) release(i *openInterval[T]) {
	p := i.place
	o.remove(i)
	o.c.release(p)
}

// discardThread removes the intervals of a thread. Those that may end on another thread are kept: an ID identifies them.
func (o *openIntervals[T]) discardThread(t *ntconv.Thread, reason cutReason) {
	for i := o.onThread[t]; i != nil; i = o.onThread[t] {
		o.discard(i, reason)
	}
}

// lost implements meter.
func (o *openIntervals[T]) lost(capture *ntconv.Thread) { o.discardThread(capture, cutLoss) }

// removed implements meter.
func (o *openIntervals[T]) removed(list []ntconv.ThreadSeq) {
	for i := range list {
		o.discardThread(list[i].Thread, cutEdge)
	}
}

// finish implements meter.
func (o *openIntervals[T]) finish() {
	for o.oldest != nil {
		o.discard(o.oldest, cutEdge)
	}
}

// complete removes the interval that an end with a key ends, and returns it with its nanoseconds up to the current event.
// It returns nil if there is none, or if the event is earlier than the begin; it notes both. The caller must pass the
// place to emit. The result is valid until the next begin.
func (o *openIntervals[T]) complete(r *reading, key intervalKey) (i *openInterval[T], nanos int64) {
	if i = o.end(key); i == nil {
		return nil, 0
	}
	nanos, ok := o.c.elapsed(i.place, r.Time)
	if !ok {
		return nil, 0
	}
	return i, nanos
}

// elapsed returns the nanoseconds from a begin to the current event. ok is false, and the interval is dropped, if the
// event is earlier.
func (c *collector) elapsed(p *place, end ntconv.Ticks) (nanos int64, ok bool) {
	if end < p.time {
		c.disordered = true
		c.drop(p, cutOrder)
		return 0, false
	}
	return int64(c.clock.Since(p.time, end)), true
}
