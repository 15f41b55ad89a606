package tracker

import (
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
)

// chrome is the state for slices of Chrome's trace event format.
type chrome struct {
	decoder *chromeevent.Decoder
	pairer  chromeevent.Pairer[ref]
	// flows maps the numbers of flows to the slices in which they began. If the first map is full, it replaces the
	// second one, which discards the older half.
	flows [2]map[uint64]span.Context
	ties  []tie        // ends of arrows at the latest time
	async span.Context // result of AsyncSlice; set for each event
}

const (
	// maxFlows is the minimum number of flows whose begins are retained. The end of a flow may be missing.
	maxFlows = 1 << 15
	// maxLinks limits the links of a slice, and those that wait for the next slice of a thread.
	maxLinks = 128
	// attrID is the key of the ID that the events of an asynchronous slice share.
	attrID = "chrome.id"
)

// chromeUse returns the use of Chrome events with a phase. If the phase is "", the payload contains it.
func (t *Tracker) chromeUse(phase string) use {
	relevant := phase == "" || isInstant(phase) || chromeevent.RoleOf(phase) != chromeevent.RoleNone
	return useIf(t.opts.Sources&operation.Chrome != 0 && relevant, useChrome, useNone)
}

func isInstant(phase string) bool {
	return phase == chromeevent.PhaseInstant || phase == chromeevent.PhaseOldInstant
}

// addChrome processes an event of Chrome's format.
func (t *Tracker) addChrome(e *ntconv.Event) {
	t.chrome.async = span.Context{}
	c, ok := t.chrome.decoder.Decode(e)
	if !ok || c.TopLevel {
		return
	}
	t.endComplete(e)
	switch chromeevent.RoleOf(c.Phase) {
	case chromeevent.RoleComplete:
		t.isBound = true
		t.addComplete(e, c)
	case chromeevent.RoleBegin:
		t.isBound = true
		if c.IsArrow() {
			t.chrome.pairer.Begin(c, e.Thread, ref{}) // so that its end is matched with it
			t.addFlow(e, c)
			return
		}
		t.beginSlice(e, c)
	case chromeevent.RoleStep:
		t.stepSlice(e, c)
	case chromeevent.RoleEnd:
		t.endSlice(e, c)
	case chromeevent.RoleFlowBegin, chromeevent.RoleFlowStep, chromeevent.RoleFlowEnd:
		t.addFlow(e, c)
	default:
		if isInstant(c.Phase) && (c.Scope == "" || c.Scope == "t") {
			t.addStep(t.slice(e), e, c)
		}
	}
}

// addComplete opens the span of a slice whose end is known. endComplete emits it when an event of its thread is later
// than the end.
func (t *Tracker) addComplete(e *ntconv.Event, c *chromeevent.Event) {
	duration := c.Duration
	if c.Has&chromeevent.HasDuration == 0 {
		duration = c.ThreadDuration // 0 if it is also absent
	}
	start := int64(t.unix(e.Time))
	end := start + duration
	if duration > 0 && end < start {
		end = math.MaxInt64
	}
	o := t.openSlice(e, c, t.outerSlice(e, end))
	o.ended, o.End = true, uint64(end)
	t.flow(o, e, c)
	if o.Thread == nil {
		t.began(&o.Span)
		t.emit(o) // no event of a thread can show that the slice is over
		return
	}
	t.putOnThread(o)
	t.encloseTies(o)
	s := t.threadOf(o.Thread)
	s.soonest = min(s.soonest, end)
	t.began(&o.Span)
}

// beginSlice opens the span of a slice that another event ends.
func (t *Tracker) beginSlice(e *ntconv.Event, c *chromeevent.Event) {
	onThread := c.Phase == chromeevent.PhaseBegin
	var parent *open
	if onThread {
		parent = t.outerSlice(e, math.MinInt64)
	} else if r, ok := t.chrome.pairer.Step(c, e.Thread); ok {
		parent = r.get()
	}
	o := t.openSlice(e, c, parent)
	if onThread {
		t.flow(o, e, c)
		t.putOnThread(o)
	} else {
		if c.ID.Kind != chromeevent.NoID {
			o.Attributes = append(o.Attributes, span.Attribute{Key: attrID, Value: span.String(t.fields.Text(c.ID.Text))})
		}
		t.chrome.async = o.Context
		t.ownFlow(o, e, c)
	}
	t.chrome.pairer.Begin(c, e.Thread, o.ref())
	t.began(&o.Span)
}

