package interval

import (
	"bytes"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/intern"
	"github.com/ntconv/ntconv/internal/recording"
	"github.com/ntconv/ntconv/schema"
)

// Options configures a Matcher. Wants and Emit must be set.
type Options struct {
	// Wants reports whether the intervals of a pair are emitted. All others are only counted. It must be true for
	// collections if it is for suspensions, and vice versa, because they depend on each other.
	Wants func(*schema.Pair) bool
	// Emit receives each interval, from within Add or Finish. It borrows the interval, its events and all values.
	Emit func(*Interval)
	// MaxOpen limits the number of open intervals; 0 means 100,000. If it is exceeded, the oldest one is discarded.
	MaxOpen int
}

const defaultMaxOpen = 100_000

// A Count is the number of intervals of a pair.
type Count struct {
	Pair   *schema.Pair
	Begins int64 // events that begin an interval
	Whole  int64 // intervals that were emitted
	// Parts is the number of begins without an end and ends without a begin, and of intervals whose events the recorder
	// lost in part. It is 0 for pairs that are not wanted.
	Parts int64
}

// A Matcher finds intervals. Its memory is proportional to the number of open intervals. It is not safe for concurrent
// use.
//
// Every open interval is in byAge and, by its key, in open: a stack whose top is the latest one. Ended collections that
// wait for the end of a suspension are in neither, but in the heap of their process.
type Matcher struct {
	opts  Options
	clock ntconv.Clock

	schemas  schema.Table
	roles    map[*schema.Schema]*role
	last     *role // of the latest event
	recent   intern.Cache[*schema.Schema, *role]
	projects map[fieldKey]*schema.Projection
	counts   map[*schema.Pair]*Count
	order    []*Count // in the order of the first events

	serial uint64
	open   map[schema.PairKey]*open
	byAge  age
	number int                       // of open intervals
	lost   map[*ntconv.Thread]uint64 // serial of the latest interval when events of a thread were lost
	heaps  map[*ntconv.Process]*heap
}

// A role states what the events of a schema begin and end.
type role struct {
	schema       *schema.Schema
	begins, ends []bound
}

// A bound is the begin or the end of the intervals of a pair.
type bound struct {
	pair  *schema.Pair
	count *Count
	want  bool
	key   *schema.Projection // of the field that begin and end share; nil if there is none
}

type fieldKey struct {
	schema *schema.Schema
	name   string
}

// An open interval has begun and not ended.
type open struct {
	Interval
	serial     uint64
	key        schema.PairKey
	above      *open        // the next interval with the same key; it began later
	below      *open        // the same; it began earlier
	prev, next *open        // in Matcher.byAge
	begin      ntconv.Event // with a payload of its own
	capture    *ntconv.Thread
	count      *Count
}

// An age is a list of all open intervals; first is the oldest one.
type age struct{ first, last *open }

// New returns a Matcher for a trace.
func New(info *ntconv.Info, o Options) *Matcher {
	if o.MaxOpen <= 0 {
		o.MaxOpen = defaultMaxOpen
	}
	return &Matcher{
		opts: o, clock: info.Clock,
		roles: make(map[*schema.Schema]*role), recent: intern.NewCache[*schema.Schema, *role](8),
		projects: make(map[fieldKey]*schema.Projection), counts: make(map[*schema.Pair]*Count),
		open: make(map[schema.PairKey]*open), lost: make(map[*ntconv.Thread]uint64),
		heaps: make(map[*ntconv.Process]*heap),
	}
}

// Add processes an event, which it borrows. Call it for all events in time order, also for losses.
func (m *Matcher) Add(e *ntconv.Event) {
	switch {
	case e.Kind == ntconv.KindLost && e.Capture != nil:
		m.lost[e.Capture] = m.serial
		return
	case e.Kind != ntconv.KindEvent || recording.IsReplica(e):
		return
	}
	r := m.last
	if s := m.schemas.Of(e); r == nil || r.schema != s {
		r = m.roleOf(s)
		m.last = r
	}
	for i := range r.ends {
		if b := &r.ends[i]; b.want {
			m.end(e, b)
		}
	}
	for i := range r.begins {
		b := &r.begins[i]
		b.count.Begins++
		if b.want {
			m.begin(e, b)
		}
	}
}

func (m *Matcher) roleOf(s *schema.Schema) *role {
	hash := uint64(s.ID)<<8 ^ uint64(len(s.Provider))
	if r := m.recent.Get(hash, &s); r != nil {
		return *r
	}
	r := m.roles[s]
	if r == nil {
		r = &role{schema: s, begins: m.bounds(s, s.EndedBy()), ends: m.bounds(s, s.Ends())}
		m.roles[s] = r
	}
	m.recent.Put(hash, &s, r)
	return r
}

