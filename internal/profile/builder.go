package profile

import (
	"strconv"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/origin"
)

// Options says what to count and what to tell apart. The zero value is a good choice.
type Options struct {
	Kind   Kind
	Report *ntconv.Report
	// Drop lists keys of labels that samples are not told apart by: the Label constants of this package, "state", and
	// whatever keys the events have. Dropping "thread id" drops "thread" too.
	Drop []string
	// Unlabeled adds up samples of a stack and owner regardless of the labels of their events.
	Unlabeled bool
	// Span, if not nil, returns in the end the time range that the profile describes. If it is nil, the profile
	// describes the time from the start of the session, or else from the first added event, to the last one.
	Span func() (first, last ntconv.Ticks, ok bool)
}

// A Builder sums up events. It is not safe for use by several goroutines.
type Builder struct {
	info   *ntconv.Info
	namer  ntconv.Namer
	report *ntconv.Report
	sets   []*set
	pool   pool

	roles    map[*ntconv.Type]role
	lastType *ntconv.Type
	lastRole role
	weights  weightTypes

	all   *Recording // of all events, also omitted ones
	added *Recording // of the events of Add
	span  func() (first, last ntconv.Ticks, ok bool)
}

// pool holds what the sets share.
type pool struct {
	drop   map[string]bool
	stacks *Stacks
	labels *labelTable
	tags   tagTable
}

// A role is how the builder uses events of a type. The zero role means that it ignores them.
type role struct {
	samples []*set // the sets that count them as samples
	weight  bool   // they state weights
}

// New returns a builder for a trace. A nil namer knows the names that stacks carry themselves.
func New(info *ntconv.Info, namer ntconv.Namer, o *Options) *Builder {
	if o == nil {
		o = &Options{}
	}
	if namer == nil {
		namer = ntconv.NoNames()
	}
	drop := map[string]bool{}
	for _, key := range o.Drop {
		drop[key] = true
	}
	if drop[LabelThreadID] {
		drop[LabelThread] = true
	}
	labels := newLabelTable(drop)
	labels.none = o.Unlabeled
	b := &Builder{
		info: info, namer: namer, report: o.Report,
		pool:  pool{drop, NewStacks(), labels, newTagTable()},
		roles: map[*ntconv.Type]role{}, weights: newWeightTypes(),
		all: NewRecording(info), added: NewRecording(info), span: o.Span,
	}
	nominal := nominalTicks(info, nominalPeriod(info))
	for k := Wall; k < numKinds; k++ {
		if o.Kind == k || o.Kind == Auto {
			b.sets = append(b.sets, newSet(k, b.pool.of(k), b.all, nominal))
		}
	}
	return b
}

// Add counts an event if it is a sample. It borrows the event, and allocates only for stacks, labels and threads that
// are new.
func (b *Builder) Add(e *ntconv.Event) {
	switch e.Kind {
	case ntconv.KindEvent:
		b.event(e)
	case ntconv.KindDefine:
		for _, s := range b.sets {
			if s.kind == Imported && s.declared == nil && e.Type != nil && s.spec.matches(e.Type) {
				s.declared = e.Type
			}
		}
	case ntconv.KindMark:
		b.mark(e.Mark)
	case ntconv.KindLost:
		b.lost(e.Capture)
	}
}

// Watch notes an event that a selection may omit, so that the weights of the selected samples are those that they have
// in the whole trace. Call it for every event of the trace, and Add with the same event next if the event is selected.
// Where nothing is omitted, Watch changes nothing. It borrows the event, and allocates only for new types and threads.
func (b *Builder) Watch(e *ntconv.Event) {
	switch e.Kind {
	case ntconv.KindEvent:
		b.all.Observe(e)
		if c := b.weights.of(e.Type); c != weightNone {
			b.weigh(e, c)
		}
	case ntconv.KindMark:
		b.mark(e.Mark)
	case ntconv.KindLost:
		b.lost(e.Capture)
	}
}

// lost notes that events of a capture thread are missing. Calling it twice for a loss changes nothing.
func (b *Builder) lost(capture *ntconv.Thread) {
	for _, s := range b.sets {
		s.interrupt(capture, false)
	}
}

