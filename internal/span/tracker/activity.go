package tracker

import (
	"cmp"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// activityStarted opens a live span for an Activity: it only serves to find the active span and to collect events. The
// decoder holds the data of the Activity.
func (t *Tracker) activityStarted(e *ntconv.Event, s *span.Span) {
	t.began(s)
	key := spanKey{s.Process, s.Context}
	if o := t.byID[key]; o != nil { // events with its labels came first
		o.live = true
		return
	}
	o := t.open(e, span.FromActivity, s.Scope)
	o.Context, o.MadeID, o.Process, o.live = s.Context, s.MadeID, s.Process, true
	t.byID[key] = o
	t.putOnThread(o)
	t.putActivity(o, s.Activity)
}

// activityEnded emits the span of an Activity, with the events that had its labels.
func (t *Tracker) activityEnded(e *ntconv.Event, s *span.Span) {
	key := spanKey{s.Process, s.Context}
	o := t.byID[key]
	if o == nil {
		t.remember(key)
	} else if len(o.Events) > 0 {
		s.Events = append(s.Events, o.Events...)
		slices.SortStableFunc(s.Events, func(a, b span.Event) int { return cmp.Compare(int64(a.Time), int64(b.Time)) })
		s.DroppedEvents += o.DroppedEvents
	}
	if e != nil || t.unfinished(s) {
		t.complete(s)
	}
	if o != nil { // release reuses o.Events, which emit has borrowed until now
		t.release(o)
	}
}

// emitImported emits an imported span unchanged.
func (t *Tracker) emitImported(s *span.Span) {
	t.began(s)
	if t.filter != nil {
		t.filter.Add(s)
		return
	}
	t.pass(s)
}
