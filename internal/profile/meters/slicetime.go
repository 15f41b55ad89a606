package meters

import (
	"cmp"
	"iter"
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
	last uint64   // number of the latest slice

	// In the order of their numbers, so that the end of a slice need not visit all that are open:
	bare  []*slice // slices that pathOf has not been asked for
	timed []*slice // slices that have time and no known end
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
	t.last++
	n.thread, n.number = t, t.last
	t.bare = append(t.bare, n)
	at := len(t.open)
	for n.end != unknownEnd && at > 0 && t.open[at-1].start == n.start && t.open[at-1].end < n.end {
		at--
	}
	t.open = slices.Insert(t.open, at, n)
}

// end gives a slice its time, when its end is known. It takes the time of slices in it whose end is not known: most of
// them never end, and then have no sample.
func (t *threadSlices) end(m *sliceMeter, n *slice) {
	t.advance(m, n.end)
	t.settlePaths(m, n)
	for x := range popFrom(&t.timed, n) {
		if x.end == unknownEnd {
			n.time, x.time = n.time+x.time, 0
		}
	}
}

// lose removes a slice whose end is unknown.
func (t *threadSlices) lose(m *sliceMeter, n *slice) {
	t.settlePaths(m, n)
	if i, ok := slices.BinarySearchFunc(t.timed, n.number, (*slice).compareNumber); ok {
		t.timed = slices.Delete(t.timed, i, i+1)
	}
}

// settlePaths asks for the paths of a slice and of those that began after it, because they are emitted later.
func (t *threadSlices) settlePaths(m *sliceMeter, n *slice) {
	for x := range popFrom(&t.bare, n) {
		m.pathOf(x)
	}
}

// popFrom removes a slice and those with greater numbers, which began later, from the end of a list.
func popFrom(list *[]*slice, n *slice) iter.Seq[*slice] {
	return func(yield func(*slice) bool) {
		for i := len(*list) - 1; i >= 0 && (*list)[i].number >= n.number; i-- {
			x := (*list)[i]
			if *list = (*list)[:i]; !yield(x) {
				return
			}
		}
	}
}

func (n *slice) compareNumber(to uint64) int { return cmp.Compare(n.number, to) }

// advance gives the time until a later time to the slices that have it.
func (t *threadSlices) advance(m *sliceMeter, until int64) {
	for len(t.open) > 0 && t.at < until {
		n := t.open[len(t.open)-1]
		if n.end <= t.at {
			m.pathOf(n)
			t.open = t.open[:len(t.open)-1]
			n.spent = true
			m.recycle(n)
			continue
		}
		to := min(until, n.end)
		gained := to - max(t.at, n.start)
		if n.end == unknownEnd && n.time == 0 && gained > 0 {
			t.timed = append(t.timed, n)
		}
		n.time += gained
		t.at = to
	}
	t.at = max(t.at, until)
}

// An asyncSlices holds the async slices that have ended, until their parents and children are known. Spans of OTLP are
// recorded at their ends, so a parent usually follows its children.
type asyncSlices struct {
	held     []*slice
	batch    int // number of earlier batches
	resolved map[span.Context]*slicePath
}

// maxHeld limits the async slices that are held. Beyond it, all are resolved whose parent is known or did not appear
// while as many followed.
const maxHeld = 1 << 17

// cover notes that a child of an async slice is open for a time. Call it in the order of from.
func (n *slice) cover(from, to int64) {
	from, to = max(from, n.start, n.until), min(to, n.end)
	if to > from {
		n.covered += to - from
		n.until = to
	}
}

// holdAsync holds an async slice that has ended.
func (m *sliceMeter) holdAsync(n *slice) {
	n.batch = m.async.batch
	m.async.held = append(m.async.held, n)
	if len(m.async.held) >= maxHeld {
		m.resolve(false)
	}
}

// resolve emits the async slices that are held. If the trace goes on, those stay whose parent may follow.
func (m *sliceMeter) resolve(all bool) {
	held := m.async.held
	slices.SortStableFunc(held, func(a, b *slice) int { return cmp.Compare(a.start, b.start) })
	for _, n := range held {
		m.open[n.key] = n
	}
	var rest, done []*slice
	for _, n := range held {
		if !all && m.awaits(n) {
			rest = append(rest, n)
			continue
		}
		done = append(done, n)
		if up := m.open[n.parent]; up != nil && up != n && up.async {
			up.cover(n.start, n.end)
		}
	}
	resolved := make(map[span.Context]*slicePath, len(done))
	for _, n := range done { // before any of them is forgotten, because a path needs the parents
		resolved[n.key] = m.pathOf(n)
	}
	for _, n := range done {
		if n.lost {
			m.c.drop(n.Place, cutEdge)
			m.forget(n)
		} else {
			m.complete(n, max(0, n.end-n.start-n.covered), false)
		}
	}
	for _, n := range rest {
		m.forget(n)
	}
	m.async.held, m.async.resolved = rest, resolved
	m.async.batch++
}

// awaits reports whether the parent of a slice, or one of those around it, may follow.
func (m *sliceMeter) awaits(n *slice) bool {
	for range maxSliceDepth {
		up := m.open[n.parent]
		switch {
		case up != nil && up.end == unknownEnd:
			return false
		case up == nil:
			return n.parent.ID != span.ID{} && m.async.resolved[n.parent] == nil && n.batch == m.async.batch
		}
		n = up
	}
	return false
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
