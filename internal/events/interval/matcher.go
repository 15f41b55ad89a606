package interval

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/schema"
)

// A User receives intervals from within the methods of a Matcher. It borrows all arguments. The methods of HeapUser are
// called for collections and suspensions, the others for all other pairs.
type User[T any] interface {
	HeapUser[T]
	// Begin receives an event that begins an interval, and returns what the user keeps of it.
	Begin(e *ntconv.Event, b *Bound) T
	// End receives the event that ends an interval.
	End(e *ntconv.Event, data T)
	// Cut receives an interval whose end is unknown.
	Cut(data T, reason Cut)
	// Alone receives an event that ends an interval that has not begun, unless such events are normal.
	Alone(e *ntconv.Event, b *Bound)
}

// A Matcher matches the events that begin and end intervals. Its memory is proportional to the number of open
// intervals. T is what its user keeps of an interval. It is not safe for concurrent use.
type Matcher[T any] struct {
	heaps   *Heaps[T]
	user    User[T]
	open    Open[schema.PairKey, entry[T]]
	opts    MatcherOptions
	process []*schema.Pair // with KeyProcess
}

// MatcherOptions configures a Matcher.
type MatcherOptions struct {
	// Wants reports whether intervals of an operation are matched. It must return the same for all collections and
	// suspensions, because they depend on each other.
	Wants   func(*operation.Operation) bool
	MaxOpen int // maximum number of open intervals; if it is exceeded, the oldest one is cut
}

// An entry is what a Matcher keeps of an interval.
type entry[T any] struct {
	begin   ntconv.Ticks
	capture *ntconv.Thread
	data    T
}

// A Role states what the events of a schema begin and end. It is immutable.
type Role struct {
	heap         HeapEvent
	field        *schema.Projection // of the field for Heaps.Add; nil if there is none
	begins, ends []Bound
}

// A Bound is the begin or the end of an interval, as events with one schema show it. It is immutable.
type Bound struct {
	Pair *schema.Pair
	Of   *operation.Operation
	key  *schema.Projection // of the field that begin and end share; nil if there is none
}

// NewMatcher returns a Matcher for a trace with a clock.
func NewMatcher[T any](clock ntconv.Clock, user User[T], o MatcherOptions) *Matcher[T] {
	return &Matcher[T]{heaps: NewHeaps(clock, HeapUser[T](user)), user: user, open: NewOpen[schema.PairKey, entry[T]](), opts: o}
}

// RoleOf returns the role of events with a schema, or nil if they neither begin nor end an interval that is matched. The
// role is valid for this Matcher.
func (m *Matcher[T]) RoleOf(s *schema.Schema) *Role {
	r := &Role{begins: m.bounds(s, s.EndedBy()), ends: m.bounds(s, s.Ends())}
	if heap, field := HeapEventOf(s); heap != NoHeapEvent && m.opts.Wants(operation.Named("gc")) {
		r.heap = heap
		if field != "" {
			r.field, _ = s.Project(field)
		}
	}
	if r.heap == NoHeapEvent && r.begins == nil && r.ends == nil {
		return nil
	}
	return r
}

// bounds returns the bounds for pairs of known operations. Others are spans, which package span/tracker matches.
func (m *Matcher[T]) bounds(s *schema.Schema, pairs []*schema.Pair) (list []Bound) {
	for _, p := range pairs {
		b := Bound{Pair: p, Of: operation.Of(p.Provider, p.Name)}
		if b.Of == nil || b.Of.IsHeap() || !m.opts.Wants(b.Of) {
			continue
		}
		if p.Field != "" {
			b.key, _ = s.Project(p.Field)
		}
		if p.Key == schema.KeyProcess {
			m.process = append(m.process, p)
		}
		list = append(list, b)
	}
	return list
}

func valueOf(p *schema.Projection, e *ntconv.Event) ntconv.Value {
	var v [1]ntconv.Value
	if p != nil {
		p.Read(e, v[:])
	}
	return v[0]
}

// Add processes an event with a role, which it borrows. Call it in time order.
func (m *Matcher[T]) Add(e *ntconv.Event, r *Role) {
	if r.heap != NoHeapEvent {
		m.heaps.Add(r.heap, e, valueOf(r.field, e))
	}
	for i := range r.ends {
		m.end(e, &r.ends[i])
	}
	for i := range r.begins {
		m.begin(e, &r.begins[i])
	}
}

func (m *Matcher[T]) begin(e *ntconv.Event, b *Bound) {
	key, ok := b.Pair.KeyOf(e, valueOf(b.key, e))
	if !ok {
		return
	}
	if m.open.Len() >= m.opts.MaxOpen {
		m.cut(m.open.Oldest(), CutLimit)
	}
	if b.Pair.Key == schema.KeyProcess { // there is at most one, so its end was lost
		if old := m.open.Latest(key); old != nil {
			m.cut(old, CutLoss)
		}
	}
	i := m.open.Begin(key, key.Thread, entry[T]{begin: e.Time, capture: e.Capture})
	i.Data.data = m.user.Begin(e, b)
}

func (m *Matcher[T]) end(e *ntconv.Event, b *Bound) {
	key, ok := b.Pair.KeyOf(e, valueOf(b.key, e))
	if !ok {
		return
	}
	switch i := m.open.Latest(key); {
	case i == nil && b.Of.EndsAlone:
	case i == nil:
		m.user.Alone(e, b)
	case e.Time < i.Data.begin:
		m.cut(i, CutOrder)
	default:
		m.open.Remove(i)
		m.user.End(e, i.Data.data)
	}
}

func (m *Matcher[T]) cut(i *Begun[schema.PairKey, entry[T]], reason Cut) {
	m.open.Remove(i)
	m.user.Cut(i.Data.data, reason)
}

// cutThread cuts the intervals that end on a thread.
func (m *Matcher[T]) cutThread(t *ntconv.Thread, reason Cut) {
	for i := m.open.OnThread(t); i != nil; i = m.open.OnThread(t) {
		m.cut(i, reason)
	}
}

// Mark processes what is not an event: losses and exits of threads.
func (m *Matcher[T]) Mark(e *ntconv.Event) {
	switch {
	case e.Kind == ntconv.KindLost && e.Capture != nil:
		m.heaps.Lost(e.Capture)
		m.cutThread(e.Capture, CutLoss)
		for _, p := range m.process {
			i := m.open.Latest(schema.PairKey{Pair: p, Process: e.Capture.Process})
			if i != nil && i.Data.capture == e.Capture {
				m.cut(i, CutLoss)
			}
		}
	case e.Mark != nil && e.Mark.Kind == ntconv.MarkThreadsRemoved:
		m.heaps.Removed(e.Mark.Threads)
		for i := range e.Mark.Threads {
			m.cutThread(e.Mark.Threads[i].Thread, CutEdge)
		}
	}
}

// Finish cuts all open intervals. Call it once, after the last Add.
func (m *Matcher[T]) Finish() {
	m.heaps.Finish()
	for m.open.Oldest() != nil {
		m.cut(m.open.Oldest(), CutEdge)
	}
}

// Nanos returns the nanoseconds between two times of a trace: the difference of the times as outputs show them, so that
// the parts of an interval add up to the whole.
func Nanos(c ntconv.Clock, from, to ntconv.Ticks) int64 {
	return bin.SubClamped(c.Nanos(to), c.Nanos(from))
}
