package tracker

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
)

// parentOf returns the parent of the pair that a Start event begins, or nil, by the rule in the package comment.
func (t *Tracker) parentOf(e *ntconv.Event) *open {
	process := recording.ProcessOf(e)
	if o := t.nearest(process, t.label.related); o != nil {
		return o
	}
	id := t.label.activity
	if id.IsZero() {
		return t.innermost(e.Thread)
	}
	if o := t.nearest(process, id); o != nil {
		return o
	}
	if _, ok := span.ParseActivityPath(id); ok {
		return nil
	}
	return t.innermost(e.Thread)
}

// isUnknown reports whether no receiver knows the IDs of a span: they are synthetic, and the span is not emitted.
func (t *Tracker) isUnknown(o *open) bool { return o.MadeID && t.isContext(&o.Span) }

// activeOn returns the span that was active on the thread of an event, as far as events so far show it, or nil.
func (t *Tracker) activeOn(e *ntconv.Event) *open {
	process := recording.ProcessOf(e)
	if !t.label.id.IsZero() {
		return t.byID[t.keyOf(process)]
	}
	if id := t.label.activity; !id.IsZero() {
		return t.nearest(process, id)
	}
	return t.innermost(e.Thread)
}

// nearest returns the latest open span with an activity ID, or else with the longest prefix of it, or nil.
func (t *Tracker) nearest(process *ntconv.Process, id ntconv.GUID) *open {
	if id.IsZero() || len(t.activities) == 0 {
		return nil
	}
	if l := t.activities[activityKey{process, id}]; l != nil {
		return l.last
	}
	path, ok := span.ParseActivityPath(id)
	if !ok {
		return nil
	}
	// The first number is the application domain, which is not an activity.
	for depth := path.Depth() - 1; depth > 1; depth-- {
		if l := t.activities[activityKey{process, path.Ancestor(depth)}]; l != nil {
			return l.last
		}
	}
	return nil
}

// innermost returns the open span without an activity ID that began last on a thread, or nil. A label span is also
// considered on the thread of its latest event. Intervals of the runtime are ignored.
func (t *Tracker) innermost(th *ntconv.Thread) *open {
	s := t.stateOf(th)
	if s == nil {
		return nil
	}
	current := s.current.get()
	n := 0
	for o := s.open.last; o != nil && n < maxWalk; o = o.links[chainThread].prev {
		n++
		if o.Evidence == span.FromRuntime || !o.Activity.IsZero() || o.ended && int64(o.End) < int64(t.unix(t.now)) {
			continue
		}
		if current != nil && current.serial > o.serial {
			break
		}
		return o
	}
	return current
}
