package meters

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// sliceSpecs returns the kind of nested slices and spans.
func sliceSpecs() []Spec {
	return []Spec{{
		Kind:    sample.Slices,
		Columns: []Column{counted("slices"), nanos("time")},
		main:    1,
		Tags:    []string{LabelCategory, LabelAsync},
		Subject: noSubject,
		crosses: true,
		Bare:    true,
		Totals:  true,
		Meter:   newSliceMeter,
	}}
}

// A sliceMeter turns slices and spans into samples: the stack of a slice is the names of the slices around it, and its
// value is its own time, without that of the slices in it. A tracker finds the slices and their parents.
//
//	slice of a thread   begin -> threadSlices.add    emit -> threadSlices.end -> sample
//	any other span      begin                        emit -> asyncSlices.held -> resolve -> sample
//
// Time of a thread belongs to exactly one slice, so the values of a thread add up to the time that its slices cover. The
// time of other spans is what no child of theirs covers, so it adds up to more if several were open at a time.
type sliceMeter struct {
	c     *Collector
	spans *tracker.Tracker
	base  int64    // nanoseconds since 1970 at clock.Tick, as the tracker counts
	r     *reading // the current event, nil at the end of the trace

	open    map[span.Context]*slice
	threads map[*ntconv.Thread]*threadSlices
	async   asyncSlices
	paths   slicePaths
	overlap coverage // of the samples of async slices
	free    []*slice
}

// A slice is a slice or span that has no sample so far.
type slice struct {
	*Place
	key, parent    span.Context
	of             *span.Span // of a slice of a thread, until it is emitted
	name, category string
	start, end     int64 // nanoseconds since 1970; end is unknownEnd until it is known
	path           *slicePath

	thread      *threadSlices // nil for an async slice
	number      uint64        // in the order of their begins
	time        int64         // of a slice of a thread: its own, so far
	done, spent bool          // see recycle

	// Of an async slice:
	covered, until int64 // the time that its children cover, up to until
	batch          int   // asyncSlices.batch when it ended
	lost           bool  // its end is unknown
}

const unknownEnd = math.MaxInt64

func newSliceMeter(c *Collector) meter {
	m := &sliceMeter{
		c: c, open: map[span.Context]*slice{}, threads: map[*ntconv.Thread]*threadSlices{}, paths: newSlicePaths(),
	}
	if !c.clock.Wall.IsZero() {
		m.base = c.clock.Wall.UnixNano()
	}
	m.spans = tracker.New(&ntconv.Info{Clock: c.clock}, m.emit, &tracker.Options{
		Sources: operation.Activities | operation.Pairs | operation.Imported | operation.Chrome, Began: m.begin,
		Unfinished: tracker.OpenUnfinished, NoEvents: true, SerialIDs: true, MaxOpen: maxIntervals,
	})
	return m
}

func (m *sliceMeter) input(*schema.Schema) (uint8, []string) {
	switch begin, end := m.spans.Bounds(m.c.event); {
	case begin:
		return roleBegins, nil
	case end:
		return RoleEnds, nil
	}
	return 0, nil
}

func (m *sliceMeter) see(r *reading) {
	m.r = r
	m.spans.Add(r.Event)
	m.r = nil
}

// ticks returns the time of the first tick at or after a time in nanoseconds since 1970.
func (m *sliceMeter) ticks(at int64) ntconv.Ticks {
	return m.c.clock.TicksAt(time.Duration(bin.SubClamped(at, m.base)))
}

// begin implements tracker.Options.Began.
func (m *sliceMeter) begin(s *span.Span) {
	if !isTotal(s) && len(m.open) < maxSlices {
		m.hold(s)
	}
}

// maxSlices bounds the slices that are open at a time: those of the tracker, and of its decoder of Activities.
const maxSlices = 2 * maxIntervals

// take returns an empty slice, if possible in the memory of an earlier one of a thread.
func (m *sliceMeter) take() *slice {
	last := len(m.free) - 1
	if last < 0 {
		return new(slice)
	}
	n := m.free[last]
	m.free = m.free[:last]
	return n
}

// hold opens a slice at the current event.
func (m *sliceMeter) hold(s *span.Span) *slice {
	n := m.take()
	*n = slice{
		Place: m.c.holdAt(m.r, m.ticks(int64(s.Start))), key: keyOf(s, s.ID), parent: keyOf(s, s.ParentID),
		name: s.Name, category: s.Scope.Name, start: int64(s.Start), end: unknownEnd,
	}
	n.Place.process, n.Labels, n.Stack, n.Epoch = s.Process, nil, nil, 0
	m.open[n.key] = n
	if s.Evidence == span.FromChrome && s.Thread != nil && m.spans.AsyncSlice() != s.Context {
		n.of = s
		if s.End != 0 {
			n.end = int64(s.End)
		}
		m.threadOf(s.Thread).add(m, n)
		return n
	}
	n.Thread, n.async, n.until = nil, true, math.MinInt64
	return n
}

