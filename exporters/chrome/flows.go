package chrome

import (
	"strconv"

	"github.com/ntconv/ntconv/internal/chromeevent"
	"github.com/ntconv/ntconv/internal/timeline"
)

// Arrows exist in two forms, and neither fits all slices. Flow events (s and f) lead to the slices of threads that
// enclose them, and all viewers know them. Perfetto takes bind_id, flow_in and flow_out of any slice, also of
// asynchronous ones; chrome://tracing takes them of complete slices only, and ignores them elsewhere. So an arrow
// between threads is a pair of flow events. Any other arrow begins in a slice without duration within the slice that it
// leads from, and ends at an asynchronous slice with flow_in, or in a slice without duration within a slice of a
// thread: flow_in needs an event B there, because chrome://tracing warns of it at X, and speedscope warns of slices
// whose B has args and whose E has none.

// bindBase is added to the IDs of arrows that are written as bind_id, because Perfetto numbers flow events from 0.
const bindBase = 1 << 40

// isThread reports whether slices of a track are written as slices of a thread.
func isThread(t *timeline.Track) bool { return t.Kind != timeline.LaneTrack }

// flowBegin takes the beginning of an arrow. It waits for the end, which comes next and decides about the form.
func (e *encoder) flowBegin(it *timeline.Item) {
	e.held.active, e.held.hasFlow, e.held.flow = true, true, *it
}

// flowEnd writes an arrow.
func (e *encoder) flowEnd(it *timeline.Item) {
	h := &e.held
	if !h.hasFlow || h.flow.ID != it.ID {
		e.lostFlows++
		return
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
	if h.hasSlice && h.slice.Track == it.Track && !isThread(it.Track) && h.flowIn == 0 {
		h.flowIn = it.ID
		return
	}
	e.release()
	if !e.bound(it, "flow_in") {
		e.lostFlows++
	}
}

// flowName is the name of all flow events: viewers match the events of an arrow by name, category and ID.
const flowName = chromeevent.ArrowName

// flowEvent writes an end of an arrow between slices of threads.
func (e *encoder) flowEvent(phase byte, it *timeline.Item) {
	b := e.head(phase, flowName, timeline.CategoryFlow)
	b = strconv.AppendUint(append(b, `,"id":"0x`...), it.ID, 16)
	b = appendMicros(append(append(b, '"'), e.trackOf(it.Track).where...), it.Time)
	if phase == 'f' {
		b = append(b, `,"bp":"e"`...)
	}
	e.out.buf = append(b, '}')
}

// bound writes an end of an arrow as a slice without duration: on a lane an asynchronous instant with the name of the
// slice that it belongs to, because Perfetto has a track per name. It returns false if no slice is open there.
func (e *encoder) bound(it *timeline.Item, member string) bool {
	t := e.trackOf(it.Track)
	n := len(t.open)
	if n > 0 && e.held.hasSlice && t.open[n-1].id == e.held.slice.ID {
		n-- // it has not been written
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
	b = appendBindID(appendMicros(b, it.Time), it.ID)
	b = append(append(append(b, ',', '"'), member...), `":true}`...)
	e.out.buf = b
	if s.form != async {
		b = append(e.head('E', flowName, chromeevent.ArrowName), t.where...)
		e.out.buf = append(appendMicros(b, it.Time), '}')
	}
	return true
}

func appendBindID(b []byte, id uint64) []byte {
	return append(strconv.AppendUint(append(b, `,"bind_id":"0x`...), bindBase+id, 16), '"')
}