// stepSlice adds an event to the span of an asynchronous slice, unless the event is only an end of an arrow.
func (t *Tracker) stepSlice(e *ntconv.Event, c *chromeevent.Event) {
	r, ok := t.chrome.pairer.Step(c, e.Thread)
	o := r.get()
	if !ok || o == nil {
		return
	}
	t.chrome.async = o.Context
	if t.ownFlow(o, e, c) && c.Name == o.Name && len(c.Args) == 0 {
		t.isBound = true
		return
	}
	t.addStep(o, e, c)
}

// AsyncSlice returns the asynchronous slice that the latest event of Chrome's format begins or occurs in. It returns
// the zero Context if there is none, or if the slice is no longer known.
func (t *Tracker) AsyncSlice() span.Context { return t.chrome.async }

// openSlice opens the span for the first event of a slice. parent may be nil.
func (t *Tracker) openSlice(e *ntconv.Event, c *chromeevent.Event, parent *open) *open {
	var context span.Context
	if parent != nil {
		context = parent.Context
	}
	o := t.open(e, span.FromChrome, t.scopeOf(c.Category)) // may evict the parent
	t.isBound = true
	o.Name = c.Name
	f, recorded, ok := t.factsIn(c.Args)
	if ok = ok && t.restore(o, &f, recorded); !ok {
		t.makeIDs(o, e, c.Category, c.Name, context)
	}
	o.Attributes, o.DroppedAttributes = t.appendArgs(o.Attributes, c.Args, ok)
	return o
}

// endSlice ends the span of a slice with its last event, whose args are added to those of the begin.
func (t *Tracker) endSlice(e *ntconv.Event, c *chromeevent.Event) {
	r, ok := t.chrome.pairer.End(c, e.Thread)
	if !ok {
		t.counts.Unmatched++
		return
	}
	t.isBound = true
	o := r.get()
	if o == nil {
		return // it was evicted
	}
	if o.Name == "" {
		o.Name = c.Name
	}
	var dropped uint32
	t.scratch, dropped = t.appendArgs(t.scratch[:0], c.Args, false)
	o.DroppedAttributes += dropped
	t.addStop(o)
	t.end(o, e)
}

// endComplete emits the complete slices on the thread of an event that ended before the event.
func (t *Tracker) endComplete(e *ntconv.Event) {
	s := t.stateOf(e.Thread)
	now := int64(t.unix(e.Time))
	if s == nil || s.soonest >= now {
		return
	}
	s.soonest = math.MaxInt64
	o := s.open.last
	for n := 0; o != nil; n++ {
		if n == maxWalk {
			s.soonest = now // a later event examines the others
			return
		}
		outer := o.links[chainThread].prev
		switch {
		case !o.ended:
		case int64(o.End) < now:
			outlast(o)
			t.emit(o)
		default:
			s.soonest = min(s.soonest, int64(o.End))
		}
		o = outer
	}
}

// outlast moves the slices that began in a complete slice and are still open after its end to its parent.
func outlast(o *open) {
	x := o.links[chainThread].next
	for n := 0; x != nil && n < maxWalk; n++ {
		if x.ParentID == o.ID && x.MadeID && !x.ended {
			x.ParentID = o.ParentID
		}
		x = x.links[chainThread].next
	}
}

// outerSlice returns the innermost slice on the thread of an event that lasts at least until end, or nil. A slice that
// ends when another one begins does not enclose it.
func (t *Tracker) outerSlice(e *ntconv.Event, end int64) *open {
	start := int64(t.unix(e.Time))
	return t.innermostSlice(e.Thread, func(o *open) bool {
		return !o.ended || int64(o.End) > start && int64(o.End) >= end
	})
}

