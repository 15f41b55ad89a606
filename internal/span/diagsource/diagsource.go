package diagsource

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// Provider is the name of the event source.
const Provider = clr.DiagnosticSource

// Options configures a Decoder. A nil pointer or the zero value selects the defaults.
type Options struct {
	// Convention gives attributes the type that semantic conventions define for them. Without it every attribute is the
	// recorded string.
	Convention bool
	// MaxOpen limits the Activities that wait for their Stop event; 0 means 100,000. If it is exceeded, the oldest one
	// is evicted.
	MaxOpen int
	// Started, if not nil, is called for an Activity that begins, with the event that started it and the contents of
	// that event: IDs, parent, name, start time and thread. ended later gets the same IDs for the Activity. Both
	// arguments are borrowed until Started returns.
	Started func(e *ntconv.Event, s *span.Span)
	// Report counts payloads that cannot be decoded (CodePayload) and evictions (CodeNotCarried). It may be nil.
	Report *ntconv.Report
}

// Counts reports events that did not become spans in the usual way.
type Counts struct {
	Evicted   int64 // Activities that became unfinished spans because more than MaxOpen were open
	Unmatched int64 // Stop events without ID, time and Start event; they yield no span
	Duplicate int64 // Stop events of an Activity that has already stopped: a source and a listener recorded it
	Invalid   int64 // events whose payload is not one of an Activity
}

// A Decoder derives spans from the events of one trace. It is not safe for concurrent use.
//
// Add sets arguments and values from the event; start and stop read them. stopped is reused for each Stop event. An
// open Activity is in open from its Start event until stop or giveUp removes it.
type Decoder struct {
	options Options
	ended   func(e *ntconv.Event, s *span.Span)
	clock   span.Clock

	kinds      map[*schema.Schema]*kind
	lastSchema *schema.Schema
	lastKind   *kind

	arguments arguments
	values    values
	keys      [2]keys // of events of sources (0) and of listeners (1)
	strings   stringCache
	scopes    map[scopeKey]*span.Scope

	lastScopeKey scopeKey
	lastScope    *span.Scope

	hash      span.Hash
	stopped   activity
	open      openTable
	listening bool // listeners have reported events, which may duplicate those of a source
	recent    recent
	counts    Counts
}

// defaultMaxOpen is the default of Options.MaxOpen.
const defaultMaxOpen = 100_000

// New returns a Decoder for a trace. It calls ended for each span when the Activity has stopped, with the Stop event.
// If the Activity was evicted, or Finish ended it, the event is nil and Unfinished is set. Both arguments are borrowed
// until ended returns.
func New(info *ntconv.Info, ended func(e *ntconv.Event, s *span.Span), o *Options) *Decoder {
	d := &Decoder{
		ended: ended, clock: span.ClockOf(info), strings: newStringCache(),
		kinds: make(map[*schema.Schema]*kind), scopes: make(map[scopeKey]*span.Scope),
	}
	if o != nil {
		d.options = *o
	}
	if d.options.MaxOpen <= 0 {
		d.options.MaxOpen = defaultMaxOpen
	}
	d.keys[1].listener = true
	d.open.init()
	return d
}

// Add processes an event and its schema, which it borrows. It reports whether the event started or stopped an Activity;
// otherwise the event is an ordinary event of an event source. Pass all events of Provider in time order.
func (d *Decoder) Add(e *ntconv.Event, s *schema.Schema) bool {
	k := d.kind(s)
	if k.phase == phaseNone || e.Kind != ntconv.KindEvent {
		return false
	}
	if !d.arguments.read(e, k, s) {
		d.invalid(e)
		return false
	}
	phase := k.phaseOf(d.arguments.name)
	if phase == phaseNone {
		return false
	}
	keys, stop := &d.keys[0], 0
	if k.listener {
		keys, d.listening = &d.keys[1], true
	}
	if phase == phaseStop {
		stop = 1
	}
	if !d.values.read(&d.arguments, keys, stop) {
		d.invalid(e)
		return false
	}
	if phase == phaseStart {
		d.start(e, k)
	} else {
		d.stop(e, k)
	}
	return true
}

func (d *Decoder) kind(s *schema.Schema) *kind {
	if s == d.lastSchema {
		return d.lastKind
	}
	k := d.kinds[s]
	if k == nil {
		k = kindOf(s)
		d.kinds[s] = k
	}
	d.lastSchema, d.lastKind = s, k
	return k
}

func (d *Decoder) invalid(e *ntconv.Event) {
	d.counts.Invalid++
	d.options.Report.Note(
		ntconv.CodePayload,
		1,
		e.Offset,
		"event of "+Provider+" has no list of an Activity's properties",
	)
}

// Finish ends all open Activities in the order in which they started. Call it after the last event.
func (d *Decoder) Finish() {
	for o := d.open.oldest(); o != nil; o = d.open.oldest() {
		d.giveUp(o)
	}
}

// Counts returns the counts so far.
func (d *Decoder) Counts() Counts { return d.counts }
