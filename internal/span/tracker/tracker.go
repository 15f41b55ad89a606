package tracker

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/chromeevent"
	"github.com/ntconv/ntconv/internal/intern"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/diagsource"
	"github.com/ntconv/ntconv/schema"
)

// Sources says which events become spans, a bit set.
type Sources uint16

const (
	Labels     Sources = 1 << iota // events with labels TraceId and SpanId
	Activities                     // Activities that a DiagnosticSource recorded
	Pairs                          // Start and Stop of event sources
	Imported                       // spans imported from OTLP
	GC
	JIT
	Contention // waits for locks
	Waits      // waits for wait handles
	Exceptions
	Requests // work that the thread pool and HTTP servers and clients of the runtime report
	Chrome   // slices of Chrome's trace event format

	Default = Labels | Activities | Pairs | Imported | Chrome
)

// Unfinished says what becomes of spans whose end the trace does not show.
type Unfinished uint8

const (
	DropUnfinished  Unfinished = iota // they are counted
	OpenUnfinished                    // End is 0
	CloseUnfinished                   // End is the end of the trace, or of what was read when the span was evicted
)

// Options may be nil.
type Options struct {
	Sources Sources // 0 means Default
	// Context are sources of spans that are not passed on and still are parents of others if the trace holds their IDs.
	// It can hold Labels and Activities, whose spans the program may have exported itself.
	Context    Sources
	Unfinished Unfinished
	// MaxEvents limits the events of a span that the tracker makes, 0 means 128. Those beyond it are counted in
	// DroppedEvents. It does not apply to the events of Activities and imported spans.
	MaxEvents int
	// NoEvents omits the events of spans that the tracker makes, and does not count them. It does not apply to those
	// that the payload of an Activity or of an imported span holds.
	NoEvents bool
	// MaxOpen limits the spans that are open at a time, 0 means 100,000. The one without an event for the longest time
	// is evicted.
	MaxOpen int
	// SerialIDs makes IDs of intervals of the runtime and of Chrome's slices that are unique among these spans of this
	// Tracker and nowhere else: they are numbers. A hash takes half of the time that such a span needs.
	SerialIDs bool
	// SpanIDReversed means that the label SpanId is a little-endian number: the W3C text form shows its bytes from last
	// to first.
	SpanIDReversed bool
	// Convention types attributes by semantic conventions where these define a type other than string.
	Convention bool
	// OmitExporter omits the HTTP spans of an exporter that sends spans, and their descendants.
	OmitExporter bool
	// Active returns the span that was active on the thread of an event, for intervals of the runtime. Nil means: the
	// one that the events up to then show.
	Active func(*ntconv.Event) (span.Context, bool)
	Report *ntconv.Report
}

const (
	defaultMaxEvents = 128
	defaultMaxOpen   = 100_000
)

// Counts is what a Tracker has seen.
type Counts struct {
	Spans      int64 // passed to emit
	Intervals  int64 // of which are intervals of the runtime
	Linked     int64 // of which are children of, or have a link to, the span that was active on their thread
	Unfinished int64 // of which the trace does not show the end, whether or not they were passed to emit
	Evicted    int64 // that ended early because too many were open
	MadeIDs    int64 // passed to emit, with IDs that the trace does not hold
	Clamped    int64 // passed to emit, that ended before they began
	Exporter   int64 // omitted by OmitExporter
	Invalid    int64 // not passed to emit because they have no usable ID, or their payload does not hold a span
	Late       int64 // events with the labels of a span that had ended
	Unmatched  int64 // Stop events without a Start
}

// A Tracker makes spans of events. Its memory follows the number of open spans and of threads. It is not safe for
// concurrent use.
type Tracker struct {
	opts   Options
	clock  ntconv.Clock
	base   int64 // nanoseconds since 1970 at clock.Tick
	out    func(*span.Span)
	counts Counts

	table   schema.Table
	roles   map[*ntconv.Type]*role
	others  map[*schema.Schema]*role // of events whose labels override the version of their type
	last    *role                    // of the latest event
	recent  intern.Cache[*ntconv.Type, *role]
	label   labelInfo
	tasks   map[schema.Pair]*schema.Pair // pairs whose opcodes are labels
	scopes  map[string]*span.Scope
	strings stringCache
	hash    span.Hash

	isBound    bool             // the latest event is a bound of a span
	collection []span.Attribute // of the garbage collection of the pause that ended last

	now  ntconv.Ticks // the latest time of all events
	seen bool         // now has a value

	serial     uint64 // of the span that was opened last
	byAge      list   // all open spans, the one without an event for the longest time first
	count      int
	pairsOpen  int // open spans of pairs
	free       []*open
	freeLists  []*list
	threads    map[*ntconv.Thread]*thread
	removed    [2]numbering // of threads that are gone, because their IDs and times may come again
	lastThread *ntconv.Thread
	lastState  *thread
	byID       map[spanKey]*open
	activities map[activityKey]*list
	pairs      map[schema.PairKey]*list
	heaps      map[*ntconv.Process]*heap
	ended      endedSet
	labeled    bool // an event had a span ID as a label

	diag     *diagsource.Decoder
	imported *span.Decoder
	chrome   chrome
	filter   *diagsource.ExportFilter
	scratch  []span.Attribute
	buf      []byte
}

