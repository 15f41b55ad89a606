package tracker

import (
	"fmt"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// An open span is one that has begun and not ended.
type open struct {
	span.Span
	serial      uint64 // counts the spans that were opened: it identifies a span among those that use the same memory
	first, last ntconv.Ticks
	links       [numChains]link

	pair   *schema.Pair   // FromPair
	key    schema.PairKey // of the list of chainPair
	bound  *interval      // FromRuntime
	paused int64          // FromRuntime: nanoseconds of pauses that a garbage collection caused
	held   bool           // FromRuntime: it has ended, and is passed on when the pause ends
	gcs    []ref          // FromRuntime: garbage collections that a pause holds
	omit   bool           // it belongs to an exporter that sends spans
	tasks  []*schema.Pair // FromLabels: the Starts in it that have no Stop yet, the outermost first
	begun  bool           // FromLabels: a Start event was the first of tasks
	names  []nameCount    // FromLabels: its events by type
	under  ref            // FromLabels: the span that was open on the thread of its first event
	parent span.ID        // FromLabels: the ID of under
	ended  bool           // FromChrome: End is known, and the span is passed on when it is over
	live   bool           // FromActivity: the Activity is open, and its data are those of the decoder
}

// nameCount is how many events of a type a span has.
type nameCount struct {
	r *role
	n int
}

// A ref is an open span, or one that was open.
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

// Chains that an open span is in.
const (
	chainAge      = iota // Tracker.byAge
	chainThread          // thread.open: of the thread of its first event
	chainActivity        // Tracker.activities
	chainPair            // Tracker.pairs: FromPair by process, FromRuntime by key
	numChains
)

// A list is a chain of open spans. A span is in one list of each kind at most.
type list struct{ first, last *open }

type link struct {
	in         *list // nil if it is in none
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

// unlink removes a span from its list of that kind and returns the list if it is empty now.
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

// maxWalk limits how many spans of a list are looked at for one event: untrusted input may have any number of them
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

// A thread is what is known of a thread that spans began on.
type thread struct {
	open    list
	current ref            // the span of its latest event with labels of a span
	soonest int64          // FromChrome: no span that has ended ends before, in nanoseconds since 1970
	waiting []span.Context // FromChrome: the spans that the next one links to
	numbers [2]numbering   // of the spans that began here and have no recorded ID: pairs, and intervals of the runtime
}

// A numbering distinguishes spans that begin at one time: each gets another number. Spans of later times begin with 0
// again.
type numbering struct {
	tick ntconv.Ticks // the latest time of a span
	next uint64
}

func (n *numbering) number(at ntconv.Ticks) uint64 {
	if at > n.tick { // not if time goes back, because it may return to tick
		n.tick, n.next = at, 0
	}
	n.next++
	return n.next - 1
}

// include makes the numbers up to the time of m distinct from those of m.
func (n *numbering) include(m numbering) {
	n.tick, n.next = max(n.tick, m.tick), max(n.next, m.next)
}

// stateOf returns what is known of a thread, nil if nothing is.
func (t *Tracker) stateOf(th *ntconv.Thread) *thread {
	if th == t.lastThread && t.lastState != nil {
		return t.lastState
	}
	return t.threads[th]
}

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

// removeThread discards what is known of a thread. Spans that are open on it may end on another one.
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

func processOf(e *ntconv.Event) *ntconv.Process {
	if e.Thread == nil {
		return nil
	}
	return e.Thread.Process
}

// open begins a span with an event.
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
	o.Process, o.Thread, o.EndThread = processOf(e), e.Thread, e.Thread
	o.Kind = span.KindInternal
	t.byAge.push(o, chainAge)
	t.count++
	return o
}

// touch notes that a span has an event.
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

// hide removes a span from everything by which events find it. The span keeps its data until release.
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

// release gives the memory of a span back.
func (t *Tracker) release(o *open) {
	t.hide(o)
	unlink(o, chainAge)
	t.count--
	if cap(o.Events) > maxKept || cap(o.Attributes) > maxKept || len(t.free) >= maxFree {
		o.serial = 0
		return
	}
	attributes, events, tasks, names, gcs := o.Attributes, o.Events[:cap(o.Events)], o.tasks[:0], o.names[:0], o.gcs[:0]
	clear(attributes)
	for i := range events {
		a := events[i].Attributes
		clear(a)
		if cap(a) > maxKept/4 {
			a = nil
		}
		events[i] = span.Event{Attributes: a[:0]}
	}
	*o = open{Span: span.Span{Attributes: attributes[:0], Events: events[:0]}, tasks: tasks, names: names, gcs: gcs}
	t.free = append(t.free, o)
}

// Limits on the memory of ended spans that is reused: spans, and attributes and events of each. Each event has at most
// a quarter of maxKept attributes. In the worst case this is 13 MB.
const (
	maxFree = 128
	maxKept = 64
)

// evict ends the span that has had no event for the longest time.
func (t *Tracker) evict() {
	o := t.byAge.first
	switch {
	case o.live && len(o.Events) == 0: // the decoder of Activities has a limit of its own: this only is live knowledge
		t.release(o)
		return
	case t.counts.Evicted == 0:
		t.opts.Report.Note(
			ntconv.CodeNotCarried,
			1,
			-1,
			fmt.Sprintf(
				"spans ended early: more than %d were open at a time; raise the limit on open spans",
				t.opts.MaxOpen,
			),
		)
	default:
		t.opts.Report.Add(ntconv.CodeNotCarried, 1, -1)
	}
	t.counts.Evicted++
	t.resolve(o, false)
	t.emitHeld(o)
	t.finish(o)
}

// unix returns a time as nanoseconds since 1970.
func (t *Tracker) unix(at ntconv.Ticks) uint64 {
	n := t.clock.Nanos(at)
	sum := t.base + n
	switch { // a time that the clock can state may be beyond 64 bits of nanoseconds
	case n > 0 && sum < t.base:
		return 1<<63 - 1
	case n < 0 && sum > t.base:
		return 1 << 63
	}
	return uint64(sum)
}
