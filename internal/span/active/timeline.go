package active

import (
	"bytes"
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/span"
)

// A timeline states which span was active on a thread at each time. It is immutable except for the positions recent and
// recentIn, which make queries in time order fast.
type timeline struct {
	segments []segment // in time order
	picked   []window  // in time order, disjoint: times at which a picked span was active
	recent   int       // index of the segment that at returned last
	recentIn int       // index of the window that during found last
}

// A segment lasts from its time to the time of the next segment.
type segment struct {
	from ntconv.Ticks
	span int32 // noSpan if none was active
}

// A window is a range of time, including from and excluding to.
type window struct{ from, to ntconv.Ticks }

// An interval is a range of time in which a span was active on a thread.
type interval struct {
	window
	span int32
}

// at returns the span that was active at a time, or noSpan.
func (t *timeline) at(at ntconv.Ticks) int32 {
	i := t.recent
	if i >= len(t.segments) || at < t.segments[i].from || i+1 < len(t.segments) && at >= t.segments[i+1].from {
		i, _ = slices.BinarySearchFunc(t.segments, at, func(s segment, at ntconv.Ticks) int {
			if s.from <= at {
				return -1
			}
			return 1
		})
		if i--; i < 0 {
			return noSpan
		}
		t.recent = i
	}
	return t.segments[i].span
}

// during reports whether a time is in a picked window.
func (t *timeline) during(at ntconv.Ticks) bool {
	i := t.recentIn
	if i >= len(t.picked) || at < t.picked[i].from || at >= t.picked[i].to {
		i, _ = slices.BinarySearchFunc(t.picked, at, func(w window, at ntconv.Ticks) int {
			if w.to <= at {
				return -1
			}
			return 1
		})
		if i == len(t.picked) || at < t.picked[i].from {
			return false
		}
		t.recentIn = i
	}
	return true
}

// makeTimelines builds the timelines of all threads by the rules in the package comment.
func (x *Index) makeTimelines(all []facts) {
	intervals := map[threadKey][]interval{}
	put := func(on threadKey, n int32, from, to ntconv.Ticks) {
		if from <= to {
			intervals[on] = append(intervals[on], interval{window{from, bin.AddClamped(to, 1)}, n})
		}
	}
	ends := x.endsByThread(all)
	for i := range all {
		f, n := &all[i], int32(i)
		switch {
		case f.started && f.ended && f.start == f.end:
			put(f.start, n, f.from, f.to)
		case f.ended && !f.started:
			put(f.end, n, max(f.from, x.unrelatedEnd(ends[f.end], all, n)), f.to)
		default:
			if f.started && f.shownUntil > f.from {
				put(f.start, n, f.from, f.shownUntil)
			}
			if f.ended && f.hasSince {
				put(f.end, n, f.shownSince, f.to)
			}
		}
	}
	for on, list := range intervals {
		x.timelines[on] = x.flatten(list)
	}
}

// endsByThread returns the spans that ended on each thread, in the order of their ends. It omits spans with synthetic
// IDs, because their ancestors are unknown if only the ends of Activities are recorded.
func (x *Index) endsByThread(all []facts) map[threadKey][]int32 {
	ends := map[threadKey][]int32{}
	for n := range all {
		if f := &all[n]; f.ended && !x.spans[n].made {
			ends[f.end] = append(ends[f.end], int32(n))
		}
	}
	for _, list := range ends {
		slices.SortFunc(
			list,
			func(a, b int32) int { return cmp.Or(cmp.Compare(all[a].to, all[b].to), cmp.Compare(a, b)) },
		)
	}
	return ends
}

// unrelatedEnd returns the time after the last end of an unrelated span on the thread where the span n ended, before
// the end of n. It returns math.MinInt64 if no such span ended after the start of n. ends are the spans that ended on
// the thread.
func (x *Index) unrelatedEnd(ends []int32, all []facts, n int32) ntconv.Ticks {
	f := &all[n]
	i, _ := slices.BinarySearchFunc(
		ends,
		f.to,
		func(m int32, to ntconv.Ticks) int { return cmp.Compare(all[m].to, to) },
	)
	for i--; i >= 0 && all[ends[i]].to >= f.from; i-- {
		if m := ends[i]; !x.descends(m, n) && !x.descends(n, m) {
			return all[m].to + 1
		}
	}
	return math.MinInt64
}

// flatten builds the timeline of a thread by sweeping its intervals in time order. A heap holds the open intervals.
func (x *Index) flatten(list []interval) *timeline {
	slices.SortFunc(list, func(a, b interval) int { return cmp.Or(cmp.Compare(a.from, b.from), x.compareInner(a, b)) })
	t := &timeline{}
	open := &openIntervals{index: x}
	emit := func(at ntconv.Ticks) {
		now := noSpan
		if len(open.list) > 0 {
			now = open.list[0].span
		}
		last := len(t.segments) - 1
		switch {
		case last >= 0 && t.segments[last].from == at:
			t.segments[last].span = now
		case last < 0 || t.segments[last].span != now:
			t.segments = append(t.segments, segment{at, now})
		}
	}
	// closeUntil removes the intervals that end at or before a time. The end of an interval below the top of the heap
	// changes nothing, so it is removed only when it reaches the top.
	closeUntil := func(at ntconv.Ticks) {
		for len(open.list) > 0 && open.list[0].to <= at {
			end := open.list[0].to
			heap.Pop(open)
			for len(open.list) > 0 && open.list[0].to <= end {
				heap.Pop(open)
			}
			emit(end)
		}
	}
	for _, v := range list {
		closeUntil(v.from)
		heap.Push(open, v)
		emit(v.from)
		if x.spans[v.span].picked {
			t.pick(v.window)
		}
	}
	closeUntil(math.MaxInt64)
	t.segments, t.picked = slices.Clip(t.segments), slices.Clip(t.picked)
	return t
}

// pick adds a window that does not begin before the windows added earlier.
func (t *timeline) pick(w window) {
	if last := len(t.picked) - 1; last >= 0 && w.from <= t.picked[last].to {
		t.picked[last].to = max(t.picked[last].to, w.to)
		return
	}
	t.picked = append(t.picked, w)
}

// compareInner is negative if the span of a takes precedence over that of b while both are active.
func (x *Index) compareInner(a, b interval) int {
	s, o := &x.spans[a.span], &x.spans[b.span]
	switch {
	case s.weak != o.weak && o.weak:
		return -1
	case s.weak != o.weak:
		return 1
	}
	return cmp.Or(
		cmp.Compare(b.from, a.from),
		cmp.Compare(o.depth, s.depth),
		cmp.Compare(a.to, b.to),
		compareContext(s.Context, o.Context),
		cmp.Compare(a.span, b.span),
	)
}

func compareContext(a, b span.Context) int {
	return cmp.Or(bytes.Compare(a.TraceID[:], b.TraceID[:]), bytes.Compare(a.ID[:], b.ID[:]))
}

// openIntervals is a heap of intervals. The interval at the top takes precedence.
type openIntervals struct {
	index *Index
	list  []interval
}

func (o *openIntervals) Len() int           { return len(o.list) }
func (o *openIntervals) Less(i, j int) bool { return o.index.compareInner(o.list[i], o.list[j]) < 0 }
func (o *openIntervals) Swap(i, j int)      { o.list[i], o.list[j] = o.list[j], o.list[i] }
func (o *openIntervals) Push(v any)         { o.list = append(o.list, v.(interval)) }
func (o *openIntervals) Pop() any {
	v := o.list[len(o.list)-1]
	o.list = o.list[:len(o.list)-1]
	return v
}
