package active

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/schema"
)

// A Detector determines whether a trace may contain spans that were recorded together with samples. It is not safe for
// concurrent use.
type Detector struct {
	schemas    schema.Table
	shows      map[*ntconv.Type]bool
	recent     intern.Cache[*ntconv.Type, bool]
	last       [2]*ntconv.Type // the latest types that show no span; two, because samples alternate with other events
	lastLabels *ntconv.Labels
}

// NewDetector returns a Detector for one pass over a trace.
func NewDetector() *Detector {
	return &Detector{shows: map[*ntconv.Type]bool{}, recent: intern.NewCache[*ntconv.Type, bool](8)}
}

// Shows reports whether an event is part of a span. It borrows the event and allocates only for new types. Its fast
// path covers events that have the labels of the previous event and one of the two latest types.
func (d *Detector) Shows(e *ntconv.Event) bool {
	if e.Labels != d.lastLabels {
		if _, has := e.Labels.ID(ntconv.LabelSpanID); has {
			return true
		}
		d.lastLabels = e.Labels
	}
	if e.Type == d.last[0] || e.Type == d.last[1] {
		return false
	}
	shows := d.ofType(e)
	if !shows {
		d.last[0], d.last[1] = e.Type, d.last[0]
	}
	return shows
}

// ofType reports whether events of this type are parts of spans.
func (d *Detector) ofType(e *ntconv.Event) bool {
	hash := uint64(e.Type.ID)<<8 ^ uint64(len(e.Type.Provider))
	if known := d.recent.Get(hash, &e.Type); known != nil {
		return *known
	}
	shows, ok := d.shows[e.Type]
	if !ok {
		begin, end := tracker.IsPart(d.schemas.Of(e))
		shows = begin || end
		d.shows[e.Type] = shows
	}
	d.recent.Put(hash, &e.Type, shows)
	return shows
}