// slice returns the innermost slice on the thread of an event, or nil.
func (t *Tracker) slice(e *ntconv.Event) *open {
	now := int64(t.unix(e.Time))
	return t.innermostSlice(e.Thread, func(o *open) bool { return !o.ended || int64(o.End) >= now })
}

func (t *Tracker) innermostSlice(th *ntconv.Thread, ok func(*open) bool) *open {
	s := t.stateOf(th)
	if s == nil {
		return nil
	}
	o := s.open.last
	for n := 0; o != nil && n < maxWalk; n++ {
		if o.Evidence == span.FromChrome && ok(o) {
			return o
		}
		o = o.links[chainThread].prev
	}
	return nil
}

// addStep adds an event to the span of a slice, which may be nil.
func (t *Tracker) addStep(o *open, e *ntconv.Event, c *chromeevent.Event) {
	if o == nil {
		return
	}
	t.touch(o, e)
	v := t.nextEvent(o, e)
	if v == nil {
		return
	}
	v.Name = c.Name
	v.Attributes, v.DroppedAttributes = t.appendArgs(v.Attributes[:0], c.Args, false)
}

// addFlow processes an end of an arrow. It belongs to the enclosing slice; an end of a flow without a binding point
// belongs to the next slice of its thread.
func (t *Tracker) addFlow(e *ntconv.Event, c *chromeevent.Event) {
	number, in, out := t.chrome.pairer.Flow(c, e.Thread)
	if number == 0 || e.Thread == nil {
		return
	}
	from, known := t.flowFrom(number)
	in = in && known
	if chromeevent.RoleOf(c.Phase) == chromeevent.RoleFlowEnd && c.BindPoint != "e" {
		if s := t.threadOf(e.Thread); in && len(s.waiting) < maxLinks {
			s.waiting = append(s.waiting, from)
		}
		return
	}
	a := tie{thread: e.Thread, at: e.Time, number: number, from: from, in: in, out: out}
	if o := t.slice(e); o != nil {
		t.bind(&a, o)
	}
	t.addTie(a)
}

// flow adds links to a slice on a thread: for the arrows that wait for the next slice, and for its own ones.
func (t *Tracker) flow(o *open, e *ntconv.Event, c *chromeevent.Event) {
	if s := t.stateOf(e.Thread); s != nil {
		for _, from := range s.waiting {
			o.link(from)
		}
		s.waiting = s.waiting[:0]
	}
	t.ownFlow(o, e, c)
}

// ownFlow adds the arrows of an event with bind_id to a slice. It returns false if the event has no arrow.
func (t *Tracker) ownFlow(o *open, e *ntconv.Event, c *chromeevent.Event) bool {
	number, in, out := t.chrome.pairer.Flow(c, e.Thread)
	if number == 0 {
		return false
	}
	from, known := t.flowFrom(number)
	t.bind(&tie{number: number, from: from, in: in && known, out: out}, o)
	return true
}

// bind assigns an end of an arrow to a slice.
func (t *Tracker) bind(a *tie, o *open) {
	a.bound = o.ref()
	if a.in {
		o.link(a.from)
	}
	if a.out {
		t.setFlow(a.number, o.Context)
	}
}

// setFlow stores the slice in which the latest arrow of a flow began.
func (t *Tracker) setFlow(number uint64, from span.Context) {
	flows := &t.chrome.flows
	if len(flows[0]) >= maxFlows {
		flows[0], flows[1] = nil, flows[0]
	}
	if flows[0] == nil {
		flows[0] = make(map[uint64]span.Context)
	}
	flows[0][number] = from
}

// flowFrom returns the slice in which the latest arrow of a flow began.
func (t *Tracker) flowFrom(number uint64) (from span.Context, ok bool) {
	for _, known := range t.chrome.flows {
		if from, ok = known[number]; ok {
			break
		}
	}
	return from, ok
}

// link adds a link to another span. It ignores a link to itself.
func (o *open) link(to span.Context) {
	switch {
	case to == o.Context:
	case len(o.Links) >= maxLinks:
		o.DroppedLinks++
	default:
		o.Links = append(o.Links, span.Link{Context: to})
	}
}
