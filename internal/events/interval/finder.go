package interval

import (
	"bytes"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/schema"
)

// Options configures a Finder. Wants and Emit must be set.
type Options struct {
	// Wants reports whether intervals of an operation are emitted. All others are only counted.
	Wants func(*operation.Operation) bool
	// Emit receives each interval, from within Add or Finish. It borrows the interval, its events and all values.
	Emit func(*Interval)
	// MaxOpen limits the number of open intervals; 0 means 100,000. If it is exceeded, the oldest one is discarded.
	MaxOpen int
}

const defaultMaxOpen = 100_000

// A Count is the number of intervals of a pair.
type Count struct {
	Pair   *schema.Pair
	Of     *operation.Operation
	Begins int64 // events that begin an interval; all suspensions count as pauses
	Whole  int64 // intervals that were emitted
	// Parts is the number of begins without an end and ends without a begin, and of intervals whose events the recorder
	// lost in part. It is 0 for operations that are not wanted.
	Parts int64
}

// A Finder finds the intervals of a trace with the events that delimit them. It is not safe for concurrent use.
type Finder struct {
	opts    Options
	clock   ntconv.Clock
	matcher *Matcher[*Interval]

	schemas  schema.Table
	roles    map[*schema.Schema]*finderRole
	last     *finderRole // of the latest event
	recent   intern.Cache[*schema.Schema, *finderRole]
	projects map[fieldKey]*schema.Projection
	counts   map[countKey]*Count
	order    []*Count      // in the order of the first events
	event    *ntconv.Event // the current event
}

// A finderRole states what the events of a schema mean.
type finderRole struct {
	schema *schema.Schema
	begins []*Count
	role   *Role // nil if no interval is wanted
}

type countKey struct {
	pair *schema.Pair
	of   *operation.Operation
}

type fieldKey struct {
	schema *schema.Schema
	name   string
}

// New returns a Finder for a trace.
func New(info *ntconv.Info, o Options) *Finder {
	if o.MaxOpen <= 0 {
		o.MaxOpen = defaultMaxOpen
	}
	f := &Finder{
		opts: o, clock: info.Clock,
		roles: map[*schema.Schema]*finderRole{}, recent: intern.NewCache[*schema.Schema, *finderRole](8),
		projects: map[fieldKey]*schema.Projection{}, counts: map[countKey]*Count{},
	}
	f.matcher = NewMatcher(info.Clock, User[*Interval](f), MatcherOptions{Wants: f.wants, MaxOpen: o.MaxOpen})
	return f
}

// wants reports whether the Matcher matches an operation.
func (f *Finder) wants(of *operation.Operation) bool {
	if !of.IsHeap() {
		return f.opts.Wants(of)
	}
	for i := range operation.All() {
		if o := &operation.All()[i]; o.IsHeap() && f.opts.Wants(o) {
			return true
		}
	}
	return false
}

// Add processes an event, which it borrows. Call it for all events in time order, also for losses.
func (f *Finder) Add(e *ntconv.Event) {
	f.event = e
	if e.Kind != ntconv.KindEvent {
		f.matcher.Mark(e)
		return
	}
	if recording.IsReplica(e) {
		return
	}
	r := f.last
	if s := f.schemas.Of(e); r == nil || r.schema != s {
		r = f.roleOf(s)
		f.last = r
	}
	for _, c := range r.begins {
		c.Begins++
	}
	if r.role != nil {
		f.matcher.Add(e, r.role)
	}
}

func (f *Finder) roleOf(s *schema.Schema) *finderRole {
	hash := uint64(s.ID)<<8 ^ uint64(len(s.Provider))
	if r := f.recent.Get(hash, &s); r != nil {
		return *r
	}
	r := f.roles[s]
	if r == nil {
		r = &finderRole{schema: s, role: f.matcher.RoleOf(s)}
		for _, p := range s.EndedBy() {
			if of := operation.Of(p.Provider, p.Name); of != nil {
				r.begins = append(r.begins, f.count(p, of))
			}
		}
		f.roles[s] = r
	}
	f.recent.Put(hash, &s, r)
	return r
}

