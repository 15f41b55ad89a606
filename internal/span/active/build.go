package active

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/span"
)

// A build is the data that an index needs only until Finish returns.
type build struct {
	facts []facts
}

// facts states where and when a span was recorded. Times are ticks of the trace's clock.
type facts struct {
	parent   span.ID
	activity ntconv.GUID
	from, to ntconv.Ticks // both inclusive; to is math.MaxInt64 if the end is unknown
	finished bool         // the trace contains the end
	// Threads of the first and the last event; valid only if started and ended are set.
	start, end     threadKey
	started, ended bool

	wall                     bool         // from and to are on the wall clock
	endEvent                 ntconv.Ticks // if wall: time of the event that records the end
	recordedFrom, recordedTo ntconv.Ticks // if wall: from and to before calibrate

	shownUntil ntconv.Ticks // last time at which a descendant shows the span on the thread start
	shownSince ntconv.Ticks // if hasSince: first time at which a descendant shows the span on the thread end
	hasSince   bool
}

// add stores the facts of the latest span of the index, as the tracker reports it.
func (b *build) add(x *Index, s *span.Span) {
	f := facts{
		parent:   s.ParentID,
		activity: s.Activity,
		from:     x.ticks(s.Start),
		to:       x.ticks(s.End),
		finished: !s.Unfinished && s.End != 0,
	}
	if s.End == 0 {
		f.to = math.MaxInt64
	}
	if s.Evidence != span.FromOTLP {
		process := x.spans[len(b.facts)].process
		f.start, f.started = locate(process, s.Thread)
		f.end, f.ended = locate(process, s.EndThread)
		f.ended = f.ended && f.finished
	}
	if s.Evidence == span.FromActivity && f.finished && x.event != nil {
		f.wall, f.endEvent, f.recordedFrom, f.recordedTo = true, x.event.Time, f.from, f.to
	}
	b.facts = append(b.facts, f)
}

// locate returns the key of a thread. known is false if the trace does not state the thread.
func locate(process uint32, t *ntconv.Thread) (k threadKey, known bool) {
	if t == nil || t.TID == ntconv.TIDUnknown {
		return k, false
	}
	return threadKey{process, t.TID}, true
}

// ticks converts a time of a span to ticks of the trace's clock.
func (x *Index) ticks(nanos uint64) ntconv.Ticks {
	base := int64(0)
	if !x.clock.Wall.IsZero() {
		base = x.clock.Wall.UnixNano()
	}
	d := int64(nanos) - base
	if int64(nanos) < 0 && base > 0 && d > 0 { // the subtraction overflowed
		d = math.MinInt64
	}
	return x.clock.TicksAt(time.Duration(d))
}

// resolve computes the tables of the index from the facts. Each step needs the results of the previous ones.
func (x *Index) resolve() {
	b := x.build
	x.calibrate(b.facts)
	x.sortIDs()
	x.findParents(b.facts)
	for n := range x.spans {
		x.spans[n].depth = x.depth(int32(n))
		x.spans[n].picked = x.isPicked(int32(n))
	}
	x.keepNesting(b.facts)
	x.showAncestors(b.facts)
	x.makeTimelines(b.facts)
	x.sortActivities(b.facts)
}

const (
	// neighbors is the number of Activities that ended before, and after, an Activity and are compared with it.
	neighbors = 15
	// nearby is the maximum time between them. It is short enough to make the drift between the clocks negligible.
	nearby = 10 * time.Second
)

// calibrate converts times on the wall clock to the clock of the trace. An event is recorded at or after the end of its
// Activity, so the difference between the clocks is the smallest one among neighboring Activities. calibrate uses the
// first quartile, so that Activities whose program has set their times do not affect the result, and ends no Activity
// after its event.
func (x *Index) calibrate(all []facts) {
	var order []int32
	for n := range all {
		if all[n].wall {
			order = append(order, int32(n))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(
			cmp.Compare(x.spans[a].process, x.spans[b].process),
			cmp.Compare(all[a].endEvent, all[b].endEvent),
			cmp.Compare(a, b),
		)
	})
	moves := make([]ntconv.Ticks, len(order))
	freq := ntconv.Clock{Freq: x.clock.Freq}
	reach := freq.TicksAt(nearby)
	var window []ntconv.Ticks
	for i, n := range order {
		window = window[:0]
		for _, m := range order[max(0, i-neighbors):min(len(order), i+neighbors+1)] {
			apart := bin.SubClamped(all[m].endEvent, all[n].endEvent)
			if x.spans[m].process == x.spans[n].process && -reach <= apart && apart <= reach {
				window = append(window, bin.SubClamped(all[m].endEvent, all[m].to))
			}
		}
		slices.Sort(window)
		moves[i] = window[(len(window)-1)/4]
	}
	for i, n := range order {
		f := &all[n]
		f.from, f.to = bin.AddClamped(f.from, moves[i]), min(bin.AddClamped(f.to, moves[i]), f.endEvent)
	}
}

