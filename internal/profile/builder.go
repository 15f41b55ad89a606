package profile

import (
	"maps"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// Options are those of exporters of profiles. A Builder ignores Create, and Each, if not nil, has
// the meaning that it has with Create: FinishEach returns the profiles.
type Options = sample.Options

// A Builder aggregates the samples of a trace. It is not safe for concurrent use.
//
// State of a Builder and its sets:
//
//	field           set by                          cleared by
//	roles, weights  first event of a type           - (a type keeps its role)
//	all             Watch, Add                      -
//	added           Add, if Options.Span is nil     -
//	rows, values    set.add; intervals: set.credit  - (rows are only appended)
//	thread.recent   set.add                         -
//	thread.pending  set.add                         set.weigh: the thread's next sample, a round without the thread,
//	                                                SampleWeight, the removal of the thread, or Finish
//	wanted          set.want                        -
//	set.active      New                             claim, if a better set has a sample
type Builder struct {
	info   *ntconv.Info
	namer  ntconv.Namer
	report *ntconv.Report
	sets   []*set
	pool   pool

	each     bool // all sets with samples become profiles
	separate bool
	auto     bool // the first set with samples becomes the profile
	rest     bool // kind Events has samples only if no other set has some
	roles    map[*ntconv.Type]*role
	recent   intern.Cache[*ntconv.Type, *role] // of roles
	lastType *ntconv.Type
	lastRole *role
	weights  rounds.Classes

	all      *recording.Range // of all events, also of those that a selection omits
	added    *recording.Range // of the events passed to Add
	replicas recording.Replicas
	span     func() (first, last ntconv.Ticks, ok bool)

	comments []string
	remarks  func() []string
}

// A pool holds the tables that sets share.
type pool struct {
	meters.Tables
	stacks *Stacks
	labels *labelTable
	// operations are the labels of samples of operations, such as requests, which lack activity IDs: every operation has
	// an activity ID of its own, so no two samples would have equal labels.
	operations *labelTable
}

// A role is the use of a type's events. The zero role means that the builder ignores them.
type role struct {
	samples []*set // sets whose samples these events are
	metered []metered
	weight  bool // the events state weights
	after   bool // recording.IsAfter
	added   bool // an event of the type was added, so its columns are those of an imported profile
}

// A metered is a set whose meter sees the events of a type.
type metered struct {
	*set
	begins bool // the events begin samples, or are samples
}

// New returns a Builder for a trace. info describes the trace, and namer resolves its stacks in Finish and Samples. If
// namer is nil, only stacks with frames of their own have names. o may be nil.
func New(info *ntconv.Info, namer ntconv.Namer, o *Options) *Builder {
	if o == nil {
		o = &Options{}
	}
	return newBuilder(info, namer, o, true)
}

// newBuilder is New. If labeled is false, the samples of a stack and owner are added up regardless of labels.
func newBuilder(info *ntconv.Info, namer ntconv.Namer, o *Options, labeled bool) *Builder {
	if namer == nil {
		namer = new(ntconv.NoNames)
	}
	drop := map[string]bool{}
	for _, key := range o.DropLabels {
		drop[key] = true
	}
	if drop[meters.LabelThreadID] {
		drop[meters.LabelThread] = true
	}
	labels := newLabelTable(drop)
	labels.none = !labeled
	without := maps.Clone(drop)
	without[meters.LabelActivity], without[meters.LabelRelated] = true, true
	operations := newLabelTable(without)
	operations.none = !labeled
	tags := meters.NewTagTable()
	b := &Builder{
		info: info, namer: namer, report: o.Report, auto: o.Kind == sample.Auto || o.Kind >= sample.Count,
		pool:  pool{meters.Tables{Drop: drop, Unlabeled: !labeled, Tags: &tags, Schemas: new(schema.Table)}, NewStacks(), labels, operations},
		roles: map[*ntconv.Type]*role{}, recent: intern.NewCache[*ntconv.Type, *role](8), weights: rounds.NewClasses(),
		all: recording.NewRange(info), added: recording.NewRange(info), span: o.Span,
		comments: o.Comments, remarks: o.Remarks,
	}
	settings := meters.NewSettings(&o.KindOptions, o.Window)
	if o.Each != nil {
		b.auto, b.each, b.rest = false, true, len(o.Each) == 0
	}
	settings.Auto = b.auto || b.rest
	settings.TypeName, settings.MethodName = meters.TypeNameOf(namer), meters.MethodNameOf(namer)
	for _, k := range sample.Preferred() {
		if selects(o, k) {
			b.sets = append(b.sets, newSet(b, k, settings))
		}
	}
	return b
}

// Separate keeps imported samples of different types apart: they are not added up, and Sample.Source states their type.
// Call it before the first event.
func (b *Builder) Separate() { b.separate = true }

// selects reports whether a profile of a kind is requested.
func selects(o *Options, k sample.Kind) bool {
	if o.Each != nil {
		return len(o.Each) == 0 || slices.Contains(o.Each, k)
	}
	return o.Kind == k || o.Kind == sample.Auto || o.Kind >= sample.Count
}

// Add adds e if it is a sample, and notes losses, ended threads and stated weights. It borrows e, and allocates only
// for new stacks, labels and threads.
func (b *Builder) Add(e *ntconv.Event) {
	switch e.Kind {
	case ntconv.KindEvent:
		if !b.replicas.Has(e) {
			b.event(e)
		}
	case ntconv.KindDefine:
		for _, s := range b.sets {
			if s.kind == sample.Imported && s.declared == nil && e.Type != nil && s.spec.Matches(e.Type) {
				s.declared = e.Type
			}
		}
	case ntconv.KindMark:
		b.mark(e.Mark)
	case ntconv.KindLost:
		b.lost(e.Capture)
	}
}

// Watch notes an event of the trace, so that selected samples get the weights that they have in the whole trace. If a
// selection may omit events, call Watch for every event, followed by Add with the same event if it is selected. If
// nothing is omitted, Watch changes nothing. It borrows e, and allocates only for new types and threads.
func (b *Builder) Watch(e *ntconv.Event) {
	switch e.Kind {
	case ntconv.KindEvent:
		if b.replicas.Has(e) {
			return
		}
		r := b.roleOf(e)
		if !r.after {
			b.all.Extend(e)
		}
		if c := b.weights.Of(e.Type); c != rounds.ClassNone {
			b.weigh(e, c)
		}
		for _, s := range r.metered {
			if s.active {
				s.meter.Watch(e)
			}
		}
	case ntconv.KindMark:
		b.mark(e.Mark)
	case ntconv.KindLost:
		b.lost(e.Capture)
	}
}

// lost notes that events of a capture thread are missing. Repeating the call for the same loss changes nothing.
func (b *Builder) lost(capture *ntconv.Thread) {
	for _, s := range b.sets {
		s.lost(capture)
	}
}

// weigh applies an event of a weight class to the sets whose samples last until the next sample of their thread.
func (b *Builder) weigh(e *ntconv.Event, c rounds.Class) {
	for _, s := range b.sets {
		if s.spec.Interval != meters.NoInterval {
			s.threads.Apply(e, c)
		}
	}
}

func (b *Builder) mark(m *ntconv.Mark) {
	if m.Kind == ntconv.MarkThreadsRemoved {
		for _, s := range b.sets {
			s.remove(m.Threads)
		}
	}
}

func (b *Builder) event(e *ntconv.Event) {
	r := b.roleOf(e)
	if !r.after {
		b.all.Extend(e)
		if b.span == nil {
			b.added.Extend(e)
		}
	}
	if !r.added {
		b.adopt(e.Type, r)
	}
	for _, s := range r.samples {
		if s.active {
			s.add(e)
		} else {
			s.seen++
		}
	}
	for _, s := range r.metered {
		switch {
		case s.active:
			s.meter.Add(e)
		case s.begins:
			s.seen++
		}
	}
	if r.weight {
		b.weigh(e, b.weights.Of(e.Type))
	}
}

func (b *Builder) roleOf(e *ntconv.Event) *role {
	if e.Type != b.lastType {
		b.lastType, b.lastRole = e.Type, b.role(e)
	}
	return b.lastRole
}

// adopt makes the columns of a type of imported samples those of the profile. It waits until an event of the type is
// added, because a selection may omit all of them.
func (b *Builder) adopt(t *ntconv.Type, r *role) {
	for _, s := range r.samples {
		if s.kind == sample.Imported {
			s.adopt(t)
		}
	}
	r.added = true
}

// role returns the use of an event's type.
func (b *Builder) role(e *ntconv.Event) *role {
	t := e.Type
	hash := uint64(t.ID)<<8 ^ uint64(len(t.Provider))
	if r := b.recent.Get(hash, &t); r != nil {
		return *r
	}
	r, ok := b.roles[t]
	if !ok {
		r = b.newRole(e)
		b.roles[t] = r
	}
	b.recent.Put(hash, &t, r)
	return r
}

// newRole determines the use of an event's type.
func (b *Builder) newRole(e *ntconv.Event) *role {
	r := &role{weight: recording.IsWeight(e.Type), after: recording.IsAfter(e.Type)}
	for _, s := range b.sets {
		switch {
		case s.meter != nil:
			if role := s.meter.Role(e); role != 0 {
				r.metered = append(r.metered, metered{s, role < meters.RoleEnds})
			}
		case s.spec.Matches(e.Type):
			r.samples = append(r.samples, s)
		}
	}
	return r
}

// claim notes that a set has a sample. If only the first set with samples becomes the profile, all later ones only count
// from now on.
func (b *Builder) claim(s *set) {
	for _, worse := range b.sets[slices.Index(b.sets, s)+1:] {
		if b.auto || b.rest && worse.kind == sample.Events {
			worse.deactivate()
		}
	}
}

// OrderMatters reports whether the same events in time order could have produced another profile: samples of a thread
// were out of order, or samples with equal stacks were added up before the namer knew that an address had another owner
// between them. Call it after the last Add and before Finish.
func (b *Builder) OrderMatters() bool {
	return !b.namer.Settle() || slices.ContainsFunc(b.results(), (*set).orderMatters)
}

// orderMatters is Builder.OrderMatters for the samples of one kind.
func (s *set) orderMatters() bool {
	if s.threads.Disordered || s.meter != nil && s.meter.Disordered {
		return true
	}
	for i := range s.rows {
		r := &s.rows[i]
		if r.stack == 0 || r.first == r.last {
			continue
		}
		p, stack := s.owners[r.owner].process, s.pool.stacks.At(r.stack)
		if s.b.namer.Epoch(p, stack, r.first) != s.b.namer.Epoch(p, stack, r.last) {
			return true
		}
	}
	return false
}

// flush completes the samples that wait for later events, which may be the only ones of their kind.
func (b *Builder) flush() {
	for _, s := range b.sets {
		if s.active && s.meter != nil {
			s.meter.Flush()
		}
	}
}

// results returns the sets that become profiles: set, or all with samples for Options.Each.
func (b *Builder) results() []*set {
	b.flush()
	if b.each {
		return slices.DeleteFunc(slices.Clone(b.sets), func(s *set) bool { return len(s.rows) == 0 && s.declared == nil })
	}
	return []*set{b.set()}
}

// set returns the set that becomes the profile: the first one with samples, for Options.Kind Auto.
func (b *Builder) set() *set {
	s := b.sets[0]
	for _, other := range b.sets[1:] {
		if len(s.rows) == 0 && (len(other.rows) > 0 || other.declared != nil) {
			s = other
		}
	}
	return s
}

// recorded returns the first and the last tick that the profile describes. The end includes the interval of each
// thread's last sample, so that no thread has more time than the profile's duration: if a selection omits the last
// events of the recording, that interval may end after the last selected event.
func (b *Builder) recorded(s *set) (first, last ntconv.Ticks) {
	span := b.span
	if span == nil {
		span = b.added.Span
	}
	first, last, _ = span()
	return first, max(last, s.end)
}
