package meters

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/interval"
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
	interval.Open[intervalKey, held[T]]
	c       *Collector
	limit   int                    // of Len
	expired func(*openInterval[T]) // takes the place of an interval whose end is unknown; nil drops it
}

type held[T any] struct {
	*Place
	data T
}

// An openInterval is an interval that has begun.
type openInterval[T any] = interval.Begun[intervalKey, held[T]]

func newOpenIntervals[T any](c *Collector) openIntervals[T] {
	return openIntervals[T]{Open: interval.NewOpen[intervalKey, held[T]](), c: c, limit: maxIntervals}
}

// begin opens an interval at the current event.
func (o *openIntervals[T]) begin(r *reading, key intervalKey, data T) {
	if o.Len() >= o.limit {
		o.discard(o.Oldest(), cutLimit)
	}
	o.Begin(key, key.thread, held[T]{o.c.hold(r), data})
}

// End removes and returns the interval that an end with a key ends. It returns nil, and notes it, if there is none. The
// caller must pass the place to emit or drop. The result is valid until the next begin.
func (o *openIntervals[T]) end(key intervalKey) *openInterval[T] {
	i := o.Latest(key)
	if i == nil {
		o.c.unmatched()
		return nil
	}
	o.Remove(i)
	return i
}

// discard removes an interval whose end is unknown.
func (o *openIntervals[T]) discard(i *openInterval[T], reason cutReason) {
	o.Remove(i)
	if o.expired != nil {
		o.expired(i)
		return
	}
	o.c.drop(i.Data.Place, reason)
}

// release removes an interval without a report.
func (o *openIntervals[T]) release(i *openInterval[T]) {
	o.Remove(i)
	o.c.release(i.Data.Place)
}

// discardThread removes the intervals of a thread. Those that may end on another thread are kept: an ID identifies them.
func (o *openIntervals[T]) discardThread(t *ntconv.Thread, reason cutReason) {
	for i := o.OnThread(t); i != nil; i = o.OnThread(t) {
		o.discard(i, reason)
	}
}

// Lost implements meter.
func (o *openIntervals[T]) lost(capture *ntconv.Thread) { o.discardThread(capture, cutLoss) }

// Removed implements meter.
func (o *openIntervals[T]) removed(list []ntconv.ThreadSeq) {
	for i := range list {
		o.discardThread(list[i].Thread, cutEdge)
	}
}

// Finish implements meter.
func (o *openIntervals[T]) finish() {
	for o.Oldest() != nil {
		o.discard(o.Oldest(), cutEdge)
	}
}

// complete removes the interval that an end with a key ends, and returns it with its nanoseconds up to the current event.
// It returns nil if there is none, or if the event is earlier than the begin; it notes both. The caller must pass the
// Place to emit. The result is valid until the next begin.
func (o *openIntervals[T]) complete(r *reading, key intervalKey) (i *openInterval[T], nanos int64) {
	if i = o.end(key); i == nil {
		return nil, 0
	}
	nanos, ok := o.c.elapsed(i.Data.Place, r.Time)
	if !ok {
		return nil, 0
	}
	return i, nanos
}

// elapsed returns the nanoseconds from a begin to the current event. ok is false, and the interval is dropped, if the
// event is earlier.
func (c *Collector) elapsed(p *Place, end ntconv.Ticks) (nanos int64, ok bool) {
	if end < p.Time {
		c.drop(p, cutOrder)
		return 0, false
	}
	return interval.Nanos(c.clock, p.Time, end), true
}