// sortIDs builds the index by span ID.
func (x *Index) sortIDs() {
	x.byID = make([]int32, len(x.spans))
	for n := range x.byID {
		x.byID[n] = int32(n)
	}
	slices.SortFunc(x.byID, func(a, b int32) int {
		return cmp.Or(x.compareID(a, x.spans[b].process, x.spans[b].Context), cmp.Compare(a, b))
	})
}

func (x *Index) compareID(n int32, process uint32, c span.Context) int {
	s := &x.spans[n]
	return cmp.Or(
		cmp.Compare(s.process, process),
		bytes.Compare(s.ID[:], c.ID[:]),
		bytes.Compare(s.TraceID[:], c.TraceID[:]),
	)
}

// find returns the first span with these IDs, or noSpan. A zero trace ID matches any trace.
func (x *Index) find(process uint32, c span.Context) int32 {
	i, _ := slices.BinarySearchFunc(x.byID, c, func(n int32, c span.Context) int { return x.compareID(n, process, c) })
	if i == len(x.byID) {
		return noSpan
	}
	s := &x.spans[x.byID[i]]
	if s.process != process || s.ID != c.ID || s.TraceID != c.TraceID && !c.TraceID.IsZero() {
		return noSpan
	}
	return x.byID[i]
}

// findParents sets the parents of all spans.
func (x *Index) findParents(all []facts) {
	for n := range all {
		s := &x.spans[n]
		if all[n].parent.IsZero() {
			continue
		}
		if p := x.find(s.process, span.Context{TraceID: s.TraceID, ID: all[n].parent}); p != int32(n) {
			s.parent = p
		}
	}
}

// maxAncestors limits the examined ancestors of a span. Parents in a trace are untrusted and may form a cycle.
const maxAncestors = 64

// descends reports whether the span n is the span from or one of its descendants.
func (x *Index) descends(n, from int32) bool {
	for range maxAncestors {
		if n == from || n == noSpan {
			break
		}
		n = x.spans[n].parent
	}
	return n == from
}

// keepNesting moves the start of a span that begins before its parent, and the end of one that ends after it, only
// because calibrate moved the two by different amounts. The inner one of two spans is then the one that starts later.
func (x *Index) keepNesting(all []facts) {
	order := slices.Clone(x.byID)
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(x.spans[a].depth, x.spans[b].depth), cmp.Compare(a, b))
	})
	for _, n := range order {
		p := x.spans[n].parent
		if p == noSpan || !all[n].wall || !all[p].wall {
			continue
		}
		f, o := &all[n], &all[p]
		if f.recordedFrom >= o.recordedFrom && f.from < o.from && o.from <= f.to {
			f.from = o.from
		}
		if f.recordedTo <= o.recordedTo && f.to > o.to && o.to >= f.from {
			f.to = o.to
		}
	}
}

// depth returns the number of ancestors of a span, at most maxAncestors.
func (x *Index) depth(n int32) (depth uint8) {
	for n = x.spans[n].parent; n != noSpan && depth < maxAncestors; n = x.spans[n].parent {
		depth++
	}
	return depth
}

// isPicked reports whether a span or one of its ancestors was selected.
func (x *Index) isPicked(n int32) bool {
	for range maxAncestors {
		if n == noSpan {
			break
		}
		if x.spans[n].picked {
			return true
		}
		n = x.spans[n].parent
	}
	return false
}

// showAncestors determines how long descendants show each span on the threads of its start and its end.
func (x *Index) showAncestors(all []facts) {
	for n := range all {
		all[n].shownUntil = all[n].from
	}
	for n := range all {
		f := &all[n]
		a := x.spans[n].parent
		for range maxAncestors {
			if a == noSpan {
				break
			}
			if f.started {
				all[a].show(f.start, f.from)
			}
			if f.ended {
				all[a].show(f.end, f.to)
			}
			a = x.spans[a].parent
		}
	}
}

// show records that a descendant of the span started or ended on a thread.
func (f *facts) show(on threadKey, at ntconv.Ticks) {
	if at < f.from || at > f.to {
		return
	}
	if f.started && on == f.start {
		f.shownUntil = max(f.shownUntil, at)
	}
	if f.ended && on == f.end && (!f.hasSince || at < f.shownSince) {
		f.shownSince, f.hasSince = at, true
	}
}
