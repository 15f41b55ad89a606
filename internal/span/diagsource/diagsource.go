package diagsource

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// Provider is the name of the event source.
const Provider = clr.DiagnosticSource

// Options may be nil.
type Options struct {
	// Convention types attributes by semantic conventions where these define a type other than string. Without it every
	// attribute is the text that was recorded.
	Convention bool
	// MaxOpen limits the Activities that wait for their Stop event, 0 means 100,000. The oldest one is evicted.
	MaxOpen int
	// Started is called for an Activity that begins, with the event that started it and what this event says: IDs,
	// parent, name, start time, thread. Its IDs are those that ended gets for the same Activity. Both arguments are
	// borrowed until it returns. It may be nil.
	Started func(e *ntconv.Event, s *span.Span)
	// Report counts payloads that cannot be decoded (CodePayload) and evictions (CodeNotCarried). It may be nil.
	Report *ntconv.Report
}

// Counts says what a Decoder has seen.
type Counts struct {
	Evicted   int64 // Activities that were passed on unfinished because more than MaxOpen were open
	Unmatched int64 // Stop events that hold no ID and no time, and whose Start event the trace does not have: they make no span
	Duplicate int64 // Stop events of an Activity that another Stop event had ended: one recorded by its source and by a listener
	Invalid   int64 // events whose payload is not that of an Activity
}

// A Decoder makes spans of the events of one trace. It is not safe for concurrent use.
type Decoder struct {
	options Options
	ended   func(e *ntconv.Event, s *span.Span)
	clock   clock

	kinds      map[*schema.Schema]*kind
	lastSchema *schema.Schema
	lastKind   *kind

	arguments arguments
	values    values
	keys      [2]keys // by whether a listener reported the event
	texts     texts
	scopes    map[scopeKey]*span.Scope

	lastScopeKey scopeKey
	lastScope    *span.Scope

	hash      span.Hash
	stopped   activity
	open      openTable
	listening bool // there were events of listeners, which may report what a source reports too
	recent    recent
	counts    Counts
}

const defaultMaxOpen = 100_000

// New returns a Decoder. It passes each span to ended when the Activity has stopped, with the event that stopped it. If
// the Activity was evicted or Finish was called, the event is nil, and Unfinished is set. Both are borrowed until ended
// returns.
func New(info *ntconv.Info, ended func(e *ntconv.Event, s *span.Span), o *Options) *Decoder {
	d := &Decoder{
		ended: ended, clock: newClock(info), texts: newTexts(),
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

// Add borrows an event of Provider and its schema until it returns. It reports whether the event started or stopped an
// Activity, and so is not an ordinary event of an event source.
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
		"event of "+Provider+" without the list of an Activity's properties",
	)
}

// Finish passes on the Activities that have not stopped, in the order in which they started.
func (d *Decoder) Finish() {
	for o := d.open.oldest(); o != nil; o = d.open.oldest() {
		d.giveUp(o)
	}
}

// Counts returns what the Decoder has seen so far.
func (d *Decoder) Counts() Counts { return d.counts }
