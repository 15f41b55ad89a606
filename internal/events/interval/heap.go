package interval

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/schema"
)

// A HeapEvent states what an event means for the garbage collections of its process.
type HeapEvent uint8

const (
	NoHeapEvent HeapEvent = iota
	CollectionBegin
	CollectionEnd
	SuspendBegin // a thread announces that it wants to suspend the runtime
	SuspendEnd   // the runtime is suspended
	RestartBegin
	RestartEnd
)

// HeapEventOf returns what events with a schema mean, and the name of the field whose value Heaps.Add needs, or "".
func HeapEventOf(s *schema.Schema) (e HeapEvent, field string) {
	if s.Provider != clr.Runtime {
		return NoHeapEvent, ""
	}
	switch s.ID {
	case 1:
		return CollectionBegin, "Count"
	case 2:
		return CollectionEnd, "Count"
	case 9:
		return SuspendBegin, "Reason"
	case 8:
		return SuspendEnd, ""
	case 7:
		return RestartBegin, ""
	case 3:
		return RestartEnd, ""
	}
	return NoHeapEvent, ""
}

// A Cut is the reason why an interval has no known begin or end.
type Cut uint8

const (
	CutEdge  Cut = iota // the recording or the thread began or ended in between
	CutLoss             // the recorder lost events
	CutOrder            // the end is earlier than the begin
	CutLimit            // too many intervals were open
	NumCuts
)

// A HeapUser receives suspensions and collections from within the methods of Heaps. It borrows all arguments.
type HeapUser[T any] interface {
	// Suspending receives a suspension that the current event begins. The user may set Data.
	Suspending(s *Suspension[T])
	// Collecting is Suspending for a collection. If In is set, and In.Owner is not, the collection began with In.
	Collecting(c *Collection[T])
	// Ending receives a collection that the current event ends, before its pause is known.
	Ending(c *Collection[T])
	// Resumed receives a suspension that the current event ends, and the collections to which parts of it belong.
	Resumed(s *Suspension[T], of []*Collection[T])
	// Collected receives a collection that has ended, as has its pause.
	Collected(c *Collection[T])
	// CutSuspension and CutCollection receive those whose end is unknown. A collection may have been paused before.
	CutSuspension(s *Suspension[T], reason Cut)
	CutCollection(c *Collection[T], reason Cut)
	// Unmatched notes that the current event ends a collection that has not begun.
	Unmatched()
}

// Heaps divides the suspensions of the runtime among the garbage collections of each process. T is what its user keeps
// of a suspension or a collection. It is not safe for concurrent use.
//
// A pause is a suspension for a collection: it lasts from the begin of the suspension to the end of the restart. Other
// reasons suspend the runtime, too: the sample profiler does for every sample. A collection lasts from its begin to the
// end with the same number.
//
// Only one thread at a time can suspend the runtime. But a thread announces its suspension before it waits for the
// thread that suspends the runtime now, and announces the end of the restart when the next thread may already have
// suspended it. Suspensions therefore belong to threads. A background collection may restart the runtime on another
// thread than the one that suspended it. The runtime does not announce all suspensions of the sample profiler.
//
// In a suspension, several collections may begin: a background collection begins with a collection of the youngest
// generations. At any time, the pause belongs to the collection that began last in the suspension and has not ended.
// The time before the first collection belongs to that one. If none begins, the pause belongs to the background
// collection that runs.
type Heaps[T any] struct {
	clock       ntconv.Clock
	user        HeapUser[T]
	heaps       map[*ntconv.Process]*heap[T]
	order       []*heap[T]       // the same heaps
	last        *heap[T]         // of the latest event
	suspensions []*Suspension[T] // not in use
	collections []*Collection[T] // not in use
	paused      []*Collection[T] // argument of Resumed
}

// A heap is the state of the garbage collections of a process.
type heap[T any] struct {
	process     *ntconv.Process
	suspensions Open[*ntconv.Thread, *Suspension[T]] // announced
	active      *Suspension[T]                       // the one that has suspended the runtime, if it is for a collection
	restarting  *ntconv.Thread                       // restarts the runtime after active, if it is another thread
	running     []*Collection[T]                     // oldest first: not ended, or waiting for the end of their pause
}

// A Suspension is a time for which the runtime is suspended.
type Suspension[T any] struct {
	Data       T
	Thread     *ntconv.Thread
	Begin, End ntconv.Ticks
	Reason     uint64
	// Owner is the collection to which the pause belongs now, and in Resumed at its end. It is nil if that is unknown.
	Owner *Collection[T]
	mark  ntconv.Ticks // the pause before has been added to a collection
	rest  int64        // of the pause before mark, the part whose collection was cut
	begun *Begun[*ntconv.Thread, *Suspension[T]]
}

// IsPause reports whether the suspension is for a collection.
func (s *Suspension[T]) IsPause() bool { return clr.SuspendsForGC(s.Reason) }

