package profile

import (
	"math"
	"math/bits"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile/meters"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/schema"
)

// A Weighed is a sample with its weight.
type Weighed[T any] struct {
	Kind sample.Kind
	// Count is the number of what the kind counts: 0 for the pause of a collection that another sample counts, otherwise
	// 1.
	Count uint64
	// Counts is the type that profiles have in addition, such as the number of samples, and Counted its value: that of a
	// CPU sample may be more than 1. Counts is zero if Types has the type.
	Counts  sample.Type
	Counted int64
	// Types and Values are parallel. Unless the kind is Imported, they omit Count.
	Types  []sample.Type
	Values []int64
	// Labels come from the payloads of the sample's events: the state of a thread, the allocated type.
	Labels []ntconv.Label
	// Variances are those of the values if the sample is an estimate, in the square of their units; nil or 0 for a count.
	Variances []float64
	// Source is the kind of events that the sample was computed from, see SourcesOf.
	Source uint8
	// About is what the sample is about, such as the allocated type; "" if it is about nothing but its stack.
	About string
	// Leaf is the name of the innermost frame that the kind adds to the stack, such as the allocated type; "" if none.
	Leaf string
	// Time is that of the event that gives the sample its stack.
	Time ntconv.Ticks
	// Subject is the value that was passed to Stream.Add with that event, the zero value if it is not selected.
	Subject T
}

// State returns the state of the thread, or "".
func (w *Weighed[T]) State() string {
	for i := range w.Labels {
		if w.Labels[i].Key == meters.LabelState {
			return w.Labels[i].Str
		}
	}
	return ""
}

// units contains the units of time in profile.proto, in nanoseconds.
var units = [...]struct {
	name  string
	nanos uint64
}{{"nanoseconds", 1}, {"microseconds", 1e3}, {"milliseconds", 1e6}, {"seconds", 1e9}}

// Lasts returns the nanoseconds that the sample represents: its first value that is a time, or 0.
func (w *Weighed[T]) Lasts() int64 {
	types, values := w.Types, w.Values
	for i := range types {
		for _, u := range units {
			if types[i].Unit == u.name && values[i] > 0 {
				hi, lo := bits.Mul64(uint64(values[i]), u.nanos)
				if hi > 0 || lo > math.MaxInt64 {
					return math.MaxInt64
				}
				return int64(lo)
			}
		}
	}
	return 0
}

// StreamOptions configure a Stream. The zero value selects the defaults.
type StreamOptions struct {
	Kinds   []sample.Kind      // nil means Wall, CPU and Imported
	Options sample.KindOptions // of kinds that are computed from events
	// Keep reports whether samples need the label with a key; nil means all labels. Others are not stored.
	Keep   func(key string) bool
	Report *ntconv.Report          // may be nil
	Window func(ntconv.Ticks) bool // as in Options
	// Unselected includes samples whose stack comes from an event that is not selected, if another event of them is.
	Unselected bool
	// TypeName spells names of types, see TypeNameOf; nil spells them for display.
	TypeName func(recorded string) string
}

// A Stream determines the weight of each single sample, for several kinds at once. The weights of the samples of a stack
// add up to the weight that a Builder computes: exactly if a tick is a whole number of nanoseconds, otherwise within 1
// ns per sample, because the Builder rounds a total and the Stream the end of each sample.
//
// A sample that lasts until a later event is delayed until then, so memory grows with the number of threads and of open
// intervals. A sample whose stack comes from an event that is not selected is omitted, unless StreamOptions.Unselected is
// set. A Stream is not safe for concurrent use.
type Stream[T any] struct {
	info   *ntconv.Info
	emit   func(*Weighed[T])
	report *ntconv.Report
	period int64 // nominal sampling interval in nanoseconds

	kinds       []sample.Kind
	roles       map[*ntconv.Type]*streamRole
	recent      intern.Cache[*ntconv.Type, *streamRole]
	timing      [sample.Count]*timing[T] // nil for kinds without an interval
	timed       []*timing[T]             // those that are not nil
	none        streamRole               // of what is not an event
	unselected  bool
	meters      []*streamMeter[T]
	all         *recording.Range
	replicas    recording.Replicas
	tags        meters.TagTable
	labels      []ntconv.Label
	o           meters.Observation
	until       ntconv.Ticks // the latest end of a sample that lasts until the next one of its thread
	out         Weighed[T]
	undecodable [sample.Count]meters.Tally
}

// A streamMeter is a kind that is computed from events.
type streamMeter[T any] struct {
	*meters.Collector
	sampleSpec
	less     *sampleSpec // without the column of Spec.Unknown; nil if the kind has none
	carry    []int64     // by source and column, see rounded
	keys     []string
	leaf     int // index of the label whose value becomes the innermost frame, or noSubject
	subjects []T // by slot of the place
}

