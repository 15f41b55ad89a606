package chrome

import (
	"strconv"

	"github.com/ntconv/ntconv/internal/timeline"
)

// A heldSlice is the latest slice, and the beginning of an arrow to it. They wait until the next item shows whether an
// arrow ends at the slice, because that decides how it is written.
type heldSlice struct {
	active   bool
	hasSlice bool
	slice    timeline.Item
	args     []byte // of slice
	hasFlow  bool
	flow     timeline.Item
	flowIn   uint64 // ID of an arrow that ends at the slice, 0 if there is none
}

// joins reports whether an item may belong to what is held: the arrows to a slice follow it.
func (h *heldSlice) joins(it *timeline.Item) bool {
	return it.Kind == timeline.FlowBegin && !h.hasFlow || it.Kind == timeline.FlowEnd
}

// hold takes a slice, which is written by release.
func (e *encoder) hold(it *timeline.Item) {
	h := &e.held
	h.active, h.hasSlice, h.slice, h.flowIn = true, true, *it, 0
	h.args = append(h.args[:0], it.Encoded...)
	h.slice.Encoded = h.args
	e.push(it)
}

// push notes that a slice is open.
func (e *encoder) push(it *timeline.Item) {
	t := e.trackOf(it.Track)
	s := openSlice{id: it.ID, name: it.Name, category: it.Category, end: it.Time + it.Duration, form: complete}
	if it.Track.Kind == timeline.LaneTrack {
		s.form, s.tid = async, tidOf(e.startTrack(it))
	}
	t.open = append(t.open, s)
}

// release writes what is held.
func (e *encoder) release() {
	h := &e.held
	if h.hasSlice {
		e.sliceBegin(&h.slice, h.flowIn)
	}
	if h.hasFlow { // its end did not follow
		e.lostFlows++
	}
	h.active, h.hasSlice, h.hasFlow = false, false, false
}

// sliceBegin writes the beginning of a slice, or all of it. flowIn is the ID of an arrow that ends at it and that is
// not a pair of flow events, or 0.
func (e *encoder) sliceBegin(it *timeline.Item, flowIn uint64) {
	t := e.trackOf(it.Track)
	s := &t.open[t.find(it.ID)]
	b := e.head(byte(s.form), it.Name, it.Category)
	if s.form == async {
		b = appendLane(b, it.Track)
		b = appendMicros(appendWhere(b, it.Track.Process.PID, s.tid), it.Time)
	} else {
		b = appendMicros(append(b, t.where...), it.Time)
	}
	if s.form == complete {
		b = appendMicros(append(b, `,"dur":`...), it.Duration)
	}
	if flowIn != 0 {
		b = append(appendBindID(b, flowIn), `,"flow_in":true`...)
	}
	if e.o.Stacks {
		b = e.stack(b, it.Stack)
	}
	e.out.buf = append(sliceArgs(b, it), '}')
}

// sliceArgs appends the args of a slice.
func sliceArgs(b []byte, it *timeline.Item) []byte {
	if len(it.Encoded) == 0 && !it.Unfinished && it.EndThread == nil {
		return b
	}
	b = append(b, `,"args":`...)
	if len(it.Encoded) > 0 {
		b = append(b, it.Encoded[:len(it.Encoded)-1]...)
	} else {
		b = append(b, '{')
	}
	if it.Unfinished {
		b = appendName(b, `"unfinished":true`)
	}
	if it.EndThread != nil {
		b = strconv.AppendUint(appendName(b, `"end_thread":`), uint64(tidOf(it.EndThread)), 10)
	}
	return append(b, '}')
}

// appendLane appends the ID of an asynchronous slice. Slices of a lane have the same one: viewers nest slices that do.
func appendLane(b []byte, t *timeline.Track) []byte {
	b = strconv.AppendUint(append(b, `,"id2":{"local":"0x`...), uint64(t.ID), 16)
	return append(b, '"', '}')
}

// find returns the index of the open slice with an ID, -1 if there is none. It is one of the innermost ones, so the
// search begins there.
func (t *track) find(id uint64) int {
	for i := len(t.open) - 1; i >= 0; i-- {
		if t.open[i].id == id {
			return i
		}
	}
	return -1
}

// sliceEnd ends a slice. Complete slices have been written with their duration.
func (e *encoder) sliceEnd(it *timeline.Item) {
	t := e.trackOf(it.Track)
	i := t.find(it.ID)
	if i < 0 {
		return
	}
	e.endOf(t, &t.open[i], it.Time)
	t.open = append(t.open[:i], t.open[i+1:]...)
}

// endOf writes the end of a slice, unless it has been written with its duration.
func (e *encoder) endOf(t *track, s *openSlice, now int64) {
	if s.form == async {
		b := appendLane(e.head('e', s.name, s.category), t.Track)
		b = appendMicros(appendWhere(b, t.Process.PID, s.tid), now)
		e.out.buf = append(b, '}')
	}
}

// closeSlices ends the slices of a track that are open at the end of a part, the innermost first.
func (e *encoder) closeSlices(t *track, now int64) {
	for i := len(t.open) - 1; i >= 0; i-- {
		e.endOf(t, &t.open[i], now)
	}
}

// continueSlices begins the slices of a track that are open at the beginning of a part.
func (e *encoder) continueSlices(t *track, now int64) {
	for i := range t.open {
		s := &t.open[i]
		b := e.head(byte(s.form), s.name, s.category)
		if s.form == async {
			b = appendMicros(appendWhere(appendLane(b, t.Track), t.Process.PID, s.tid), now)
		} else {
			b = appendMicros(append(b, t.where...), now)
		}
		if s.form == complete {
			b = appendMicros(append(b, `,"dur":`...), max(s.end-now, 0))
		}
		e.out.buf = append(b, `,"args":{"continued":true}}`...)
	}
}