// Unowned returns the nanoseconds of a pause that belong to no collection. Call it in Resumed.
func (m *Heaps[T]) Unowned(s *Suspension[T]) int64 {
	return bin.AddClamped(s.rest, Nanos(m.clock, s.mark, s.End))
}

// A Collection is a garbage collection that has begun.
type Collection[T any] struct {
	Data   T
	Number uint64
	End    ntconv.Ticks
	Paused int64          // nanoseconds of the pauses that have ended
	In     *Suspension[T] // in which it runs, or nil
	// Unknown means that the trace does not contain all of its pauses.
	Unknown bool
	begin   ntconv.Ticks
	pause   int64 // of In
	ended   bool
}

// maxCollections limits heap.running. At most one background and one foreground collection run at the same time.
const maxCollections = 4

// NewHeaps returns a Heaps for a trace with a clock.
func NewHeaps[T any](clock ntconv.Clock, user HeapUser[T]) *Heaps[T] {
	return &Heaps[T]{clock: clock, user: user, heaps: map[*ntconv.Process]*heap[T]{}}
}

// Add processes an event, which it borrows. field is the value of the field that HeapEventOf names. Call it in time
// order.
func (m *Heaps[T]) Add(what HeapEvent, e *ntconv.Event, field ntconv.Value) {
	h := m.heapOf(e.Thread)
	switch what {
	case SuspendBegin:
		m.suspend(h, e, field.Uint())
	case SuspendEnd:
		h.active, h.restarting = nil, nil
		if s := h.of(e.Thread); s != nil && s.IsPause() {
			h.active = s
		}
	case RestartBegin:
		if h.of(e.Thread) == nil && h.active != nil {
			h.restarting = e.Thread
		}
	case RestartEnd:
		m.restart(h, e)
	case CollectionBegin:
		m.begin(h, e, field.Uint())
	case CollectionEnd:
		m.end(h, e, field.Uint())
	}
}

func (m *Heaps[T]) heapOf(t *ntconv.Thread) *heap[T] {
	var p *ntconv.Process
	if t != nil {
		p = t.Process
	}
	if m.last != nil && m.last.process == p {
		return m.last
	}
	h := m.heaps[p]
	if h == nil {
		h = &heap[T]{process: p, suspensions: NewOpen[*ntconv.Thread, *Suspension[T]]()}
		m.heaps[p] = h
		m.order = append(m.order, h)
	}
	m.last = h
	return h
}

// of returns the suspension of a thread, or nil.
func (h *heap[T]) of(t *ntconv.Thread) *Suspension[T] {
	if b := h.suspensions.Latest(t); b != nil {
		return b.Data
	}
	return nil
}

// suspend begins a suspension. The end of an earlier one of the thread is not in the trace.
func (m *Heaps[T]) suspend(h *heap[T], e *ntconv.Event, reason uint64) {
	if old := h.of(e.Thread); old != nil {
		m.discard(h, old, CutLoss)
	}
	s := take(&m.suspensions)
	*s = Suspension[T]{Thread: e.Thread, Begin: e.Time, mark: e.Time, Reason: reason}
	s.begun = h.suspensions.Begin(e.Thread, nil, s)
	m.user.Suspending(s)
}

// restart ends the suspension of a thread, or the one that it took over.
func (m *Heaps[T]) restart(h *heap[T], e *ntconv.Event) {
	s := h.of(e.Thread)
	if s == nil && h.restarting == e.Thread {
		s = h.active
	}
	switch {
	case s == nil:
	case e.Time < s.mark:
		m.discard(h, s, CutOrder)
	default:
		s.End = e.Time
		m.resume(h, s)
	}
}

// resume ends a suspension, and the collections that waited for its end.
func (m *Heaps[T]) resume(h *heap[T], s *Suspension[T]) {
	m.paused = m.paused[:0]
	if s.IsPause() {
		for i := len(h.running) - 1; i >= 0 && s.Owner == nil; i-- {
			if c := h.running[i]; c.In == nil && !c.Unknown {
				s.Owner = c
			}
		}
		m.charge(s, s.End)
		for _, c := range h.running {
			if c.In == s || c == s.Owner {
				c.Paused = bin.AddClamped(c.Paused, c.pause)
				c.In, c.pause, c.End = nil, 0, s.End
				m.paused = append(m.paused, c)
			}
		}
	}
	m.user.Resumed(s, m.paused)
	for _, c := range m.paused {
		if c.ended {
			m.collect(h, c)
		}
	}
	m.remove(h, s)
}

// charge adds the pause of a suspension that belongs to no collection yet to its owner.
func (m *Heaps[T]) charge(s *Suspension[T], now ntconv.Ticks) {
	if s.Owner != nil && now >= s.mark {
		s.Owner.pause = bin.AddClamped(s.Owner.pause, bin.AddClamped(s.rest, Nanos(m.clock, s.mark, now)))
		s.mark, s.rest = now, 0
	}
}