// keyOf returns the key of a span with an ID in the trace of s. The trace of a slice changes if a later slice turns out
// to enclose it.
func keyOf(s *span.Span, id span.ID) span.Context {
	if s.Evidence == span.FromChrome {
		return span.Context{ID: id}
	}
	return span.Context{TraceID: s.TraceID, ID: id}
}

// emit receives a span of the tracker that has ended, or whose end is unknown.
func (m *sliceMeter) emit(s *span.Span) {
	n := m.open[keyOf(s, s.ID)]
	if n == nil {
		if m.r == nil || isTotal(s) || len(m.open) >= maxSlices {
			return
		}
		n = m.hold(s) // its begin is not recorded
	}
	unknown := s.Unfinished || s.Evidence == span.FromOTLP && s.End == 0
	byEvent := n.end == unknownEnd && m.r != nil // the current event is its end
	n.parent.ID, n.name = s.ParentID, s.Name
	switch {
	case n.thread != nil && unknown:
		m.lose(n)
	case n.thread != nil:
		n.end = int64(s.End)
		n.thread.end(m, n)
		m.complete(n, n.time, byEvent)
	default:
		m.forget(n)
		if n.end, n.lost = max(int64(s.End), n.start), unknown; unknown {
			n.end = n.start
		} else if byEvent {
			m.c.involve(n.Place)
		}
		m.holdAsync(n)
	}
}

// complete emits the sample of a slice. byEvent means that the current event ends it.
func (m *sliceMeter) complete(n *slice, own int64, byEvent bool) {
	n.Stack = m.pathOf(n).frames()
	o := m.c.observation()
	o.Values[0], o.Values[1] = 1, own
	o.tag(0, n.category)
	if n.async {
		o.tag(1, "yes")
	}
	if end := m.ticks(n.end); byEvent {
		m.c.emit(n.Place, end)
	} else {
		m.c.complete(n.Place, end).alone = true
	}
	m.forget(n)
}

// lose ends a slice of a thread without a sample, because its end is unknown.
func (m *sliceMeter) lose(n *slice) {
	n.thread.lose(m, n)
	reason := cutEdge
	if m.r != nil {
		reason = cutLimit
	}
	m.c.drop(n.Place, reason)
	m.forget(n)
}

func (m *sliceMeter) forget(n *slice) {
	if m.open[n.key] == n {
		delete(m.open, n.key)
	}
	n.of, n.done = nil, true
	m.recycle(n)
}

// recycle allows a slice of a thread to be used again, once it has a sample and its thread has no time for it.
func (m *sliceMeter) recycle(n *slice) {
	if n.done && n.spent {
		m.free = append(m.free, n)
	}
}

// isTotal reports whether a slice is one of those that clang -ftime-trace adds for the totals of its slices by name. They
// are on threads of their own and repeat the time of the others.
func isTotal(s *span.Span) bool {
	if s.Evidence != span.FromChrome || !strings.HasPrefix(s.Name, "Total ") {
		return false
	}
	count, average := false, false
	for i := range s.Attributes {
		count = count || s.Attributes[i].Key == "count"
		average = average || s.Attributes[i].Key == "avg ms"
	}
	return count && average
}

// Lost implements meter.
func (m *sliceMeter) lost(*ntconv.Thread) {}

// Removed implements meter.
func (m *sliceMeter) removed(list []ntconv.ThreadSeq) {
	m.spans.Add(&ntconv.Event{Kind: ntconv.KindMark, Mark: &ntconv.Mark{Kind: ntconv.MarkThreadsRemoved, Threads: list}})
	for i := range list {
		if t := m.threads[list[i].Thread]; t != nil && len(t.open) == 0 {
			delete(m.threads, list[i].Thread)
		}
	}
}

// Finish implements meter.
func (m *sliceMeter) finish() {
	m.spans.Finish()
	m.resolve(true)
	for _, n := range m.open { // without a valid ID, so the tracker has not emitted them
		m.c.drop(n.Place, cutEdge)
	}
}

// accepted implements accepter: it notes the time of a sample of an async slice.
func (m *sliceMeter) accepted(f *Finished) {
	if f.async {
		m.overlap.add(f.Time, f.End, f.Values[1])
	}
}

// remark implements accepter: it says how much time the async slices took if they add up to more.
func (m *sliceMeter) remark() string {
	took := m.overlap.took(m.c.clock)
	if m.overlap.sum <= took {
		return ""
	}
	return fmt.Sprintf("asynchronous slices and spans: %s in %s, because several were open at a time",
		message.Duration(time.Duration(m.overlap.sum)), message.Duration(time.Duration(took)))
}