// New returns a Tracker of a trace. It passes each span to emit when its end is known, which is before Add or Finish
// returns; the span is borrowed until emit returns.
func New(info *ntconv.Info, emit func(*span.Span), o *Options) *Tracker {
	t := &Tracker{
		out:        emit,
		clock:      info.Clock,
		roles:      make(map[*ntconv.Type]*role),
		others:     make(map[*schema.Schema]*role),
		recent:     intern.NewCache[*ntconv.Type, *role](8),
		tasks:      make(map[schema.Pair]*schema.Pair),
		scopes:     make(map[string]*span.Scope),
		strings:    newStringCache(),
		threads:    make(map[*ntconv.Thread]*thread),
		byID:       make(map[spanKey]*open),
		activities: make(map[activityKey]*list),
		pairs:      make(map[schema.PairKey]*list),
		heaps:      make(map[*ntconv.Process]*heap),
	}
	if o != nil {
		t.opts = *o
	}
	if t.opts.Sources == 0 {
		t.opts.Sources = Default
	}
	t.opts.Context &^= t.opts.Sources
	t.opts.Sources |= t.opts.Context
	if t.opts.MaxEvents <= 0 {
		t.opts.MaxEvents = defaultMaxEvents
	}
	if t.opts.MaxOpen <= 0 {
		t.opts.MaxOpen = defaultMaxOpen
	}
	if !t.clock.Wall.IsZero() {
		t.base = t.clock.Wall.UnixNano()
	}
	if t.opts.Sources&Activities != 0 {
		t.diag = diagsource.New(info, t.activityEnded, &diagsource.Options{
			Convention: t.opts.Convention, MaxOpen: t.opts.MaxOpen, Started: t.activityStarted, Report: t.opts.Report,
		})
	}
	if t.opts.Sources&Imported != 0 {
		t.imported = span.NewDecoder(t.opts.Report)
	}
	if t.opts.Sources&Chrome != 0 {
		t.chrome.decoder = chromeevent.NewDecoder(t.opts.Report)
	}
	if t.opts.OmitExporter {
		t.filter = diagsource.NewExportFilter(t.pass)
	}
	return t
}

// Add borrows an event until it returns.
func (t *Tracker) Add(e *ntconv.Event) {
	if e.Kind != ntconv.KindEvent {
		if e.Mark != nil && e.Mark.Kind == ntconv.MarkThreadsRemoved {
			for i := range e.Mark.Threads {
				t.removeThread(e.Mark.Threads[i].Thread)
			}
		}
		return
	}
	if e.Time > t.now || !t.seen {
		t.now, t.seen = e.Time, true
	}
	t.isBound = false
	r := t.last
	if r == nil || r.typ != e.Type {
		r = t.roleOf(e)
		t.last = r
	}
	// Most events are of no interest. Recorders repeat few label lists, so the latest one is usually that of this
	// event.
	if r.use == useNone && (e.Labels == nil || e.Labels == t.label.of && t.label.id.IsZero()) {
		return
	}
	t.add(e, r)
}

// add handles an event that may be of interest.
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
	labeled := !t.label.id.IsZero() && t.opts.Sources&Labels != 0
	if labeled {
		t.addLabeled(e, r)
	}
	switch {
	case r.use == useRuntime:
		if r.thrown && !labeled {
			t.addInner(e, r)
		}
		t.addRuntime(e, r)
	case r.use == useInner && !labeled:
		t.addInner(e, r)
	case r.use == usePair && !labeled:
		t.addPair(e, r)
	}
}

// addPair handles an event of an event source.
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

// IsBound reports whether the latest event that Add got begins or ends a span or an interval of the runtime, or holds
// an imported span. A Stop without a Start is not a bound. The span itself may be dropped because it has no usable ID.
func (t *Tracker) IsBound() bool { return t.isBound }

// Counts returns what the tracker has seen so far.
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