// bounds returns the bounds for pairs. Pairs of event sources are absent, because package span/tracker matches them.
func (m *Matcher) bounds(s *schema.Schema, pairs []*schema.Pair) (list []bound) {
	for _, p := range pairs {
		if p.Key == schema.KeyActivity {
			continue
		}
		c := m.counts[p]
		if c == nil {
			c = &Count{Pair: p}
			m.counts[p] = c
			m.order = append(m.order, c)
		}
		b := bound{pair: p, count: c, want: m.opts.Wants(p)}
		if p.Key == schema.KeyField {
			b.key, _ = s.Project(p.Field)
		}
		list = append(list, b)
	}
	return list
}

func (b *bound) keyOf(e *ntconv.Event) (schema.PairKey, bool) {
	var field [1]ntconv.Value
	if b.key != nil {
		b.key.Read(e, field[:])
	}
	return b.pair.KeyOf(e, field[0])
}

func (m *Matcher) begin(e *ntconv.Event, b *bound) {
	key, ok := b.keyOf(e)
	if !ok {
		return
	}
	if m.number >= m.opts.MaxOpen {
		m.cut(m.byAge.first)
	}
	below := m.open[key]
	if below != nil && b.pair.Key == schema.KeyProcess { // there is at most one, so its end was lost
		m.cut(below)
		below = m.open[key]
	}
	m.serial++
	o := &open{serial: m.serial, key: key, below: below, begin: *e, capture: e.Capture, count: b.count}
	if below != nil {
		below.above = o
	}
	o.begin.Payload, o.begin.Stack = bytes.Clone(e.Payload), nil
	o.Interval = Interval{Pair: b.pair, Begin: &o.begin, matcher: m}
	m.open[key] = o
	m.push(o)
	if isCollection(b.pair) || isSuspension(b.pair) {
		m.begun(o)
	}
}

func (m *Matcher) end(e *ntconv.Event, b *bound) {
	key, ok := b.keyOf(e)
	if !ok {
		return
	}
	o := m.open[key]
	switch {
	case o == nil && b.pair.Name == "MethodJitting": // the method was compiled ahead of time
		return
	case o == nil:
		b.count.Parts++
		return
	case e.Time < o.begin.Time || m.lost[o.capture] >= o.serial && (b.key == nil || key.Thread != nil):
		m.cut(o)
		return
	}
	m.remove(o)
	o.End = e
	switch {
	case isCollection(o.Pair):
		m.endCollection(o)
	case isSuspension(o.Pair):
		m.endSuspension(o)
	default:
		m.emit(o)
	}
}

func (m *Matcher) emit(o *open) {
	o.count.Whole++
	m.opts.Emit(&o.Interval)
}

// cut discards an open interval whose end is not in the trace.
func (m *Matcher) cut(o *open) {
	o.count.Parts++
	m.remove(o)
	if isCollection(o.Pair) || isSuspension(o.Pair) {
		m.discarded(o)
	}
}

// push adds an interval to byAge.
func (m *Matcher) push(o *open) {
	m.number++
	o.prev = m.byAge.last
	if o.prev != nil {
		o.prev.next = o
	} else {
		m.byAge.first = o
	}
	m.byAge.last = o
}

// remove removes an interval from open and byAge.
func (m *Matcher) remove(o *open) {
	m.number--
	if o.prev != nil {
		o.prev.next = o.next
	} else {
		m.byAge.first = o.next
	}
	if o.next != nil {
		o.next.prev = o.prev
	} else {
		m.byAge.last = o.prev
	}
	if o.below != nil {
		o.below.above = o.above
	}
	switch {
	case o.above != nil:
		o.above.below = o.below
	case o.below != nil:
		m.open[o.key] = o.below
	default:
		delete(m.open, o.key)
	}
	o.above, o.below = nil, nil
}

// Finish discards the open intervals and emits collections that wait for the end of a suspension. Call it once, after
// the last Add.
func (m *Matcher) Finish() {
	for _, h := range m.heaps {
		m.resumed(h)
	}
	for o := m.byAge.first; o != nil; o = o.next {
		o.count.Parts++
	}
	m.byAge, m.open = age{}, nil
}

// Counts returns the pairs of the trace in the order of their first events. The caller must not change them.
func (m *Matcher) Counts() []*Count { return m.order }

// field returns a field of an event, or ValueNull.
func (m *Matcher) field(e *ntconv.Event, name string) ntconv.Value {
	key := fieldKey{m.schemas.Of(e), name}
	p := m.projects[key]
	if p == nil {
		p, _ = key.schema.Project(name)
		m.projects[key] = p
	}
	var v [1]ntconv.Value
	p.Read(e, v[:])
	return v[0]
}