// A streamRole is the use of a type's events by a Stream.
type streamRole struct {
	class   rounds.Class
	after   bool // recording.IsAfter
	samples []sampleSpec
	meters  []int // indices in Stream.meters
}

// A sampleSpec describes the samples of one kind that the events of a type are.
type sampleSpec struct {
	kind    sample.Kind
	spec    *meters.Spec
	columns []meters.Column
	counts  sample.Type   // of columns[0] if first is 1
	types   []sample.Type // of columns[first:]
	first   int
}

// NewStream returns a Stream for a trace. It calls emit for each sample as soon as its weight is known, always before
// Add, Watch or Finish returns. The Weighed, its Values and Labels are borrowed until emit returns. o may be nil.
func NewStream[T any](info *ntconv.Info, emit func(*Weighed[T]), o *StreamOptions) *Stream[T] {
	if o == nil {
		o = new(StreamOptions)
	}
	s := &Stream[T]{
		info: info, emit: emit, report: o.Report, period: rounds.NominalPeriod(info), kinds: o.Kinds, unselected: o.Unselected,
		roles: map[*ntconv.Type]*streamRole{}, recent: intern.NewCache[*ntconv.Type, *streamRole](8), tags: meters.NewTagTable(),
		all: recording.NewRange(info), until: math.MinInt64,
	}
	if s.kinds == nil {
		s.kinds = []sample.Kind{sample.Wall, sample.CPU, sample.Imported}
	}
	settings := meters.NewSettings(&o.Options, o.Window)
	settings.TypeName, settings.MethodName = meters.TypeNameOf(nil), meters.MethodNameOf(nil)
	if o.TypeName != nil {
		settings.TypeName = o.TypeName
	}
	p := &meters.Tables{Drop: map[string]bool{}, Tags: &s.tags, Schemas: new(schema.Table)}
	s.kinds = slices.DeleteFunc(slices.Clone(s.kinds), meters.OnlyTotals)
	for _, k := range s.kinds {
		spec := &meters.Specs()[k]
		for _, key := range settings.Keys(spec) {
			p.Drop[key] = o.Keep != nil && !o.Keep(key)
		}
		switch {
		case spec.Meter != nil:
			m := &streamMeter[T]{Collector: meters.NewCollector(spec, p, info, settings)}
			m.sampleSpec = newSampleSpec(spec, settings.Columns(spec))
			m.less = newLess(spec, m.columns)
			m.carry, m.keys, m.leaf = make([]int64, max(1, len(spec.Sources))*len(m.columns)), settings.Keys(spec), settings.Leaf(spec)
			m.Accept = func(f *meters.Finished) { s.accept(m, f) }
			s.meters = append(s.meters, m)
		case spec.Matches != nil && spec.Interval != meters.NoInterval:
			t := &timing[T]{Threads: rounds.NewThreads[waiting[T]](info, s.all)}
			t.Ended = s.end
			s.timing[k], s.timed = t, append(s.timed, t)
		}
	}
	return s
}

// IsSample reports whether e is a sample, or an event that samples are computed from.
func (s *Stream[T]) IsSample(e *ntconv.Event) bool {
	if e.Kind != ntconv.KindEvent {
		return false
	}
	r := s.roleOf(e)
	return len(r.samples)+len(r.meters) > 0
}

// Watch notes an event of the trace. If a selection may omit events, call it for every event and mark, so that the
// weights of selected samples do not depend on the selection. Repeating the call for an event changes nothing. It
// borrows e, and allocates only for new types and threads.
func (s *Stream[T]) Watch(e *ntconv.Event) {
	for _, i := range s.note(e).meters {
		s.meters[i].Watch(e)
	}
}

// note notes what affects the samples of other events, and returns the use of e. Repeating the call for an event changes
// nothing.
func (s *Stream[T]) note(e *ntconv.Event) *streamRole {
	switch e.Kind {
	case ntconv.KindEvent:
		if s.replicas.Has(e) {
			break
		}
		r := s.roleOf(e)
		if !r.after {
			s.all.Extend(e)
		}
		if r.class != rounds.ClassNone {
			for _, t := range s.timed {
				t.Apply(e, r.class)
			}
		}
		return r
	case ntconv.KindLost:
		for _, t := range s.timed {
			t.Lost(e.Capture)
		}
		for _, m := range s.meters {
			m.Lost(e.Capture)
		}
	case ntconv.KindMark:
		if e.Mark.Kind == ntconv.MarkThreadsRemoved {
			for _, t := range s.timed {
				t.Remove(e.Mark.Threads)
			}
			for _, m := range s.meters {
				m.Removed(e.Mark.Threads)
			}
		}
	}
	return &s.none
}

