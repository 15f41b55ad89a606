package tracker

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// labelInfo is the decoded form of a label list.
type labelInfo struct {
	of                *ntconv.Labels
	trace             span.TraceID
	id                span.ID
	activity, related ntconv.GUID
	hasOpcode         bool
	replica           bool // recording.IsReplica
}

// read decodes labels. The last label of each kind is used.
func (t *Tracker) read(l *ntconv.Labels) labelInfo {
	n := labelInfo{of: l}
	list := l.List()
	for i := range list {
		switch v := &list[i]; v.Kind {
		case ntconv.LabelTraceID:
			n.trace = v.ID
		case ntconv.LabelSpanID:
			copy(n.id[:], v.ID[:])
			if t.opts.SpanIDReversed {
				slices.Reverse(n.id[:])
			}
		case ntconv.LabelActivityID:
			n.activity = v.ID
		case ntconv.LabelRelatedActivityID:
			n.related = v.ID
		case ntconv.LabelOpcode:
			n.hasOpcode = true
		case ntconv.LabelString:
			n.replica = n.replica || recording.IsReplicaLabel(v)
		}
	}
	return n
}

// keyOf returns the key of the span in t.label. If the labels state no trace, the trace ID is synthetic, one per
// process.
func (t *Tracker) keyOf(process *ntconv.Process) spanKey {
	key := spanKey{process, span.Context{TraceID: t.label.trace, ID: t.label.id}}
	if key.TraceID.IsZero() {
		t.identifyProcess(process)
		key.TraceID = t.hash.Trace()
	}
	return key
}

// addLabeled processes an event with the labels of a span.
func (t *Tracker) addLabeled(e *ntconv.Event, r *role) {
	o := t.labeledSpan(e, r)
	if o == nil {
		return
	}
	t.touch(o, e)
	if e.Thread != nil {
		t.threadOf(e.Thread).current = o.ref()
	}
	p, phase := t.phase(e, r)
	if o.live || r.sample {
		phase = phaseNone
	}
	outer := false
	switch phase {
	case phaseStart:
		outer = o.start(p)
		if outer {
			o.begun = true
			o.Start, o.first = t.unix(e.Time), e.Time
			o.Name, o.Scope, o.Kind, o.Thread = p.Name, r.scope, r.kind, e.Thread
		}
	case phaseStop:
		outer = o.stop(p)
		if outer && !o.begun {
			o.Name, o.Scope = p.Name, r.scope
		}
	}
	if !outer {
		o.EndThread = e.Thread
		o.count(r)
		if !r.sample {
			t.addEvent(o, e, r)
		}
		return
	}
	t.isBound = true
	var dropped uint32
	t.scratch, dropped = t.fields.Append(t.scratch[:0], e, r.schema)
	o.DroppedAttributes += dropped
	t.addStop(o)
	if phase == phaseStop {
		t.resolve(o, false)
		t.end(o, e)
	}
}

// labeledSpan returns the span in the labels of an event, and opens it for its first event. It returns nil if the span
// has already ended.
func (t *Tracker) labeledSpan(e *ntconv.Event, r *role) *open {
	t.labeled = true
	key := t.keyOf(recording.ProcessOf(e))
	if o := t.byID[key]; o != nil {
		return o
	}
	if t.ended.has(key) {
		t.counts.Late++
		return nil
	}
	var recorded span.ID
	if p := t.nearest(key.process, t.label.related); p != nil && p.TraceID == key.TraceID {
		recorded = p.ID
	}
	under := t.labelParent(e, key.TraceID)
	o := t.open(e, span.FromLabels, r.scope)
	o.Context, o.MadeID, o.ParentID = key.Context, t.label.trace.IsZero(), recorded
	if under.get() != nil { // opening may have evicted it
		o.under, o.parent = under, under.o.ID
	}
	t.byID[key] = o
	t.putOnThread(o)
	t.putActivity(o, t.label.activity)
	return o
}

// labelParent returns the open span of a trace on the thread of an event: the span of the thread's latest event with
// labels, or else the span that began last.
func (t *Tracker) labelParent(e *ntconv.Event, trace span.TraceID) (none ref) {
	s := t.stateOf(e.Thread)
	if s == nil {
		return none
	}
	if o := s.current.get(); o != nil && o.TraceID == trace {
		return o.ref()
	}
	n := 0
	for o := s.open.last; o != nil && n < maxWalk; o = o.links[chainThread].prev {
		n++
		if o.Evidence != span.FromRuntime && o.TraceID == trace {
			return o.ref()
		}
	}
	return none
}

// resolve determines the parent of a label span: the span that was open when it began, unless that span's last event
// came earlier. all states that all events are known; until then, a span that has not ended encloses the spans that
// began in it.
func (t *Tracker) resolve(o *open, all bool) {
	if o.Evidence != span.FromLabels || !o.ParentID.IsZero() {
		return
	}
	under, parent := o.under, o.parent
	for n := 0; n < maxWalk; n++ {
		p := under.get()
		if p == nil || !all || p.Evidence != span.FromLabels || p.begun || p.last >= o.first {
			o.ParentID = parent
			return
		}
		under, parent = p.under, p.parent
	}
}

// start records the Start of a task in a label span. It reports whether the span begins with it.
func (o *open) start(p *schema.Pair) (outer bool) {
	if len(o.tasks) < maxWalk {
		o.tasks = append(o.tasks, p)
	}
	return len(o.tasks) == 1 && !o.begun
}

// stop records the Stop of a task in a label span. It reports whether the span ends with it: with the Stop of its first
// Start, or with a Stop whose Start is not in the trace.
func (o *open) stop(p *schema.Pair) (outer bool) {
	if len(o.tasks) == 0 {
		return true
	}
	for i := len(o.tasks) - 1; i >= 0; i-- {
		q := o.tasks[i]
		if q == p || isBare(q) && isBare(p) && q.Provider == p.Provider {
			o.tasks = o.tasks[:i]
			return i == 0
		}
	}
	return false
}

// maxNames limits the types whose events are counted for the name of a span. Events of further types are not counted.
const maxNames = 64

// count counts an event for the name of a label span.
func (o *open) count(r *role) {
	for i := range o.names {
		if o.names[i].r == r {
			o.names[i].n++
			return
		}
	}
	if len(o.names) < maxNames {
		o.names = append(o.names, nameCount{r, 1})
	}
}

// name names a label span without a Start event after its most frequent event; the earliest of several wins. Samples
// are considered only if there is no other event.
func (t *Tracker) name(o *open) {
	if o.Name != "" {
		return
	}
	var most nameCount
	for _, c := range o.names {
		if most.r == nil || most.r.sample && !c.r.sample || most.r.sample == c.r.sample && c.n > most.n {
			most = c
		}
	}
	if most.r != nil {
		o.Name, o.Scope = most.r.label, most.r.scope
	}
}
