package tracker

import (
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// Recorders write a complete slice when it ends, after all events in it. Files are sorted by time, but events in the
// first microsecond of a slice have the time of its begin and still precede it: slices that it encloses, and ends of
// arrows that belong to it.

// A tie is an end of an arrow at the latest time.
type tie struct {
	thread  *ntconv.Thread
	at      ntconv.Ticks
	number  uint64       // of the flow
	from    span.Context // if in is set: the slice in which the arrow began
	in, out bool
	bound   ref // the slice to which it belongs so far
}

// maxTies limits, per time, the arrows and the slices on a thread that are compared with later slices of the same time.
const maxTies = 64

// addTie stores an end of an arrow for later slices of the same time.
func (t *Tracker) addTie(a tie) {
	ties := &t.chrome.ties
	if len(*ties) > 0 && (*ties)[0].at != a.at {
		*ties = (*ties)[:0]
	}
	if len(*ties) < maxTies {
		*ties = append(*ties, a)
	}
}

// encloseTies makes a slice, the latest one on its thread, the parent of shorter slices with the same begin. It also
// moves to it the ends of arrows at that time that belong to a slice around it.
func (t *Tracker) encloseTies(o *open) {
	t.encloseSlices(o)
	for i := range t.chrome.ties {
		a := &t.chrome.ties[i]
		if a.thread != o.Thread || a.at != o.first {
			continue
		}
		if bound := a.bound.get(); bound != nil {
			if bound.first == o.first && bound.ended && int64(bound.End) <= int64(o.End) {
				continue // bound is inside o
			}
			if a.in {
				bound.unlink(a.from)
			}
		}
		t.bind(a, o)
	}
}

// encloseSlices makes a slice the parent of shorter slices with the same begin.
func (t *Tracker) encloseSlices(o *open) {
	var inner [maxTies]*open
	n := 0
	for x := o.links[chainThread].prev; x != nil && x.first == o.first && n < maxTies; x = x.links[chainThread].prev {
		if x.Evidence != span.FromChrome || !x.ended || int64(x.End) >= int64(o.End) {
			break
		}
		inner[n] = x
		n++
	}
	slices.Reverse(inner[:n])
	for _, x := range inner[:n] {
		if x.MadeID { // recorded IDs do not depend on the nesting
			if x.ParentID == o.ParentID {
				x.ParentID = o.ID
			}
			x.TraceID = o.TraceID
		}
		unlink(x, chainThread) // re-added below, because the innermost slice must be last
		t.putOnThread(x)
	}
}

// unlink removes the latest link to a span.
func (o *open) unlink(to span.Context) {
	for i := len(o.Links) - 1; i >= 0; i-- {
		if o.Links[i].Context == to {
			o.Links = slices.Delete(o.Links, i, i+1)
			return
		}
	}
}