// Add adds a selected event. If it is a sample, emit receives it with the subject. Add borrows e, and includes Watch;
// calling Watch for e before is allowed.
func (s *Stream[T]) Add(e *ntconv.Event, subject T) {
	r := s.note(e)
	for i := range r.samples {
		s.add(e, &r.samples[i], subject)
	}
	for _, i := range r.meters {
		s.meters[i].addSubject(e, subject)
	}
}

// addSubject adds an event with the subject of the samples that it begins.
func (m *streamMeter[T]) addSubject(e *ntconv.Event, subject T) {
	if !m.Watched {
		m.Watch(e)
	}
	for _, p := range m.Touched {
		for p.Slot >= len(m.subjects) {
			m.subjects = append(m.subjects, subject)
		}
		m.subjects[p.Slot] = subject
	}
	m.Add(e)
}

// accept emits a sample of a meter.
func (s *Stream[T]) accept(m *streamMeter[T], f *meters.Finished) {
	if !f.Place.Selected && !s.unselected {
		return // there is no subject
	}
	carry := m.carry[int(f.Source)*len(m.columns):]
	for i := range f.Values {
		if m.columns[i].Scale == meters.ScaleFraction {
			f.Values[i], carry[i] = meters.Rounded(f.Values[i], carry[i])
		}
	}
	c := &m.sampleSpec
	if unknown := m.Collector.Spec.Unknown; unknown != nil && unknown(int(f.Source)) != meters.NoColumn {
		i := unknown(int(f.Source))
		f.Values, f.Variances = slices.Delete(f.Values, i, i+1), slices.Delete(f.Variances, i, i+1)
		c = m.less
	}
	s.out.Source, s.out.Variances = f.Source, nil
	if len(f.Variances) > 0 {
		s.out.Variances = f.Variances[c.first:]
	}
	s.out.About, s.out.Leaf = s.tags.Value(f.Tags, m.Collector.Spec.Subject), s.tags.Value(f.Tags, m.leaf)
	var subject T
	if f.Place.Selected {
		subject = m.subjects[f.Slot]
	}
	s.out.Time = f.Place.Time
	s.pass(c, m.keys, f.Values, f.Tags, subject)
	s.out.About, s.out.Leaf = "", ""
	s.out.Source, s.out.Variances = 0, nil
}

func (s *Stream[T]) add(e *ntconv.Event, c *sampleSpec, subject T) {
	s.o.Reset(len(c.columns), len(c.spec.Tags))
	if !c.spec.Measure(e, &s.o) {
		s.undecodable[c.kind].Add(e.Offset)
	}
	tags := s.tags.Id(s.o.Tags)
	t := s.timing[c.kind]
	if t == nil {
		s.out.Time = e.Time
		s.pass(c, c.spec.Tags, s.o.Values, tags, subject)
		return
	}
	l := t.Of(e.Thread)
	if _, ok := l.Advance(e.Time); !ok { // note has ended the previous interval
		t.late.Add(e.Offset)
		s.out.Time = e.Time
		s.pass(c, c.spec.Tags, s.o.Values, tags, subject)
		return
	}
	l.Wait(e.Time)
	w := &l.Data
	w.source, w.tags, w.subject, w.values = c, tags, subject, append(w.values[:0], s.o.Values...)
}

// pass converts the values of a sample in place and emits it.
func (s *Stream[T]) pass(c *sampleSpec, keys []string, values []int64, tags uint32, subject T) {
	for i := c.first; i < len(values); i++ {
		switch {
		case i == c.spec.Interval: // end has converted it
		case c.columns[i].Scale == meters.ScaleTicks:
			values[i] = int64(s.info.Clock.Duration(ntconv.Ticks(values[i])))
		case c.columns[i].Scale == meters.ScalePeriod:
			values[i] = bin.MulClamped(values[i], s.period)
		}
	}
	s.out.Count, s.out.Counts, s.out.Counted = countOf(c.columns, values), c.counts, 0
	if c.first > 0 {
		s.out.Counted = values[0]
	}
	s.labels = s.tags.AppendTags(s.labels[:0], tags, keys, nil)
	s.out.Kind, s.out.Types, s.out.Values, s.out.Labels, s.out.Subject = c.kind, c.types, values[c.first:], s.labels, subject
	s.emit(&s.out)
}

