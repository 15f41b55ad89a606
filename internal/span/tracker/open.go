package tracker

import (
	"fmt"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// An open span has begun and not ended. open creates it, and release discards it and reuses its memory. Members marked
// with an evidence are used only for spans with it.
type open struct {
	span.Span
	serial      uint64       // increases with each span; distinguishes spans that use the same memory, see ref
	first, last ntconv.Ticks // times of its first and latest event
	links       [numChains]link

	pair   *schema.Pair   // FromPair
	key    schema.PairKey // key of its list in Tracker.pairs
	paused int64          // FromRuntime: nanoseconds of the pauses that a garbage collection caused
	omit   bool           // belongs to an exporter that sends spans
	tasks  []*schema.Pair // FromLabels: Starts in the span without a Stop so far, outermost first
	begun  bool           // FromLabels: the span began with a Start event
	names  []nameCount    // FromLabels: number of its events by type
	under  ref            // FromLabels: span that was open on the thread of its first event
	parent span.ID        // FromLabels: ID of under
	ended  bool           // FromChrome: End is known; endComplete emits the span after it
	live   bool           // FromActivity: the Activity is open, and the decoder holds its data
}

// nameCount is the number of events of a type in a span.
type nameCount struct {
	r *role
	n int
}

// A ref refers to an open span. It stays valid when the span ends: get then returns nil, although the memory is reused.
type ref struct {
	o      *open
	serial uint64
}

func (o *open) ref() ref { return ref{o, o.serial} }

// get returns the span, or nil if it has ended.
func (r ref) get() *open {
	if r.o == nil || r.o.serial != r.serial {
		return nil
	}
	return r.o
}

// Chains of open spans. A span is in at most one list per chain.
const (
	chainAge      = iota // Tracker.byAge
	chainThread          // thread.open of the thread of its first event
	chainActivity        // Tracker.activities
	chainPair            // Tracker.pairs: FromPair
	numChains
)

// A list is a doubly linked list of open spans.
type list struct{ first, last *open }

type link struct {
	in         *list // nil if the span is in no list of the chain
	prev, next *open
}

func (l *list) push(o *open, chain int) {
	o.links[chain] = link{in: l, prev: l.last}
	if l.last != nil {
		l.last.links[chain].next = o
	} else {
		l.first = o
	}
	l.last = o
}

// unlink removes a span from its list of a chain. It returns the list if that is now empty, and otherwise nil.
func unlink(o *open, chain int) (empty *list) {
	k := o.links[chain]
	if k.in == nil {
		return nil
	}
	if k.prev != nil {
		k.prev.links[chain].next = k.next
	} else {
		k.in.first = k.next
	}
	if k.next != nil {
		k.next.links[chain].prev = k.prev
	} else {
		k.in.last = k.prev
	}
	o.links[chain] = link{}
	if k.in.first == nil {
		return k.in
	}
	return nil
}

// maxWalk limits how many spans of a list are examined per event, because untrusted input may keep any number of spans
// open.
const maxWalk = 64

type spanKey struct {
	process *ntconv.Process
	span.Context
}

type activityKey struct {
	process *ntconv.Process
	id      ntconv.GUID
}

// A thread is the state of a thread on which spans began.
type thread struct {
	open    list
	current ref            // span of its latest event with a span label
	soonest int64          // FromChrome: lower bound of the ends of spans with ended set, in nanoseconds since 1970
	waiting []span.Context // FromChrome: spans to which the next slice links
	numbers [2]numbering   // of spans without recorded IDs that began here: intervals of the runtime (1), others (0)
}

// A numbering distinguishes spans that begin at the same time: it assigns them consecutive numbers, starting with 0 for
// each later time.
type numbering struct {
	tick ntconv.Ticks // the latest time of a span
	next uint64
}

func (n *numbering) number(at ntconv.Ticks) uint64 {
	if at > n.tick { // not if time decreases, because it may return to tick
		n.tick, n.next = at, 0
	}
	n.next++
	return n.next - 1
}

// include makes later numbers differ from those of m for times up to that of m.
func (n *numbering) include(m numbering) {
	n.tick, n.next = max(n.tick, m.tick), max(n.next, m.next)
}

// stateOf returns the state of a thread, or nil if there is none.
func (t *Tracker) stateOf(th *ntconv.Thread) *thread {
	if th == t.lastThread && t.lastState != nil {
		return t.lastState
	}
	return t.threads[th]
}

// threadOf returns the state of a thread, and creates it if necessary.
func (t *Tracker) threadOf(th *ntconv.Thread) *thread {
	if th == t.lastThread && t.lastState != nil {
		return t.lastState
	}
	s := t.threads[th]
	if s == nil {
		s = &thread{numbers: t.removed, soonest: math.MaxInt64}
		t.threads[th] = s
	}
	t.lastThread, t.lastState = th, s
	return s
}

// removeThread discards the state of a thread. Spans that are open on it may end on another thread.
func (t *Tracker) removeThread(th *ntconv.Thread) {
	s := t.threads[th]
	if s == nil {
		return
	}
	for s.open.first != nil {
		unlink(s.open.first, chainThread)
	}
	for kind := range s.numbers {
		t.removed[kind].include(s.numbers[kind])
	}
	delete(t.threads, th)
	t.lastThread, t.lastState = nil, nil
}

// open opens a span for an event. It may evict another span.
func (t *Tracker) open(e *ntconv.Event, evidence span.Evidence, scope *span.Scope) *open {
	if t.count >= t.opts.MaxOpen {
		t.evict()
	}
	var o *open
	if n := len(t.free); n > 0 {
		o = t.free[n-1]
		t.free = t.free[:n-1]
	} else {
		o = new(open)
	}
	t.serial++
	o.serial = t.serial
	o.first, o.last = e.Time, e.Time
	o.Start, o.Scope, o.Evidence = t.unix(e.Time), scope, evidence
	o.Process, o.Thread, o.EndThread = recording.ProcessOf(e), e.Thread, e.Thread
	o.Kind = span.KindInternal
	t.byAge.push(o, chainAge)
	t.count++
	return o
}

// touch records that a span has an event, for its last time and for eviction.
func (t *Tracker) touch(o *open, e *ntconv.Event) {
	o.last = max(o.last, e.Time)
	if t.byAge.last != o {
		unlink(o, chainAge)
		t.byAge.push(o, chainAge)
	}
}

func (t *Tracker) putOnThread(o *open) {
	if o.Thread != nil {
		t.threadOf(o.Thread).open.push(o, chainThread)
	}
}

func (t *Tracker) putActivity(o *open, id ntconv.GUID) {
	o.Activity = id
	if id.IsZero() {
		return
	}
	key := activityKey{o.Process, id}
	l := t.activities[key]
	if l == nil {
		l = t.newList()
		t.activities[key] = l
	}
	l.push(o, chainActivity)
}

func (t *Tracker) putPair(o *open, key schema.PairKey) {
	l := t.pairs[key]
	if l == nil {
		l = t.newList()
		t.pairs[key] = l
	}
	o.key = key
	l.push(o, chainPair)
}

func (t *Tracker) newList() *list {
	if n := len(t.freeLists); n > 0 {
		l := t.freeLists[n-1]
		t.freeLists = t.freeLists[:n-1]
		return l
	}
	return new(list)
}

// hide removes a span from all lists and maps by which events find it. The span keeps its data until release.
func (t *Tracker) hide(o *open) {
	unlink(o, chainThread)
	if l := unlink(o, chainActivity); l != nil {
		delete(t.activities, activityKey{o.Process, o.Activity})
		t.freeLists = append(t.freeLists, l)
	}
	if o.Evidence == span.FromPair && o.links[chainPair].in != nil {
		t.pairsOpen--
	}
	if l := unlink(o, chainPair); l != nil {
		delete(t.pairs, o.key)
		t.freeLists = append(t.freeLists, l)
	}
	if o.Evidence == span.FromLabels || o.Evidence == span.FromActivity {
		if key := (spanKey{o.Process, o.Context}); t.byID[key] == o {
			delete(t.byID, key)
			t.remember(key)
		}
	}
}

// release discards a span. Its memory is reused if it is small.
func (t *Tracker) release(o *open) {
	t.hide(o)
	unlink(o, chainAge)
	t.count--
	if cap(o.Events) > maxKept || cap(o.Attributes) > maxKept || len(t.free) >= maxFree {
		o.serial = 0
		return
	}
	attributes, events, tasks, names := o.Attributes, o.Events[:cap(o.Events)], o.tasks[:0], o.names[:0]
	clear(attributes)
	for i := range events {
		a := events[i].Attributes
		clear(a)
		if cap(a) > maxKept/4 {
			a = nil
		}
		events[i] = span.Event{Attributes: a[:0]}
	}
	*o = open{Span: span.Span{Attributes: attributes[:0], Events: events[:0]}, tasks: tasks, names: names}
	t.free = append(t.free, o)
}

// Limits of the memory that is retained for reuse: spans, and attributes and events per span. Each event retains at
// most maxKept/4 attributes. In the worst case this is 13 MB.
const (
	maxFree = 128
	maxKept = 64
)

// evict ends the span without an event for the longest time.
func (t *Tracker) evict() {
	o := t.byAge.first
	switch {
	case o.live && len(o.Events) == 0: // no data is lost: the decoder holds the Activity and has its own limit
		t.release(o)
		return
	case t.counts.Evicted == 0:
		t.opts.Report.Note(
			ntconv.CodeNotCarried,
			1,
			-1,
			fmt.Sprintf(
				"spans ended early: more than %d were open at the same time; raise the limit of open spans",
				t.opts.MaxOpen,
			),
		)
	default:
		t.opts.Report.Add(ntconv.CodeNotCarried, 1, -1)
	}
	t.counts.Evicted++
	t.resolve(o, false)
	t.finish(o)
}

// unix converts a time to nanoseconds since 1970.
func (t *Tracker) unix(at ntconv.Ticks) uint64 { return uint64(t.clock.Unix(at)) }