// begin begins a collection.
func (m *Heaps[T]) begin(h *heap[T], e *ntconv.Event, number uint64) {
	if len(h.running) == maxCollections {
		m.drop(h, h.running[0], CutLimit)
	}
	c := take(&m.collections)
	*c = Collection[T]{Number: number, begin: e.Time, In: h.current(e.Thread)}
	c.Unknown = c.In == nil
	m.user.Collecting(c)
	h.running = append(h.running, c)
	if c.In != nil {
		m.charge(c.In, e.Time)
		c.In.Owner = c
	}
}

// current returns the pause in which a thread collects garbage, or nil.
func (h *heap[T]) current(t *ntconv.Thread) *Suspension[T] {
	if s := h.of(t); s != nil && s.IsPause() {
		return s
	}
	return h.active
}

// end ends the latest collection with a number.
func (m *Heaps[T]) end(h *heap[T], e *ntconv.Event, number uint64) {
	i := len(h.running) - 1
	for i >= 0 && (h.running[i].Number != number || h.running[i].ended) {
		i--
	}
	if i < 0 {
		m.user.Unmatched()
		return
	}
	c := h.running[i]
	c.ended, c.End = true, max(e.Time, c.begin)
	m.user.Ending(c)
	s := c.In
	if s == nil {
		if s = h.active; s == nil || s.Owner != nil || c.Unknown {
			m.collect(h, c)
			return
		}
		s.Owner, c.In = c, s // the suspension at the end of a background collection
	}
	if s.Owner != c {
		return
	}
	for _, outer := range slices.Backward(h.running[:i]) {
		if outer.In == s && !outer.ended {
			m.charge(s, e.Time)
			s.Owner = outer
			return
		}
	}
}

// collect completes a collection that has ended.
func (m *Heaps[T]) collect(h *heap[T], c *Collection[T]) {
	m.user.Collected(c)
	m.forget(h, c)
}

// drop ends a collection whose duration is unknown.
func (m *Heaps[T]) drop(h *heap[T], c *Collection[T], reason Cut) {
	if c.In != nil {
		c.In.rest = bin.AddClamped(c.In.rest, c.pause)
	}
	m.user.CutCollection(c, reason)
	m.forget(h, c)
}

// forget removes a collection.
func (m *Heaps[T]) forget(h *heap[T], c *Collection[T]) {
	h.running = slices.DeleteFunc(h.running, func(other *Collection[T]) bool { return other == c })
	if c.In != nil && c.In.Owner == c {
		c.In.Owner = nil
	}
	*c = Collection[T]{}
	m.collections = append(m.collections, c)
}

// discard ends a suspension whose duration is unknown. The pauses of the collections in it are unknown, too.
func (m *Heaps[T]) discard(h *heap[T], s *Suspension[T], reason Cut) {
	m.user.CutSuspension(s, reason)
	for i := len(h.running) - 1; i >= 0; i-- {
		c := h.running[i]
		if c.In != s {
			continue
		}
		if c.In, c.pause, c.Unknown = nil, 0, true; c.ended {
			m.collect(h, c)
		}
	}
	m.remove(h, s)
}

// remove removes a suspension.
func (m *Heaps[T]) remove(h *heap[T], s *Suspension[T]) {
	h.suspensions.Remove(s.begun)
	if h.active == s {
		h.active, h.restarting = nil, nil
	}
	*s = Suspension[T]{}
	m.suspensions = append(m.suspensions, s)
}

// Lost notes that events of a capture thread are missing. The collections of the process that run now may have pauses
// that are not in the trace.
func (m *Heaps[T]) Lost(capture *ntconv.Thread) {
	if capture == nil || m.heaps[capture.Process] == nil {
		return
	}
	h := m.heaps[capture.Process]
	m.interrupt(h, capture, CutLoss)
	for _, c := range h.running {
		c.Unknown = true
	}
}

// Removed notes that threads have exited. It borrows list.
func (m *Heaps[T]) Removed(list []ntconv.ThreadSeq) {
	for i := range list {
		if t := list[i].Thread; t != nil && m.heaps[t.Process] != nil {
			m.interrupt(m.heaps[t.Process], t, CutEdge)
		}
	}
}

// interrupt ends the suspension of a thread.
func (m *Heaps[T]) interrupt(h *heap[T], t *ntconv.Thread, reason Cut) {
	if s := h.of(t); s != nil {
		m.discard(h, s, reason)
	}
}

// Finish ends all suspensions and collections at the end of the trace.
func (m *Heaps[T]) Finish() {
	for _, h := range m.order {
		for b := h.suspensions.Oldest(); b != nil; b = h.suspensions.Oldest() {
			m.discard(h, b.Data, CutEdge)
		}
		for len(h.running) > 0 {
			m.drop(h, h.running[0], CutEdge)
		}
	}
}

// take returns an unused element of a list, or a new one.
func take[T any](list *[]*T) *T {
	if n := len(*list); n > 0 {
		last := (*list)[n-1]
		*list = (*list)[:n-1]
		return last
	}
	return new(T)
}
