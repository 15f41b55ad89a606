package active

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/schema"
)

// A Detector finds out whether a trace may hold spans that were recorded together with samples. The zero value is ready to use. It is
// not safe for concurrent use.
type Detector struct {
	schemas    schema.Table
	shows      map[*ntconv.Type]bool
	last       *ntconv.Type
	lastLabels *ntconv.Labels
}

// Shows reports whether an event is part of a span. It borrows the event and allocates only for new types. It is fast for events that
// have the type and the labels of the previous event.
func (d *Detector) Shows(e *ntconv.Event) bool {
	if e.Labels != d.lastLabels {
		if _, has := e.Labels.ID(ntconv.LabelSpanID); has {
			return true
		}
		d.lastLabels = e.Labels
	}
	if e.Type == d.last {
		return false
	}
	shows, ok := d.shows[e.Type]
	if !ok {
		if d.shows == nil {
			d.shows = map[*ntconv.Type]bool{}
		}
		shows = d.showsType(e)
		d.shows[e.Type] = shows
	}
	if !shows {
		d.last = e.Type
	}
	return shows
}

// showsType reports whether events of a type start or end spans: Activities, and operations of event sources.
func (d *Detector) showsType(e *ntconv.Event) bool {
	if !tracker.HasPairs(e.Type.Provider) {
		return false
	}
	s := d.schemas.Of(e)
	for _, p := range append(append([]*schema.Pair(nil), s.EndedBy()...), s.Ends()...) {
		if p.Key == schema.KeyActivity {
			return true
		}
	}
	return false
}
