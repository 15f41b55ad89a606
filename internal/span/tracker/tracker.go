package tracker

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/events/interval"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/diagsource"
	"github.com/ntconv/ntconv/internal/span/fields"
	"github.com/ntconv/ntconv/internal/span/stored"
	"github.com/ntconv/ntconv/schema"
)

// Unfinished states how spans are treated whose end is not in the trace.
type Unfinished uint8

const (
	DropUnfinished  Unfinished = iota // dropped and counted
	OpenUnfinished                    // emitted with End 0
	CloseUnfinished                   // emitted with the end of the recording, or its latest time on eviction, as End
)

// Options configures a Tracker. A nil pointer or the zero value selects the defaults.
type Options struct {
	Sources operation.Sources // 0 means Default
	// Context selects sources whose spans are not emitted but can be parents of other spans if the trace contains their
	// IDs. It may contain Labels and Activities, because the program itself may have exported these spans.
	Context    operation.Sources
	Unfinished Unfinished
	// MaxEvents limits the events per span; 0 means 128. Further events are counted in DroppedEvents. The limit does
	// not apply to the events in Activities and imported spans.
	MaxEvents int
	// NoEvents omits the events of spans and does not count them. It does not apply to events in the payloads of
	// Activities and imported spans.
	NoEvents bool
	// MaxOpen limits the number of open spans; 0 means 100,000. If it is exceeded, the span without an event for the
	// longest time is evicted.
	MaxOpen int
	// SerialIDs uses consecutive numbers as IDs of intervals of the runtime and of Chrome's slices. They are unique
	// only among these spans of one Tracker. A hash takes half of the time that such a span needs.
	SerialIDs bool
	// SpanIDReversed means that the label SpanId is a little-endian number, so that the W3C text form contains its
	// bytes in reverse order.
	SpanIDReversed bool
	// Convention gives attributes the type that semantic conventions define for them, if it is not string.
	Convention bool
	// OmitExporter omits the HTTP spans of an exporter that sends spans, and their descendants.
	OmitExporter bool
	// Active, if not nil, returns the span that was active on the thread of an event, for intervals of the runtime. It
	// borrows the event. Nil selects the span that the events so far show.
	Active func(*ntconv.Event) (span.Context, bool)
	// Began, if not nil, receives each span at the event that begins it, with its parent and, if the event states it, its
	// end. Spans whose begin is not recorded are only emitted. The span is borrowed, except one with FromChrome: it stays
	// valid until it is emitted, and its ParentID changes if a later slice turns out to enclose it.
	Began  func(*span.Span)
	Report *ntconv.Report
}

const (
	defaultMaxEvents = 128
	defaultMaxOpen   = 100_000
)

// Counts reports the spans of a Tracker, and events that could not become part of one.
type Counts struct {
	Spans      int64 // emitted spans
	Intervals  int64 // intervals of the runtime among these
	Linked     int64 // intervals that are children of the active span on their thread, or have a link to it
	Unfinished int64 // spans whose end is not in the trace, emitted or not
	Evicted    int64 // spans that ended early because too many were open
	MadeIDs    int64 // emitted spans with synthetic IDs
	Clamped    int64 // emitted spans that ended before they began
	Exporter   int64 // spans omitted by OmitExporter
	Invalid    int64 // spans that were not emitted because they have no valid ID or payload
	Late       int64 // events with the labels of a span that had already ended
	Unmatched  int64 // Stop events without a Start
}