// weigh tells the sets whose samples last until the next one of their thread about an event of a class.
func (b *Builder) weigh(e *ntconv.Event, c weightClass) {
	for _, s := range b.sets {
		if s.spec.interval == noInterval {
			continue
		}
		switch c {
		case weightSample:
			s.close(s.thread(e.Thread), e)
		case weightExplicit:
			s.state(e)
		case weightOmitted:
			s.interrupt(e.Capture, true)
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
	if e.Type != b.lastType {
		b.lastType, b.lastRole = e.Type, b.role(e.Type)
	}
	b.all.Observe(e)
	if b.span == nil {
		b.added.Observe(e)
	}
	for _, s := range b.lastRole.samples {
		s.add(e, b.namer)
	}
	if b.lastRole.weight {
		b.weigh(e, b.weights.of(e.Type))
	}
}

func (b *Builder) role(t *ntconv.Type) role {
	r, ok := b.roles[t]
	if ok {
		return r
	}
	for _, s := range b.sets {
		if s.spec.matches(t) && (s.kind != Imported || s.adopt(t, b.report)) {
			r.samples = append(r.samples, s)
		}
	}
	r.weight = IsWeight(t)
	b.roles[t] = r
	return r
}

// OrderMatters reports whether another order of the same events might give another profile: samples of a thread came
// out of the order of time, or equal stacks were summed up before the namer learned that they mean something else at
// times in between. It is for after the last event and before Finish.
func (b *Builder) OrderMatters() bool {
	s := b.set()
	if n, ok := b.namer.(ntconv.EpochSettler); s.disordered || ok && !n.Settle() {
		return true
	}
	for i := range s.rows {
		r := &s.rows[i]
		if r.stack == 0 || r.first == r.last {
			continue
		}
		p, stack := s.owners[r.owner].process, b.pool.stacks.At(r.stack)
		if b.namer.Epoch(p, stack, r.first) != b.namer.Epoch(p, stack, r.last) {
			return true
		}
	}
	return false
}

// set returns the set that the profile is made of.
func (b *Builder) set() *set {
	s := b.sets[0]
	for _, other := range b.sets[1:] {
		if len(s.rows) == 0 && (len(other.rows) > 0 || other.declared != nil) {
			s = other
		}
	}
	return s
}

// Finish ends the samples that wait for a successor and returns the profile. The builder must not be used afterwards.
func (b *Builder) Finish() *Profile {
	s := b.set()
	if s.imported == nil && s.declared != nil { // a profile without samples is restored, too
		s.take(s.declared, origin.ColumnsOf(s.declared))
	}
	period := nominalPeriod(b.info)
	s.finish()
	b.report.Note(ntconv.CodeNoStack, s.noStack.n, s.noStack.offset, "")
	b.report.Note(ntconv.CodeOutOfOrder, s.late.n, s.late.offset, s.spec.name+" samples that came late have no weight")
	b.report.Note(ntconv.CodeUnseen, s.unseen.Gaps, -1, s.unseen.describe(b.info.Clock))
	b.report.Note(ntconv.CodePayload, s.bad.n, s.bad.offset, s.spec.name+" samples")
	p := &Profile{
		Kind: s.kind, Types: make([]ValueType, len(s.spec.columns)), Main: s.spec.main, PeriodType: s.spec.period, Period: period,
		Events: s.events, Unseen: s.unseen, Adopted: s.adopted, b: b, s: s,
	}
	for i, c := range s.spec.columns {
		p.Types[i] = c.ValueType
	}
	for _, other := range b.sets {
		if other != s && other.events > 0 {
			p.Others = append(p.Others, other.kind)
		}
	}
	p.Start, p.End = b.recorded(s)
	if c := s.imported; c != nil {
		p.Main, p.PeriodType, p.Period = c.Main(), c.PeriodType, c.Period
	}
	return p
}

// recorded returns the first and the last tick that the profile describes. The end includes the interval of each
// thread's last sample, so that no thread has more time than the profile's duration: in a selection without the last
// events of the recording, that interval may end later than the last selected event.
func (b *Builder) recorded(s *set) (first, last ntconv.Ticks) {
	span := b.span
	if span == nil {
		span = b.added.Span
	}
	first, last, _ = span()
	return first, max(last, s.end)
}

// defaultPeriod is the interval of samplers unless the trace states another.
const defaultPeriod = int64(time.Millisecond)

// nominalPeriod returns the nominal sampling interval of a trace in nanoseconds.
func nominalPeriod(info *ntconv.Info) int64 {
	s, _ := info.Attrs.Get("ExpectedCPUSamplingRate")
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n > 0 {
		return n
	}
	return defaultPeriod
}

// nominalTicks returns the length of some nanoseconds on the trace's clock.
func nominalTicks(info *ntconv.Info, nanos int64) uint64 {
	return uint64(ntconv.Clock{Freq: info.Clock.Freq}.TicksAt(time.Duration(nanos)))
}

// tagTable numbers the values of a kind's own label from 1; 0 is none.
type tagTable struct {
	ids  map[string]uint32
	list []string
}

func newTagTable() tagTable { return tagTable{ids: map[string]uint32{}, list: make([]string, 1)} }

func (t *tagTable) id(tag []byte) uint32 {
	if len(tag) == 0 {
		return 0
	}
	id, ok := t.ids[string(tag)]
	if !ok {
		id = uint32(len(t.list))
		s := string(tag)
		t.ids[s] = id
		t.list = append(t.list, s)
	}
	return id
}