func (f *Finder) count(p *schema.Pair, of *operation.Operation) *Count {
	key := countKey{p, of}
	c := f.counts[key]
	if c == nil {
		c = &Count{Pair: p, Of: of}
		f.counts[key] = c
		f.order = append(f.order, c)
	}
	return c
}

// Counts returns the pairs of the trace in the order of their first events. The caller must not change them.
func (f *Finder) Counts() []*Count { return f.order }

// Finish discards the open intervals. Call it once, after the last Add.
func (f *Finder) Finish() { f.matcher.Finish() }

// open returns an interval that the current event begins. It has a copy of the event.
func (f *Finder) open(of *operation.Operation, p *schema.Pair) *Interval {
	v := &Interval{Of: of, Pair: p, begin: *f.event, count: f.count(p, of), finder: f}
	v.begin.Payload, v.begin.Stack = bytes.Clone(f.event.Payload), nil
	v.Begin = &v.begin
	return v
}

// pair returns the pair with a name that the current event begins.
func (f *Finder) pair(name string) *schema.Pair {
	for _, p := range f.last.schema.EndedBy() {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func (f *Finder) emit(v *Interval) {
	if f.opts.Wants(v.Of) {
		v.count.Whole++
		f.opts.Emit(v)
	}
}

// Begin implements User.
func (f *Finder) Begin(_ *ntconv.Event, b *Bound) *Interval { return f.open(b.Of, b.Pair) }

// End implements User.
func (f *Finder) End(e *ntconv.Event, v *Interval) {
	v.End = e
	f.emit(v)
}

// Cut implements User.
func (f *Finder) Cut(v *Interval, _ Cut) { v.count.Parts++ }

// Alone implements User.
func (f *Finder) Alone(_ *ntconv.Event, b *Bound) { f.count(b.Pair, b.Of).Parts++ }

// Suspending implements HeapUser.
func (f *Finder) Suspending(s *Suspension[*Interval]) {
	of := operation.Named("suspension")
	if s.IsPause() {
		of = operation.Named("gc_pause")
	}
	s.Data = f.open(of, f.pair(of.Pair))
}

// Collecting implements HeapUser.
func (f *Finder) Collecting(c *Collection[*Interval]) {
	of := operation.Named("gc")
	c.Data = f.open(of, f.pair(of.Pair))
}

// Ending implements HeapUser. The end outlives the event, because the pause of the collection lasts longer.
func (f *Finder) Ending(c *Collection[*Interval]) {
	end := *f.event
	end.Payload, end.Stack = bytes.Clone(end.Payload), nil
	c.Data.End = &end
}

// Resumed implements HeapUser.
func (f *Finder) Resumed(s *Suspension[*Interval], _ []*Collection[*Interval]) {
	s.Data.End = f.event
	if s.Owner != nil {
		s.Data.Collection = s.Owner.Data.Begin
	}
	f.emit(s.Data)
}

// Collected implements HeapUser.
func (f *Finder) Collected(c *Collection[*Interval]) {
	c.Data.Paused = time.Duration(c.Paused)
	f.emit(c.Data)
}

// CutSuspension implements HeapUser.
func (f *Finder) CutSuspension(s *Suspension[*Interval], _ Cut) { s.Data.count.Parts++ }

// CutCollection implements HeapUser.
func (f *Finder) CutCollection(c *Collection[*Interval], _ Cut) { c.Data.count.Parts++ }

// Unmatched implements HeapUser.
func (f *Finder) Unmatched() {
	for _, p := range f.last.schema.Ends() {
		f.count(p, operation.Of(p.Provider, p.Name)).Parts++
	}
}

// field returns a field of an event, or ValueNull.
func (f *Finder) field(e *ntconv.Event, name string) ntconv.Value {
	key := fieldKey{f.schemas.Of(e), name}
	p := f.projects[key]
	if p == nil {
		p, _ = key.schema.Project(name)
		f.projects[key] = p
	}
	return valueOf(p, e)
}
