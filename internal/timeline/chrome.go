package timeline

import (
	"cmp"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/track"
)

// A chromeReader creates records for events of Chrome's format that are not slices: counters, arrows and instants. The
// tracker finds the slices.
type chromeReader struct {
	t       *Timeline
	decoder *chromeevent.Decoder
	pairer  chromeevent.Pairer[struct{}] // only for flows
	begun   map[uint64]arrowEnd          // begins of arrows without an end so far, by flow
	arrows  uint64                       // number of arrows so far
	parts   bool                         // the latest event was a part of a larger event
	name    []byte
	title   title // of the latest instant
}

// An arrowEnd is the begin or the end of an arrow.
type arrowEnd struct {
	at    int64 // nanoseconds since clock.Tick
	track uint32
	slice span.Context // the slice if it is asynchronous, otherwise zero
}

// maxBegunArrows limits the arrows that have begun and not ended, because ends may be missing.
const maxBegunArrows = 1 << 18

func newChromeReader(t *Timeline) *chromeReader {
	return &chromeReader{t: t, decoder: chromeevent.NewDecoder(t.opts.Report), begun: map[uint64]arrowEnd{}}
}

// add processes an event of Chrome's format. It returns false if the event is an instant, and then sets c.title.
func (c *chromeReader) add(e *ntconv.Event, r *role, at int64) bool {
	t := c.t
	t.tracker.Add(e)
	if r.chromeSlice && !c.parts && (!r.hasFlow || !t.shows(track.Flows)) && c.bound() {
		return true
	}
	d, ok := c.decoder.Decode(e)
	if c.parts = !ok; !ok { // a part of a large event, or invalid
		t.parts.omitted++
		return true
	}
	if d.TopLevel || d.Phase == chromeevent.PhaseMetadata {
		if !t.opts.Rundown {
			t.counts.Rundown++
			return true
		}
		return c.instant(d)
	}
	role := chromeevent.RoleOf(d.Phase)
	if t.shows(track.Flows) {
		c.flow(e, d, at)
	}
	switch {
	case role == chromeevent.RoleFlowBegin || role == chromeevent.RoleFlowStep || role == chromeevent.RoleFlowEnd:
		t.parts.bounds++
		return true
	case d.Phase == chromeevent.PhaseCounter && t.shows(track.Counters) && c.counters(e, d, at):
		t.parts.counters++
		return true
	case c.bound():
		return true
	}
	return c.instant(d)
}

func (c *chromeReader) instant(d *chromeevent.Event) bool {
	c.title = title{cmp.Or(d.Name, d.Phase, "event"), d.Category}
	return false
}

// bound reports whether the latest event begins or ends a slice, and counts it.
func (c *chromeReader) bound() bool {
	if c.t.tracker.IsBound() {
		c.t.parts.bounds++
		return true
	}
	return false
}

// counters adds the values of a counter, one per numeric arg, and reports whether there are any.
func (c *chromeReader) counters(e *ntconv.Event, d *chromeevent.Event, at int64) (found bool) {
	if len(d.Args) == 0 || d.Args[0] != '{' {
		return false
	}
	s := c.t.owners.state(c.t.owners.at(c.t.owners.thread(e.Thread)))
	c.name = append(c.name[:0], d.Name...)
	if d.ID.Kind != chromeevent.NoID {
		c.name = append(append(append(c.name, '['), d.ID.Text...), ']')
	}
	n := len(c.name)
	for members := jsonio.MembersOf(d.Args); ; {
		name, value, ok := members.Next()
		if !ok {
			return found
		}
		number, ok := numberOf(value)
		if !ok {
			continue
		}
		found = true
		c.name, _ = jsonio.AppendUnquoted(append(c.name[:n], ' '), name)
		c.t.counters.add(c.t.owners.counter(s, c.name, ""), number, at)
	}
}

// numberOf returns the value of a JSON number, which may be in quotes. It returns false if the value is not a finite
// number.
func numberOf(value []byte) (float64, bool) {
	if n := len(value); n >= 2 && value[0] == '"' {
		value = value[1 : n-1]
	}
	f, err := strconv.ParseFloat(string(value), 64)
	return f, err == nil && !math.IsInf(f, 0) && f == f
}

// flow adds the arrow that an event ends, and stores the begin of the arrow that it begins. The spool contains only
// arrows with both ends.
func (c *chromeReader) flow(e *ntconv.Event, d *chromeevent.Event, at int64) {
	number, in, out := c.pairer.Flow(d, e.Thread)
	if number == 0 {
		return
	}
	here := arrowEnd{at: at, track: c.t.owners.thread(e.Thread)}
	role := chromeevent.RoleOf(d.Phase)
	if role == chromeevent.RoleBegin || role == chromeevent.RoleStep {
		here.slice = c.t.tracker.AsyncSlice()
	}
	if from, ok := c.begun[number]; ok && in {
		c.arrows++
		out := flowOut
		if !here.slice.ID.IsZero() {
			out |= flowToLane
		}
		c.end(d, &from, out)
		flags := flowIn
		if role == chromeevent.RoleFlowEnd && d.BindPoint != "e" {
			flags |= flowNext
		}
		c.end(d, &here, flags)
	}
	if out {
		if len(c.begun) >= maxBegunArrows {
			clear(c.begun)
		}
		c.begun[number] = here
	} else if role == chromeevent.RoleFlowEnd {
		delete(c.begun, number)
	}
}

// flowFlags describe an end of an arrow.
type flowFlags byte

const (
	flowOut    flowFlags = 1 << iota // the begin of the arrow
	flowIn                           // the end of the arrow
	flowNext                         // the arrow ends in the next slice, unless a slice begins at this time
	flowAsync                        // the record contains the asynchronous slice
	flowToLane                       // of flowOut: the arrow ends at an asynchronous slice
)

// end adds the record of one end of the latest arrow.
func (c *chromeReader) end(d *chromeevent.Event, a *arrowEnd, flags flowFlags) {
	t := c.t
	if !a.slice.ID.IsZero() {
		flags |= flowAsync
	}
	rec := append(appendHead(t.rec[:0], recordFlow, a.track), byte(flags))
	rec = binary.LittleEndian.AppendUint64(rec, c.arrows)
	if flags&flowAsync != 0 {
		rec = append(append(rec, a.slice.TraceID[:]...), a.slice.ID[:]...)
	}
	t.rec = t.titles.append(rec, cmp.Or(d.Name, CategoryFlow), CategoryFlow)
	t.put(a.at, rankInner) // not add: the record may yield no item
}