// A Tracker derives spans from events. Its memory is proportional to the number of open spans and of threads. It is not
// safe for concurrent use.
//
// Every open span is in byAge. While events can find it, it is also in byID (label spans, Activities), in activities
// (if it has an activity ID), in pairs (pairs and intervals), and in the list of the thread on which it began; hide
// removes it from these, and release from byAge. label is the decoded form of the latest label list; it stays valid for
// the following events with the same list.
type Tracker struct {
	opts   Options
	clock  span.Clock
	out    func(*span.Span)
	counts Counts

	table  schema.Table
	roles  map[*ntconv.Type]*role
	others map[*schema.Schema]*role // for events whose labels override the version of their type
	last   *role                    // role of the latest event
	recent intern.Cache[*ntconv.Type, *role]
	label  labelInfo
	tasks  map[schema.Pair]*schema.Pair // pairs whose opcodes are in labels
	scopes map[string]*span.Scope
	fields *fields.Reader
	hash   span.Hash

	isBound    bool             // result of IsBound; Add clears it for each event
	collection []span.Attribute // result of Collection; not empty only while Resumed emits
	matcher    *interval.Matcher[ref]
	event      *ntconv.Event // the current event, for intervals
	role       *role         // of event

	now  ntconv.Ticks // the end of the recording so far, see recording.Range
	seen bool         // now has a value

	serial     uint64 // serial of the latest span
	byAge      list   // all open spans, by the time of their latest event
	count      int    // number of spans in byAge
	pairsOpen  int    // number of open pairs
	free       []*open
	freeLists  []*list
	threads    map[*ntconv.Thread]*thread
	removed    [2]numbering // numberings of removed threads, whose IDs may be reused at the same times
	lastThread *ntconv.Thread
	lastState  *thread
	byID       map[spanKey]*open
	activities map[activityKey]*list
	pairs      map[schema.PairKey]*list
	ended      endedSet
	labeled    bool // an event had a label with a span ID

	diag     *diagsource.Decoder
	imported *stored.Decoder[span.Span]
	chrome   chrome
	filter   *diagsource.ExportFilter
	scratch  []span.Attribute
}

// New returns a Tracker for a trace. It calls emit for each span when its end is known, from within Add or Finish. emit
// borrows the span until it returns.
func New(info *ntconv.Info, emit func(*span.Span), o *Options) *Tracker {
	t := &Tracker{
		out:        emit,
		clock:      span.ClockOf(info),
		roles:      make(map[*ntconv.Type]*role),
		others:     make(map[*schema.Schema]*role),
		recent:     intern.NewCache[*ntconv.Type, *role](8),
		tasks:      make(map[schema.Pair]*schema.Pair),
		scopes:     make(map[string]*span.Scope),
		threads:    make(map[*ntconv.Thread]*thread),
		byID:       make(map[spanKey]*open),
		activities: make(map[activityKey]*list),
		pairs:      make(map[schema.PairKey]*list),
	}
	if o != nil {
		t.opts = *o
	}
	if t.opts.Sources == 0 {
		t.opts.Sources = operation.Default
	}
	t.opts.Context &^= t.opts.Sources
	t.fields = fields.NewReader(t.opts.Report)
	t.opts.Sources |= t.opts.Context
	if t.opts.MaxEvents <= 0 {
		t.opts.MaxEvents = defaultMaxEvents
	}
	if t.opts.MaxOpen <= 0 {
		t.opts.MaxOpen = defaultMaxOpen
	}
	t.matcher = interval.NewMatcher(t.clock.Clock, interval.User[ref](intervals{t}), interval.MatcherOptions{
		Wants: t.wants, MaxOpen: t.opts.MaxOpen,
	})
	if t.opts.Sources&operation.Activities != 0 {
		t.diag = diagsource.New(info, t.activityEnded, &diagsource.Options{
			Convention: t.opts.Convention, MaxOpen: t.opts.MaxOpen, Started: t.activityStarted, Report: t.opts.Report,
		})
	}
	if t.opts.Sources&operation.Imported != 0 {
		t.imported = stored.NewDecoder(stored.Spans, t.opts.Report)
	}
	if t.opts.Sources&operation.Chrome != 0 {
		t.chrome.decoder = chromeevent.NewDecoder(t.opts.Report)
	}
	if t.opts.OmitExporter {
		t.filter = diagsource.NewExportFilter(t.pass)
	}
	return t
}

