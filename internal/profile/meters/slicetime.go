package meters

import (
	"container/heap"
	"math"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/span"
)

// threadSlices are the slices of a thread. At each time, the one that began last has the time; of those that began at
// the same time, the one that ends first. Slices that overlap without being nested thus share no time.
type threadSlices struct {
	open []*slice // by that rule, innermost last; slices that have ended are removed when they are the last ones
	at   int64    // the time up to which all time has a slice
}

// threadOf returns the slices of a thread.
func (m *sliceMeter) threadOf(t *ntconv.Thread) *threadSlices {
	s := m.threads[t]
	if s == nil {
		s = &threadSlices{at: math.MinInt64}
		m.threads[t] = s
	}
	return s
}

// add opens a slice of the thread at the current event.
func (t *threadSlices) add(m *sliceMeter, n *slice) {
	t.advance(m, n.start)
	n.thread = t
	at := len(t.open)
	for n.end != unknownEnd && at > 0 && t.open[at-1].start == n.start && t.open[at-1].end < n.end {
		at--
	}
	t.open = slices.Insert(t.open, at, n)
}

// end gives a slice its time, when its end is known.
func (t *threadSlices) end(m *sliceMeter, n *slice) {
	t.advance(m, n.end)
	for i := len(t.open) - 1; i >= 0 && t.open[i] != n; i-- {
		m.pathOf(t.open[i]) // a slice that ends at the same time may be emitted later
	}
}

// advance gives the time until a later time to the slices that have it.
func (t *threadSlices) advance(m *sliceMeter, until int64) {
	for len(t.open) > 0 && t.at < until {
		n := t.open[len(t.open)-1]
		if n.end <= t.at {
			m.pathOf(n)
			t.open = t.open[:len(t.open)-1]
			continue
		}
		to := min(until, n.end)
		n.time += to - max(t.at, n.start)
		t.at = to
	}
	t.at = max(t.at, until)
}

// inside is the time of an async slice that its children cover.
type inside struct {
	up      *slice // the parent, while both are open
	waiting int    // index in asyncSlices.waiting[parent] plus 1, if the parent has not begun
	ended   bool

	children int   // that are open
	since    int64 // children > 0: the time since which some are
	covered  int64
}

// An asyncSlices holds what async slices need beyond their begin and their end.
type asyncSlices struct {
	pending sliceHeap                   // with an end in the future
	waiting map[span.Context][]*slice   // whose parent has not begun, by the parent
	known   map[span.Context]*slicePath // of the latest slices that have ended, for children that begin later
	recent  []span.Context              // keys of known, in a ring
	next    int
}

// maxEndedSlices is the number of async slices that have ended and can still be parents.
const maxEndedSlices = 1 << 13

func newAsyncSlices() asyncSlices {
	return asyncSlices{waiting: map[span.Context][]*slice{}, known: map[span.Context]*slicePath{}}
}

// enclose connects an async slice that begins with its parent, and with the children that have begun before it: they may
// be of another process, whose clock differs.
func (m *sliceMeter) enclose(n *slice) {
	if up := m.open[n.parent]; up != nil && up != n && up.async {
		n.up = up
		up.enter(n.start)
	} else if n.parent.ID != (span.ID{}) {
		list := append(m.async.waiting[n.parent], n)
		m.async.waiting[n.parent] = list
		n.waiting = len(list)
	}
	for _, child := range m.async.waiting[n.key] {
		child.waiting, child.up = 0, n
		n.enter(max(child.start, n.start))
	}
	delete(m.async.waiting, n.key)
}

// enter notes that a child has begun.
func (n *slice) enter(at int64) {
	if n.children == 0 {
		n.since = max(at, n.start)
	}
	n.children++
}

// leave notes that an async slice has ended, for its parent.
func (m *sliceMeter) leave(n *slice, at int64) {
	n.ended = true
	if n.waiting > 0 {
		list := m.async.waiting[n.parent]
		last := list[len(list)-1]
		list[n.waiting-1], last.waiting = last, n.waiting
		if list = list[:len(list)-1]; len(list) == 0 {
			delete(m.async.waiting, n.parent)
		} else {
			m.async.waiting[n.parent] = list
		}
		n.waiting = 0
	}
	if up := n.up; up != nil && !up.ended {
		if up.children--; up.children == 0 {
			up.covered += max(0, at-up.since)
		}
	}
	n.up = nil
}

// endAsync ends an async slice at n.end.
func (m *sliceMeter) endAsync(n *slice, byEvent bool) {
	if n.children > 0 {
		n.covered += max(0, n.end-n.since)
	}
	m.async.remember(n.key, m.pathOf(n))
	m.leave(n, n.end)
	m.complete(n, max(0, n.end-n.start-n.covered), byEvent)
}

// remember keeps the path of a slice that has ended.
func (a *asyncSlices) remember(key span.Context, path *slicePath) {
	a.known[key] = path
	if len(a.recent) < maxEndedSlices {
		a.recent = append(a.recent, key)
		return
	}
	delete(a.known, a.recent[a.next])
	a.recent[a.next] = key
	a.next = (a.next + 1) % maxEndedSlices
}

// push holds a slice until its end. The one that ends first gives way if there are too many.
func (a *asyncSlices) push(m *sliceMeter, n *slice) {
	if len(a.pending) >= maxIntervals {
		m.endAsync(heap.Pop(&a.pending).(*slice), false)
	}
	heap.Push(&a.pending, n)
}

// endPending ends the async slices whose end is not after a time.
func (m *sliceMeter) endPending(now int64) {
	for len(m.async.pending) > 0 && m.async.pending[0].end <= now {
		m.endAsync(heap.Pop(&m.async.pending).(*slice), false)
	}
}

// A sliceHeap is a heap of slices by their end.
type sliceHeap []*slice

func (h sliceHeap) Len() int           { return len(h) }
func (h sliceHeap) Less(i, k int) bool { return h[i].end < h[k].end }
func (h sliceHeap) Swap(i, k int)      { h[i], h[k] = h[k], h[i] }
func (h *sliceHeap) Push(x any)        { *h = append(*h, x.(*slice)) }

func (h *sliceHeap) Pop() any {
	last := len(*h) - 1
	n := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return n
}

// A coverage is the time that is in at least one of many intervals.
type coverage struct {
	parts [][2]ntconv.Ticks // disjoint, in order
	sum   int64             // of the nanoseconds of all intervals
}

// add adds an interval and the time that it contributes. It is fast if ends hardly ever decrease.
func (c *coverage) add(from, to ntconv.Ticks, nanos int64) {
	c.sum = bin.AddClamped(c.sum, nanos)
	last := len(c.parts)
	for last > 0 && c.parts[last-1][0] > to {
		last--
	}
	first := last
	for first > 0 && c.parts[first-1][1] >= from {
		first--
		from, to = min(from, c.parts[first][0]), max(to, c.parts[first][1])
	}
	c.parts = slices.Replace(c.parts, first, last, [2]ntconv.Ticks{from, to})
}

// took returns the nanoseconds of the time.
func (c *coverage) took(clock ntconv.Clock) (nanos int64) {
	for _, p := range c.parts {
		nanos = bin.AddClamped(nanos, clock.Nanos(p[1])-clock.Nanos(p[0]))
	}
	return nanos
}
