package tracker

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/interval"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
)

// An intervals opens and ends the spans of the intervals that an interval.Matcher finds. A span may be evicted before
// its interval ends.
type intervals struct{ *Tracker }

// Begin implements interval.User.
func (t intervals) Begin(_ *ntconv.Event, b *interval.Bound) ref { return t.beginInterval(b.Of) }

// End implements interval.User.
func (t intervals) End(_ *ntconv.Event, r ref) {
	if o := r.get(); o != nil {
		t.endInterval(o)
		t.emit(o)
	}
}

// Cut implements interval.User.
func (t intervals) Cut(r ref, _ interval.Cut) {
	if o := r.get(); o != nil {
		t.finish(o)
	}
}

// Alone implements interval.User.
func (t intervals) Alone(*ntconv.Event, *interval.Bound) {}

// Suspending implements interval.HeapUser.
func (t intervals) Suspending(s *interval.Suspension[ref]) {
	name := "suspension"
	if s.IsPause() {
		name = "gc_pause"
	}
	s.Data = t.beginInterval(operation.Named(name))
}

// Collecting implements interval.HeapUser.
func (t intervals) Collecting(c *interval.Collection[ref]) {
	c.Data = t.beginInterval(operation.Named("gc"))
}

// Ending implements interval.HeapUser. The span is emitted when the duration of the pause is known.
func (t intervals) Ending(c *interval.Collection[ref]) {
	if o := c.Data.get(); o != nil {
		t.endInterval(o)
	}
}

// Resumed implements interval.HeapUser.
func (t intervals) Resumed(s *interval.Suspension[ref], of []*interval.Collection[ref]) {
	for _, c := range of {
		if o := c.Data.get(); o != nil {
			o.paused = c.Paused
		}
	}
	o := s.Data.get()
	if o == nil {
		return
	}
	if s.Owner != nil {
		if c := s.Owner.Data.get(); c != nil {
			o.TraceID, o.ParentID = c.TraceID, c.ID
			t.collection = c.Attributes
		}
	}
	t.endInterval(o)
	t.emit(o)
	t.collection = nil
}

// Collected implements interval.HeapUser.
func (t intervals) Collected(c *interval.Collection[ref]) {
	if o := c.Data.get(); o != nil {
		t.addPause(o)
		t.emit(o)
	}
}

// CutSuspension implements interval.HeapUser.
func (t intervals) CutSuspension(s *interval.Suspension[ref], reason interval.Cut) {
	t.Cut(s.Data, reason)
}

// CutCollection implements interval.HeapUser.
func (t intervals) CutCollection(c *interval.Collection[ref], reason interval.Cut) {
	t.Cut(c.Data, reason)
}

// Unmatched implements interval.HeapUser.
func (t intervals) Unmatched() {}

// Collection returns the attributes of the garbage collection to which a pause belongs, or nil if it is unknown. Call
// it in emit for the pause; the result is borrowed until emit returns.
func (t *Tracker) Collection() []span.Attribute { return t.collection }

// addPause adds an attribute that states for how long a collection suspended the runtime.
func (t *Tracker) addPause(o *open) {
	if o.paused > 0 {
		o.Attributes = append(o.Attributes, span.Attribute{Key: operation.AttrGCPause, Value: span.Int(o.paused)})
	}
}
