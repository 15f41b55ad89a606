package tracker

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/schema"
)

// begin opens the span of a Start event.
func (t *Tracker) begin(e *ntconv.Event, r *role, p *schema.Pair) {
	if t.opts.Sources&operation.Pairs == 0 && p.Name != requestTask {
		return
	}
	parent := t.parentOf(e)
	var context span.Context
	omit := false
	if parent != nil && !t.isUnknown(parent) {
		context, omit = parent.Context, parent.omit
	}
	o := t.open(e, span.FromPair, r.scope) // may evict the parent
	o.pair, o.Name, o.Kind = p, p.Name, r.kind
	t.isBound = true
	t.pairsOpen++
	t.putOnThread(o)
	t.putActivity(o, t.label.activity)
	t.putPair(o, schema.PairKey{Pair: p, Process: o.Process})
	t.makeIDs(o, e, p.Provider, p.Name, context)
	var dropped uint32
	o.Attributes, dropped = t.fields.Append(o.Attributes, e, r.schema)
	o.DroppedAttributes += dropped
	o.omit = t.opts.OmitExporter && (omit || r.http != "" && isExport(r.http, o.Attributes))
	t.began(&o.Span)
}

// stop ends the span of a Stop event.
func (t *Tracker) stop(e *ntconv.Event, r *role, p *schema.Pair) {
	var dropped uint32
	t.scratch, dropped = t.fields.Append(t.scratch[:0], e, r.schema)
	o := t.startOf(e, p, t.scratch)
	if o == nil {
		t.counts.Unmatched++
		t.addInner(e, r)
		return
	}
	t.isBound = true
	o.DroppedAttributes += dropped
	t.addStop(o)
	t.end(o, e)
}

// addStop adds the attributes of a Stop event in t.scratch to those of the Start.
func (t *Tracker) addStop(o *open) {
	begun := len(o.Attributes)
	for _, a := range t.scratch {
		if i := find(o.Attributes[:begun], a.Key); i >= 0 {
			if equalScalar(o.Attributes[i].Value, a.Value) {
				continue
			}
			a.Key = "stop." + a.Key
		}
		o.Attributes = append(o.Attributes, a)
	}
}

// startOf returns the span that a Stop event with these attributes ends, or nil, by the rule in the package comment.
func (t *Tracker) startOf(e *ntconv.Event, p *schema.Pair, stop []span.Attribute) *open {
	if id := t.label.activity; !id.IsZero() {
		if l := t.activities[activityKey{recording.ProcessOf(e), id}]; l != nil {
			return latest(l, chainActivity, p, nil)
		}
		return nil
	}
	s := t.stateOf(e.Thread)
	var onThread *open
	if s != nil {
		if o := latest(&s.open, chainThread, p, stop); o != nil {
			return o
		}
		onThread = latest(&s.open, chainThread, p, nil)
	}
	if o := t.onlyOne(schema.PairKey{Pair: p, Process: recording.ProcessOf(e)}, stop); o != nil {
		return o
	}
	return onThread
}

// latest returns the latest span in a list that an event of the pair can end: a span of the pair, or else one whose
// event names do not reveal the task either. In a list by thread, it considers only spans without an activity ID. If
// stop is not nil, the span must agree with these attributes.
func latest(l *list, chain int, p *schema.Pair, stop []span.Attribute) *open {
	var bare *open
	n := 0
	for o := l.last; o != nil && n < maxWalk; o = o.links[chain].prev {
		n++
		if o.Evidence != span.FromPair || chain == chainThread && !o.Activity.IsZero() {
			continue
		}
		if stop != nil {
			if common, equal := agree(o.Attributes, stop); common == 0 || !equal {
				continue
			}
		}
		switch {
		case o.pair == p:
			return o
		case bare == nil && isBare(p) && isBare(o.pair) && o.pair.Provider == p.Provider:
			bare = o
		}
	}
	return bare
}

// onlyOne returns the span of a pair that agrees with a Stop event if it is the only one in the process, and otherwise
// nil. A Stop event that shares no fields with the Start agrees only if no other span of the pair is open.
func (t *Tracker) onlyOne(key schema.PairKey, stop []span.Attribute) *open {
	l := t.pairs[key]
	if l == nil {
		return nil
	}
	var found *open
	n := 0
	for o := l.last; o != nil; o = o.links[chainPair].prev {
		if n++; n > maxWalk {
			return nil
		}
		common, equal := agree(o.Attributes, stop)
		if !equal || common == 0 && l.first != l.last {
			continue
		}
		if found != nil {
			return nil
		}
		found = o
	}
	return found
}

// addInner adds an event to the pair in which it occurs, if any.
func (t *Tracker) addInner(e *ntconv.Event, r *role) {
	if t.pairsOpen == 0 {
		return
	}
	var o *open
	if id := t.label.activity; !id.IsZero() {
		o = t.nearest(recording.ProcessOf(e), id)
	} else {
		o = t.innermost(e.Thread)
	}
	if o != nil && o.Evidence == span.FromPair {
		t.touch(o, e)
		t.addEvent(o, e, r)
	}
}

// addEvent adds an event to a span.
func (t *Tracker) addEvent(o *open, e *ntconv.Event, r *role) {
	v := t.nextEvent(o, e)
	if v == nil {
		return
	}
	if r.thrown {
		v.Name = "exception"
		v.Attributes = t.mapped(v.Attributes[:0], e, r, operation.Named("exception"))
		return
	}
	if v.Name = r.label; r.scope == o.Scope && o.Evidence == span.FromPair && r.schema.Name != "" {
		v.Name = r.schema.Name
	}
	v.Attributes, v.DroppedAttributes = t.fields.Append(v.Attributes[:0], e, r.schema)
}

// nextEvent appends an event with the time of e to a span. Its attributes are those of an earlier event, whose memory
// the caller reuses. nextEvent returns nil if the span has too many events or the options omit events.
func (t *Tracker) nextEvent(o *open, e *ntconv.Event) *span.Event {
	if t.opts.NoEvents {
		return nil
	}
	if len(o.Events) >= t.opts.MaxEvents {
		o.DroppedEvents++
		return nil
	}
	n := len(o.Events)
	if n < cap(o.Events) {
		o.Events = o.Events[:n+1]
	} else {
		o.Events = append(o.Events, span.Event{})
	}
	v := &o.Events[n]
	v.Time = t.unix(e.Time)
	return v
}