// Add processes an event, which it borrows. Call it for all events in time order, also for sequence points.
func (t *Tracker) Add(e *ntconv.Event) {
	if e.Kind != ntconv.KindEvent {
		t.matcher.Mark(e)
		if e.Mark != nil && e.Mark.Kind == ntconv.MarkThreadsRemoved {
			for i := range e.Mark.Threads {
				t.removeThread(e.Mark.Threads[i].Thread)
			}
		}
		return
	}
	t.isBound = false
	if e.Labels != nil {
		if e.Labels != t.label.of {
			t.label = t.read(e.Labels)
		}
		if t.label.replica {
			return
		}
	}
	r := t.last
	if r == nil || r.typ != e.Type {
		r = t.roleOf(e)
		t.last = r
	}
	if (e.Time > t.now || !t.seen) && !r.after {
		t.now, t.seen = e.Time, true
	}
	// Fast path: most events are irrelevant.
	if r.use == useNone && (e.Labels == nil || t.label.id.IsZero()) {
		return
	}
	t.add(e, r)
}

// add processes an event that may be relevant.
func (t *Tracker) add(e *ntconv.Event, r *role) {
	if e.Labels != t.label.of {
		t.label = t.read(e.Labels)
	}
	if r.version != e.Version() {
		r = t.otherVersion(e)
	}
	switch r.use {
	case useActivity:
		if t.isBound = t.diag.Add(e, r.schema); t.isBound {
			return
		}
	case useImported:
		t.isBound = true
		if s, ok := t.imported.Decode(e); ok {
			t.emitImported(s)
		}
		return
	case useChrome:
		t.addChrome(e)
		return
	case useNever:
		return
	}
	labeled := !t.label.id.IsZero() && t.opts.Sources&operation.Labels != 0
	if labeled {
		t.addLabeled(e, r)
	}
	switch {
	case r.use == useRuntime:
		if r.thrown && !labeled {
			t.addInner(e, r)
		}
		t.event, t.role = e, r
		t.matcher.Add(e, r.runtime)
		t.event = nil
	case r.use == useInner && !labeled:
		t.addInner(e, r)
	case r.use == usePair && !labeled:
		t.addPair(e, r)
	}
}

// addPair processes an event of an event source.
func (t *Tracker) addPair(e *ntconv.Event, r *role) {
	switch p, phase := t.phase(e, r); phase {
	case phaseStart:
		t.begin(e, r, p)
	case phaseStop:
		t.stop(e, r, p)
	default:
		t.addInner(e, r)
	}
}

// began passes on a span that has begun.
func (t *Tracker) began(s *span.Span) {
	if t.opts.Began != nil {
		t.opts.Began(s)
	}
}

// Bounds reports whether events with the type of e may begin spans, and whether they may end some.
func (t *Tracker) Bounds(e *ntconv.Event) (begin, end bool) {
	switch r := t.roleOf(e); r.use {
	case useImported:
		return true, false
	case useActivity:
		return diagsource.Begins(r.schema), true
	case useRuntime:
		return true, true
	case useChrome:
		phase, _ := chromeevent.Of(e.Type)
		role := chromeevent.RoleOf(phase)
		return phase == "" || role == chromeevent.RoleComplete || role == chromeevent.RoleBegin,
			phase == "" || role == chromeevent.RoleEnd
	case usePair: // labels can state an opcode for events of any type
		_, phase := t.phase(e, r)
		return phase == phaseStart, phase != phaseStart
	}
	return false, false
}

// IsBound reports whether the latest event begins or ends a span or an interval of the runtime, or contains an imported
// span. A Stop without a Start is not a bound. The span itself may have been dropped because it has no valid ID.
func (t *Tracker) IsBound() bool { return t.isBound }

// Counts returns the counts so far.
func (t *Tracker) Counts() Counts {
	c := t.counts
	if t.diag != nil {
		d := t.diag.Counts()
		c.Evicted += d.Evicted
		c.Invalid += d.Unmatched + d.Invalid
	}
	if t.imported != nil {
		c.Invalid += t.imported.Invalid()
	}
	if t.filter != nil {
		c.Exporter += t.filter.Omitted()
	}
	return c
}