// end emits the pending sample of a thread, which lasts the given number of ticks. Its time is the difference of two
// times in nanoseconds, so that the times of a thread's samples add up exactly.
func (s *Stream[T]) end(l *rounds.Thread[waiting[T]], ticks uint64, _ rounds.Ending) {
	clock, w := &s.info.Clock, &l.Data
	until := bin.AddClamped(l.At, bin.Clamped[ntconv.Ticks](ticks))
	s.until = max(s.until, until)
	w.values[w.source.spec.Interval] += clock.Nanos(until) - clock.Nanos(l.At)
	s.out.Time = l.At
	s.pass(w.source, w.source.spec.Tags, w.values, w.tags, w.subject)
}

// OrderMatters reports whether the same events in time order could have given other samples. Call it before Finish.
func (s *Stream[T]) OrderMatters() bool {
	for _, t := range s.timed {
		if t.late.N > 0 || t.Disordered {
			return true
		}
	}
	return slices.ContainsFunc(s.meters, func(m *streamMeter[T]) bool { return m.Disordered })
}

// Unpaired returns the number of intervals of a kind that gave no sample, because their begin or end is missing. It is
// complete after Finish.
func (s *Stream[T]) Unpaired(k sample.Kind) uint64 {
	for _, m := range s.meters {
		if m.kind == k {
			return m.Cuts.Total()
		}
	}
	return 0
}

// End returns the latest end of a sample that lasts until the next one of its thread, or the smallest time if there is
// none. It may be after the selected part of the recording. It is complete after Finish.
func (s *Stream[T]) End() ntconv.Ticks { return s.until }

// Long returns the long samples of a kind, zero if samples of the kind do not last until the next one of their thread. It
// is complete after Finish.
func (s *Stream[T]) Long(k sample.Kind) rounds.Long {
	if t := s.timing[k]; t != nil {
		return t.Long()
	}
	return rounds.Long{}
}

// Finish emits the pending samples and writes notes to the report. The Stream must not be used afterwards.
func (s *Stream[T]) Finish() {
	for k, t := range s.timing {
		name := sample.Kind(k).String()
		if t != nil {
			t.Finish()
			t.Note(s.report, s.info.Clock)
			s.report.Note(ntconv.CodeOutOfOrder, t.late.N, t.late.Offset, name+" samples out of time order have no weight")
		}
		s.report.Note(ntconv.CodePayload, s.undecodable[k].N, s.undecodable[k].Offset, name+" samples")
	}
	for _, m := range s.meters {
		m.Finish(s.report)
	}
}

func (s *Stream[T]) roleOf(e *ntconv.Event) *streamRole {
	t := e.Type
	hash := uint64(t.ID)<<8 ^ uint64(len(t.Provider))
	if r := s.recent.Get(hash, &t); r != nil {
		return *r
	}
	r, ok := s.roles[t]
	if !ok {
		r = s.newRole(e)
		s.roles[t] = r
	}
	s.recent.Put(hash, &t, r)
	return r
}

func (s *Stream[T]) newRole(e *ntconv.Event) *streamRole {
	r := &streamRole{class: rounds.ClassOf(e.Type), after: recording.IsAfter(e.Type)}
	for _, k := range s.kinds {
		spec := &meters.Specs()[k]
		switch {
		case spec.Meter != nil || spec.Matches == nil || !spec.Matches(e.Type):
		case k == sample.Imported:
			r.samples = append(r.samples, newSampleSpec(spec, importedColumns(e.Type)))
		default:
			r.samples = append(r.samples, newSampleSpec(spec, spec.Columns))
		}
	}
	for i, m := range s.meters {
		if m.Role(e) != 0 {
			r.meters = append(r.meters, i)
		}
	}
	return r
}

func newSampleSpec(s *meters.Spec, columns []meters.Column) sampleSpec {
	c := sampleSpec{kind: s.Kind, spec: s, columns: columns}
	if len(columns) > 1 && columns[0].One {
		c.first, c.counts = 1, columns[0].Type
	}
	for _, column := range columns[c.first:] {
		c.types = append(c.types, column.Type)
	}
	return c
}

// newLess returns the description of samples without the column of Spec.Unknown, or nil if every source has all columns.
func newLess(s *meters.Spec, columns []meters.Column) *sampleSpec {
	for source := range s.Sources {
		if s.Unknown == nil {
			break
		}
		if i := s.Unknown(source); i != meters.NoColumn {
			c := newSampleSpec(s, slices.Delete(slices.Clone(columns), i, i+1))
			return &c
		}
	}
	return nil
}

// A timing is the state of one kind whose samples last until the next sample of their thread.
type timing[T any] struct {
	*rounds.Threads[waiting[T]]
	late meters.Tally
}

// A waiting is a sample that waits for the end of its interval.
type waiting[T any] struct {
	source  *sampleSpec
	values  []int64
	tags    uint32
	subject T
}
