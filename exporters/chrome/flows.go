package chrome

import (
	"strconv"

	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/timeline"
)

// The format has two ways to write arrows, and neither fits all slices. Flow events (s and f) attach to the enclosing
// slice of a thread, and all viewers support them. The members bind_id, flow_in and flow_out attach to their own event:
// Perfetto reads them from any slice, chrome://tracing from complete slices only (it ignores the others).
//
// The encoder writes an arrow between threads as a pair of flow events. Any other arrow starts at a slice of zero
// duration inside the slice that it leaves, and ends at an asynchronous slice with flow_in, or at a slice of zero
// duration inside a slice of a thread. There flow_in needs a B event: chrome://tracing warns about flow_in at an X
// event, and speedscope warns if B has args and E has none.

// bindBase is added to arrow IDs in bind_id, because Perfetto numbers flow events from 0 in the same space.
const bindBase = 1 << 40

// isThread reports whether slices of the track are written as slices of a thread.
func isThread(t *timeline.Track) bool { return t.Kind != timeline.LaneTrack }

// flowBegin holds the beginning of an arrow if the next item is its end, which determines the form of both. If the end is
// later, flowBegin writes the beginning.
func (e *encoder) flowBegin(it *timeline.Item) {
	if !it.Later {
		e.held.active, e.held.hasFlow, e.held.flow = true, true, *it
		return
	}
	e.release()
	form := flowEvents
	if isThread(it.Track) && !it.ToLane {
		e.flowEvent('s', it)
	} else if form = flowMembers; !e.bound(it, "flow_out") {
		e.lostFlows++
		return
	}
	e.arrows[it.ID] = form
}

// A flowForm is the form of an arrow whose beginning is written.
type flowForm byte

const (
	flowEvents  flowForm = iota // s and f
	flowMembers                 // flow_out and flow_in
)

// laterEnd writes the end of an arrow whose beginning is written. It counts an end outside of all slices in lostFlows,
// because viewers do not show such arrows.
func (e *encoder) laterEnd(it *timeline.Item, form flowForm) {
	delete(e.arrows, it.ID)
	if form == flowMembers {
		e.boundEnd(it)
		return
	}
	e.release()
	if len(e.trackOf(it.Track).open) == 0 {
		e.lostFlows++
		return
	}
	e.flowEvent('f', it)
}

// dropArrows counts the arrows that have begun in lostFlows, because their ends are not in the part, or in no part.
func (e *encoder) dropArrows() {
	e.lostFlows += int64(len(e.arrows))
	clear(e.arrows)
}

// flowEnd writes both ends of an arrow in the form that fits their tracks, or the end of one that began earlier. It counts an arrow without a place in
// lostFlows.
func (e *encoder) flowEnd(it *timeline.Item) {
	if form, ok := e.arrows[it.ID]; ok {
		e.laterEnd(it, form)
		return
	}
	h := &e.held
	if !h.hasFlow || h.flow.ID != it.ID {
		return // its beginning is counted in lostFlows
	}
	h.hasFlow = false
	if isThread(h.flow.Track) && isThread(it.Track) {
		e.release()
		e.flowEvent('s', &h.flow)
		e.flowEvent('f', it)
		return
	}
	if !e.bound(&h.flow, "flow_out") {
		e.lostFlows++
		return
	}
	e.boundEnd(it)
}

// boundEnd writes the end of an arrow as a member of the held slice if it ends there, or else as a slice of zero duration.
func (e *encoder) boundEnd(it *timeline.Item) {
	h := &e.held
	if h.hasSlice && h.slice.Track == it.Track && !isThread(it.Track) && h.flowIn == 0 {
		h.flowIn = it.ID
		return
	}
	e.release()
	if !e.bound(it, "flow_in") {
		e.lostFlows++
	}
}

// flowName is the name of all flow events: viewers match the two events of an arrow by name, category and ID.
const flowName = chromeevent.ArrowName

// flowEvent writes one end of an arrow between slices of threads.
func (e *encoder) flowEvent(phase byte, it *timeline.Item) {
	b := e.head(phase, flowName, timeline.CategoryFlow)
	b = strconv.AppendUint(append(b, `,"id":"0x`...), it.ID, 16)
	b = chromeevent.AppendMicros(append(append(b, '"'), e.trackOf(it.Track).where...), it.Time)
	if phase == 'f' {
		b = append(b, `,"bp":"e"`...)
	}
	e.out.buf = append(b, '}')
}

// bound writes one end of an arrow as a slice of zero duration. On a lane this is an asynchronous instant with the name
// of its slice, because Perfetto has one track per name. bound returns false if no slice is open on the track.
func (e *encoder) bound(it *timeline.Item, member string) bool {
	t := e.trackOf(it.Track)
	n := len(t.open)
	if n > 0 && e.held.hasSlice && t.open[n-1].id == e.held.slice.ID {
		n-- // not written yet
	}
	if n == 0 {
		return false
	}
	s := &t.open[n-1]
	var b []byte
	if s.form == async {
		b = appendLane(e.head('n', s.name, s.category), t.Track)
		b = appendWhere(b, t.Process.PID, s.tid)
	} else {
		b = append(e.head('B', flowName, chromeevent.ArrowName), t.where...)
	}
	b = appendBindID(chromeevent.AppendMicros(b, it.Time), it.ID)
	b = append(append(append(b, ',', '"'), member...), `":true}`...)
	e.out.buf = b
	if s.form != async {
		b = append(e.head('E', flowName, chromeevent.ArrowName), t.where...)
		e.out.buf = append(chromeevent.AppendMicros(b, it.Time), '}')
	}
	return true
}

func appendBindID(b []byte, id uint64) []byte {
	return append(strconv.AppendUint(append(b, `,"bind_id":"0x`...), bindBase+id, 16), '"')
}
