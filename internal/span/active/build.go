package active

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// A build is what the index knows about spans until it is finished.
type build struct {
	facts []facts
}

// facts are where and when a span was recorded. Times are ticks of the trace's clock.
type facts struct {
	parent      span.ID
	from, to    ntconv.Ticks // both inclusive
	start, end  threadKey    // threads of the first and the last event
	activity    ntconv.GUID
	started     bool // the start was recorded on the thread start; otherwise start is that of the end
	ended       bool
	onThreads   bool         // the threads are known
	wall        bool         // from and to are on the wall clock
	endEvent    ntconv.Ticks // of a span with wall: when the event of its end was recorded
	shownUntil  ntconv.Ticks // the last time that descendants show the span on the thread start
	shownSince  ntconv.Ticks // the first time that descendants show the span on the thread end
	hasSince    bool
	evidenceFor span.Evidence
}

// add notes what the tracker reports about the span n.
func (b *build) add(x *Index, n int32, s *span.Span) {
	f := facts{parent: s.ParentID, activity: s.Activity, ended: !s.Unfinished, evidenceFor: s.Evidence}
	process := x.spans[n].process
	f.from, f.to = x.ticks(s.Start), x.ticks(s.End)
	if s.End == 0 {
		f.ended, f.to = false, math.MaxInt64
	}
	if known(s.Thread) && known(s.EndThread) && s.Evidence != span.FromOTLP {
		f.onThreads = true
		f.start, f.end = threadKey{process, s.Thread.TID}, threadKey{process, s.EndThread.TID}
	}
	if s.Evidence == span.FromActivity && f.ended && x.event != nil {
		f.wall, f.endEvent = true, x.event.Time
	}
	b.facts = append(b.facts, f)
}

func known(t *ntconv.Thread) bool { return t != nil && t.TID != ntconv.TIDUnknown }

// ticks converts a time of a span.
func (x *Index) ticks(nanos uint64) ntconv.Ticks {
	base := int64(0)
	if !x.clock.Wall.IsZero() {
		base = x.clock.Wall.UnixNano()
	}
	d := int64(nanos) - base
	if int64(nanos) < 0 && base > 0 && d > 0 { // it overflowed
		d = math.MinInt64
	}
	return x.clock.TicksAt(time.Duration(d))
}

// resolve makes the tables of the index from the facts.
func (x *Index) resolve() {
	b := x.build
	for n := range b.facts {
		f := &b.facts[n]
		f.started = f.evidenceFor != span.FromActivity || x.starts.seen[x.spans[n].process]
	}
	x.calibrate(b.facts)
	x.sortIDs()
	x.findParents(b.facts)
	for n := range x.spans {
		x.spans[n].depth = x.depth(int32(n))
		x.spans[n].picked = x.isPicked(int32(n))
	}
	x.showAncestors(b.facts)
	x.makeTimelines(b.facts)
	x.sortActivities(b.facts)
}

// neighbors is how many Activities that ended before and after one are compared with it.
const neighbors = 15

// late is how long after the end of an Activity its event may be recorded without the Activity having explicit times: the first event
// of a process takes that long.
const late = 50 * time.Millisecond

// calibrate moves times on the wall clock to the clock of the trace. The difference is the median over neighboring Activities, so
// Activities with explicit times, and events that were recorded late, do not matter.
func (x *Index) calibrate(all []facts) {
	var order []int32
	for n := range all {
		if all[n].wall {
			order = append(order, int32(n))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(x.spans[a].process, x.spans[b].process), cmp.Compare(all[a].endEvent, all[b].endEvent), cmp.Compare(a, b))
	})
	moves := make([]ntconv.Ticks, len(order))
	var window []ntconv.Ticks
	for i, n := range order {
		window = window[:0]
		for _, m := range order[max(0, i-neighbors):min(len(order), i+neighbors+1)] {
			if x.spans[m].process == x.spans[n].process {
				window = append(window, minus(all[m].endEvent, all[m].to))
			}
		}
		slices.Sort(window)
		moves[i] = window[(len(window)-1)/2]
	}
	slack := ntconv.Clock{Freq: x.clock.Freq}.TicksAt(late)
	for i, n := range order {
		f := &all[n]
		f.from, f.to = plus(f.from, moves[i]), plus(f.to, moves[i])
		if f.to > f.endEvent || minus(f.endEvent, f.to) <= slack {
			f.to = f.endEvent
		}
	}
}

// minus returns a-b, or the nearest value that a Ticks can hold.
func minus(a, b ntconv.Ticks) ntconv.Ticks {
	d := a - b
	switch {
	case b > 0 && d > a:
		return math.MinInt64
	case b < 0 && d < a:
		return math.MaxInt64
	}
	return d
}

// plus returns a+b, or the nearest value that a Ticks can hold.
func plus(a, b ntconv.Ticks) ntconv.Ticks {
	s := a + b
	switch {
	case b > 0 && s < a:
		return math.MaxInt64
	case b < 0 && s > a:
		return math.MinInt64
	}
	return s
}

// sortIDs makes the index by span ID.
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
	return cmp.Or(cmp.Compare(s.process, process), bytes.Compare(s.ID[:], c.ID[:]), bytes.Compare(s.TraceID[:], c.TraceID[:]))
}

// find returns the first span with these IDs. If the trace ID is zero, any trace matches.
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

// maxAncestors is how many ancestors of a span are considered. Parents in a trace are not trusted: they may form a cycle.
const maxAncestors = 64

// descends reports whether a span is another one or a descendant of it.
func (x *Index) descends(n, from int32) bool {
	for range maxAncestors {
		if n == from || n == noSpan {
			break
		}
		n = x.spans[n].parent
	}
	return n == from
}

// depth returns the number of ancestors of a span.
func (x *Index) depth(n int32) (depth uint8) {
	for n = x.spans[n].parent; n != noSpan && depth < maxAncestors; n = x.spans[n].parent {
		depth++
	}
	return depth
}

// isPicked reports whether a span or an ancestor was selected.
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

// showAncestors finds out how long descendants show each span on the threads of its start and its end.
func (x *Index) showAncestors(all []facts) {
	for n := range all {
		all[n].shownUntil = all[n].from
	}
	for n := range all {
		f := &all[n]
		if !f.onThreads {
			continue
		}
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

// show notes that a descendant of the span started or ended on a thread.
func (f *facts) show(on threadKey, at ntconv.Ticks) {
	if at < f.from || at > f.to {
		return
	}
	if on == f.start {
		f.shownUntil = max(f.shownUntil, at)
	}
	if on == f.end && (!f.hasSince || at < f.shownSince) {
		f.shownSince, f.hasSince = at, true
	}
}
