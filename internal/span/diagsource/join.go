package diagsource

import (
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/span"
)

// start processes a Start event. If another event has already started the same Activity, it only adds attributes.
func (d *Decoder) start(e *ntconv.Event, k *kind) {
	o := d.open.take()
	d.build(&o.activity, k)
	s := &o.span
	locate(s, e)
	identified := d.identify(s)
	o.key = openKey{s.Process, s.Context}
	if !identified {
		o.key.Context = d.correlate(e, k)
	} else if earlier := d.open.find(o.key); earlier != nil {
		earlier.extend(&o.activity)
		d.open.release(o)
		return
	}
	d.complete(s, e)
	o.time, o.listener = d.clock.Unix(e.Time), k.listener
	s.Thread = e.Thread
	s.Start = uint64(o.times.startNear(o.time))
	d.open.add(o)
	if d.options.Started != nil {
		d.options.Started(e, s)
	}
	if d.open.Len() > d.options.MaxOpen {
		d.evict()
	}
}

// evict ends the Activity that started first and counts it.
func (d *Decoder) evict() {
	detail := ""
	if d.counts.Evicted == 0 {
		detail = fmt.Sprintf(
			"spans ended early: more than %d Activities were open at the same time; raise the limit of open spans",
			d.options.MaxOpen,
		)
	}
	d.options.Report.Note(ntconv.CodeNotCarried, 1, -1, detail)
	d.counts.Evicted++
	d.giveUp(d.open.oldest())
}

// stop processes a Stop event and ends the Activity, with or without its Start event.
func (d *Decoder) stop(e *ntconv.Event, k *kind) {
	a := &d.stopped
	d.build(a, k)
	s := &a.span
	locate(s, e)
	identified := d.identify(s)
	key := openKey{s.Process, s.Context}
	if !identified {
		key.Context = d.correlate(e, k)
	}
	o := d.open.find(key)
	switch {
	case o != nil && k.listener && !o.listener && identified:
		o.extend(a) // the source itself reports the end
		return
	case o == nil && k.listener && !identified && a.times.has == 0:
		d.counts.Unmatched++
		return
	case o == nil && identified && d.listening && d.recent.has(key):
		d.counts.Duplicate++
		return
	}
	s.EndThread = e.Thread
	now := d.clock.Unix(e.Time)
	near := now
	switch {
	case o != nil:
		a.join(o, identified)
		near = o.time
		d.open.remove(o)
	case a.times.has&hasDuration != 0:
		near = bin.AddClamped(now, -a.times.duration)
	}
	d.complete(s, e)
	start := a.times.startNear(near)
	s.Start, s.End = uint64(start), uint64(max(start, now))
	if a.times.has&hasDuration != 0 {
		s.End = uint64(bin.AddClamped(start, a.times.duration))
	}
	d.ended(e, s)
	if o != nil {
		d.open.release(o)
	}
	if d.listening && identified {
		d.recent.add(key)
	}
}

// giveUp ends an Activity that has not stopped.
func (d *Decoder) giveUp(o *open) {
	d.open.remove(o)
	o.span.Unfinished = true
	d.ended(nil, &o.span)
	d.open.release(o)
}

// locate sets the process and the activity ID of a span.
func locate(s *span.Span, e *ntconv.Event) {
	if e.Thread != nil {
		s.Process = e.Thread.Process
	}
	if id, ok := e.Labels.ID(ntconv.LabelActivityID); ok {
		s.Activity = id
	}
}

// startNear returns the recorded start of an Activity, or else an estimate from the time of an event.
func (t *times) startNear(event int64) int64 {
	if t.has&hasStart != 0 {
		return t.start
	}
	return t.within(event)
}

// maxExtended limits the attributes of an Activity that several events start.
const maxExtended = 1024

// extend adds the attributes and the status of another event of the same Activity.
func (o *open) extend(a *activity) {
	if len(o.span.Attributes)+len(a.span.Attributes) <= maxExtended {
		o.span.Attributes = merge(o.span.Attributes, o.has, a.span.Attributes, a.tagged)
	}
	if o.span.Status == span.StatusUnset {
		o.span.Status, o.span.StatusMessage = a.span.Status, a.span.StatusMessage
	}
}

// join adds to the contents of the Stop event what only the Start event has. With the usual specifications, the Stop
// event is complete.
func (a *activity) join(o *open, identified bool) {
	s, first := &a.span, &o.span
	s.Thread = first.Thread
	if !identified {
		s.Context, s.MadeID = first.Context, first.MadeID
	}
	if s.ParentID.IsZero() {
		s.ParentID = first.ParentID
	}
	if s.TraceState == "" {
		s.TraceState = first.TraceState
	}
	if s.Activity.IsZero() {
		s.Activity = first.Activity
	}
	if s.Kind == span.KindUnspecified {
		s.Kind = first.Kind
	}
	if s.Status == span.StatusUnset {
		s.Status, s.StatusMessage = first.Status, first.StatusMessage
	}
	if o.listener || !a.has.contains(propDisplayName) && o.has.contains(propDisplayName) {
		s.Name = first.Name
	}
	if !a.has.any(propSource, propSourceVersion, propSourceTags, propSchemaURL) {
		s.Scope = first.Scope
	}
	if a.times.has&(hasStart|hasSecond) == 0 {
		a.times.has |= o.times.has & (hasStart | hasSecond)
		a.times.start, a.times.second = o.times.start, o.times.second
	}
	a.joinFlags(o)
	s.Attributes = merge(s.Attributes, a.has, first.Attributes, o.tagged)
	if !a.has.contains(propEvents) {
		s.Events, s.DroppedEvents = first.Events, first.DroppedEvents
	}
	if !a.has.contains(propLinks) {
		s.Links, s.DroppedLinks = first.Links, first.DroppedLinks
	}
}

// joinFlags adopts the flags that only the Start event has.
func (a *activity) joinFlags(o *open) {
	s, first := &a.span, &o.span
	const remote = span.FlagRemoteKnown | span.FlagRemote
	if !a.has.any(propTraceFlags, propID) {
		s.Flags = s.Flags&remote | first.Flags&^remote
	}
	if !a.has.contains(propRemoteParent) {
		s.Flags = s.Flags&^remote | first.Flags&remote
	}
	if !a.has.any(propTraceFlags, propID, propRecorded, propAllData) {
		s.NotRecorded = first.NotRecorded
	}
}
