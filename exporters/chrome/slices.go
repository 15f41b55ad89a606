package chrome

import (
	"strconv"

	"github.com/ntconv/ntconv/internal/events/chromeevent"
	"github.com/ntconv/ntconv/internal/timeline"
)

// A heldSlice holds the latest slice and the beginning of an arrow, one or both. hold and flowBegin set them, release
// writes and clears them: whether an arrow ends at the slice determines how the slice is written, and only the next
// items show that.
type heldSlice struct {
	active   bool
	hasSlice bool
	slice    timeline.Item
	args     []byte // copy of the slice's args, because an item is valid only during its call
	hasFlow  bool
	flow     timeline.Item
	flowIn   uint64 // ID of an arrow that ends at the slice; 0 means none
}

// joins reports whether the item may belong to the held slice: the arrows to a slice directly follow it.
func (h *heldSlice) joins(it *timeline.Item) bool {
	return it.Kind == timeline.FlowBegin && !h.hasFlow || it.Kind == timeline.FlowEnd
}

// hold stores a slice for release and marks it as open.
func (e *encoder) hold(it *timeline.Item) {
	h := &e.held
	h.active, h.hasSlice, h.slice, h.flowIn = true, true, *it, 0
	h.args = append(h.args[:0], it.Encoded...)
	h.slice.Encoded = h.args
	e.push(it)
}

// push adds the slice to the open slices of its track.
func (e *encoder) push(it *timeline.Item) {
	t := e.trackOf(it.Track)
	s := openSlice{id: it.ID, name: it.Name, category: it.Category, end: it.Time + it.Duration, form: complete}
	if it.Track.Kind == timeline.LaneTrack {
		s.form, s.tid = async, tidOf(e.startTrack(it))
	}
	t.open = append(t.open, s)
}

// release writes the held slice and clears the state. It must precede every other write of an event.
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

// sliceBegin writes the beginning of a slice, or a complete slice. flowIn is the ID of an arrow that ends at it with
// flow_in; 0 means none.
func (e *encoder) sliceBegin(it *timeline.Item, flowIn uint64) {
	t := e.trackOf(it.Track)
	s := &t.open[t.find(it.ID)]
	b := e.head(byte(s.form), it.Name, it.Category)
	if s.form == async {
		b = appendLane(b, it.Track)
		b = chromeevent.AppendMicros(appendWhere(b, it.Track.Process.PID, s.tid), it.Time)
	} else {
		b = chromeevent.AppendMicros(append(b, t.where...), it.Time)
	}
	if s.form == complete {
		b = chromeevent.AppendMicros(append(b, `,"dur":`...), it.Duration)
		b = appendColor(b, it.Category)
	}
	if flowIn != 0 {
		b = append(appendBindID(b, flowIn), `,"flow_in":true`...)
	}
	if e.o.Stacks {
		b = e.stack(b, it.Stack)
	}
	e.out.buf = append(sliceArgs(b, it), '}')
}

// sliceArgs appends the args of a slice, and the ones that the encoder adds: unfinished and end_tid.
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
		b = append(appendComma(b), `"`+timeline.ArgUnfinished+`":true`...)
	}
	if it.EndThread != nil {
		b = append(appendComma(b), `"`+timeline.ArgEndThread+`":`...)
		b = strconv.AppendUint(b, uint64(tidOf(it.EndThread)), 10)
	}
	return append(b, '}')
}

// appendComma appends a comma unless the next member is the first of its object.
func appendComma(b []byte) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return b
}

// appendLane appends the ID of an asynchronous slice. All slices of a lane share it, because viewers nest slices with
// equal IDs.
func appendLane(b []byte, t *timeline.Track) []byte {
	b = strconv.AppendUint(append(b, `,"id2":{"local":"0x`...), uint64(t.ID), 16)
	return append(b, '"', '}')
}

// find returns the index of the open slice with this ID, or -1. The search starts at the innermost slice, where the ID
// usually is.
func (t *trackState) find(id uint64) int {
	for i := len(t.open) - 1; i >= 0; i-- {
		if t.open[i].id == id {
			return i
		}
	}
	return -1
}

// sliceEnd ends a slice. A complete slice was already written with its duration.
func (e *encoder) sliceEnd(it *timeline.Item) {
	t := e.trackOf(it.Track)
	i := t.find(it.ID)
	if i < 0 {
		return
	}
	e.endOf(t, &t.open[i], it.Time)
	t.open = append(t.open[:i], t.open[i+1:]...)
}

// endOf writes the end event of an asynchronous slice. Complete slices have none.
func (e *encoder) endOf(t *trackState, s *openSlice, now int64) {
	if s.form == async {
		b := appendLane(e.head('e', s.name, s.category), t.Track)
		b = chromeevent.AppendMicros(appendWhere(b, t.Process.PID, s.tid), now)
		e.out.buf = append(b, '}')
	}
}

// closeSlices writes the ends of the open slices at the end of a part, innermost first. They stay in t.open for
// continueSlices.
func (e *encoder) closeSlices(t *trackState, now int64) {
	for i := len(t.open) - 1; i >= 0; i-- {
		e.endOf(t, &t.open[i], now)
	}
}

// continueSlices writes the open slices again at the beginning of a part.
func (e *encoder) continueSlices(t *trackState, now int64) {
	for i := range t.open {
		s := &t.open[i]
		b := e.head(byte(s.form), s.name, s.category)
		if s.form == async {
			b = chromeevent.AppendMicros(appendWhere(appendLane(b, t.Track), t.Process.PID, s.tid), now)
		} else {
			b = chromeevent.AppendMicros(append(b, t.where...), now)
		}
		if s.form == complete {
			b = chromeevent.AppendMicros(append(b, `,"dur":`...), max(s.end-now, 0))
			b = appendColor(b, s.category)
		}
		e.out.buf = append(b, `,"args":{"`+timeline.ArgContinued+`":true}}`...)
	}
}
