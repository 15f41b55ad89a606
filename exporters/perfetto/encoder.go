package perfetto

import (
	"errors"
	"io"
	"math"

	"github.com/ntconv/ntconv/internal/timeline"
)

// An encoder writes items as packets. It keeps the latest event packet open at the end of buf until the next item shows
// whether a flow begins or ends there. item closes it before it writes another packet.
type encoder struct {
	w       io.Writer
	options *Options
	trace   timeline.Trace
	buf     []byte // packets that have not been written yet
	start   uint64 // time of an item with Time 0, in nanoseconds since 1970-01-01 UTC

	last       int64 // Item.Time of the latest packet of the event sequence, to which the next timestamp is relative
	open       open
	names      stringTable
	categories stringTable
	stacks     *stacks
	defined    defined // on the event sequence
	held       []byte  // scratch of precedes: the open packet while another one is written before it
	deflate    deflater
	described  map[*timeline.Track]struct{} // tracks whose descriptor has been written
	samples    sampleEncoder
	counts     encoded
}

// open is an event packet at the end of buf whose length has not been set. All offsets are offsets in buf.
type open struct { // first byte of the packet
	start  int   // encoder.last before the packet
	last   int64 // start of the message; 0 means that no packet is open
	packet int   // after the timestamp
	body   int   // start of the TrackEvent message
	event  int   // where the TrackEvent begins
	track  *timeline.Track
	time   int64 // Item.Time of the event
	slice  bool  // the event begins a slice
}

// encoded counts packets, for the Summary.
type encoded struct {
	arrows       int64 // instants at which a flow begins or ends
	streamed     int64 // samples in StreamingProfilePackets
	stackSamples int64 // samples in StackSamples
}

// maxBuffer is the size in bytes from which packets are written.
const maxBuffer = 128 << 10

var errOrder = errors.New("perfetto: items are not in time order")

func newEncoder(w io.Writer, t timeline.Trace, start uint64, o *Options) *encoder {
	e := &encoder{
		w: w, options: o, trace: t, start: start, stacks: newStacks(t), defined: defined{},
		described: make(map[*timeline.Track]struct{}),
	}
	e.samples.init()
	e.names.number(timeline.CategoryFlow)
	e.categories.number(timeline.CategoryFlow)
	return e
}

// write writes the whole trace, whose args are those of args.
func (e *encoder) write(args *argEncoder) error {
	if err := e.begin(e.trace.Tracks(), args); err != nil {
		return err
	}
	if err := e.trace.Each(e.item); err != nil {
		return err
	}
	return e.finish()
}

// item writes an item. It does not keep it.
func (e *encoder) item(it *timeline.Item) error {
	switch it.Kind {
	case timeline.FlowBegin, timeline.FlowEnd:
		if e.joins(it) || e.precedes(it) {
			return nil
		}
	}
	e.closeEvent()
	if len(e.buf) >= maxBuffer {
		if err := e.flush(); err != nil {
			return err
		}
	}
	if it.Kind == timeline.Raw {
		return nil
	}
	if it.Time < e.last && it.Kind != timeline.Sample {
		return errOrder
	}
	if _, ok := e.described[it.Track]; !ok {
		e.track(it.Track)
	}
	switch it.Kind {
	case timeline.SliceBegin:
		e.event(it, typeSliceBegin)
	case timeline.SliceEnd:
		e.sliceEnd(it)
	case timeline.Instant:
		e.event(it, typeInstant)
	case timeline.Counter:
		e.counter(it)
	case timeline.Sample:
		e.sample(it)
	case timeline.FlowBegin, timeline.FlowEnd:
		e.flow(it)
	}
	return nil
}

// closeEvent completes the open packet, if any.
func (e *encoder) closeEvent() {
	if e.open.packet > 0 {
		e.buf = closeMessage(closeMessage(e.buf, e.open.event), e.open.packet)
		e.open = open{}
	}
}

// finish writes everything that is still buffered.
func (e *encoder) finish() error {
	e.closeEvent()
	e.endRun()
	return e.flush()
}

// flush writes the packets in buf. No packet may be open.
func (e *encoder) flush() error {
	b := e.buf
	if !e.options.Plain {
		b = e.deflate.compress(b)
	}
	_, err := e.w.Write(b)
	e.buf = e.buf[:0]
	return err
}

// packet begins a packet of the event sequence. The caller completes it with closeMessage.
func (e *encoder) packet(at int64) (b []byte, packet int) {
	b, packet = openMessage(e.buf, tracePacket)
	b = appendUint(b, packetTimestamp, uint64(at-e.last))
	e.last = at
	return b, packet
}

// event begins a packet for the begin of a slice or an instant, and leaves it open.
func (e *encoder) event(it *timeline.Item, kind uint64) {
	name, newName := e.names.number(it.Name)
	category, newCategory := e.categories.number(it.Category)
	stack := it.Stack
	if e.options.NoStacks {
		stack = timeline.NoStack
	}
	o := open{start: len(e.buf), last: e.last, track: it.Track, time: it.Time, slice: kind == typeSliceBegin}
	b, packet := e.packet(it.Time)
	o.packet, o.body = packet, len(b)
	b = appendUint(b, packetSequence, sequenceEvents)
	if newName || newCategory || stack != timeline.NoStack {
		b = e.define(b, it, fresh(name, newName), fresh(category, newCategory), stack)
	}
	b, o.event = openMessage(b, packetTrackEvent)
	b = appendUint(b, eventType, kind)
	b = appendUint(b, eventTrack, uint64(it.Track.ID))
	b = appendNamed(b, eventNameIID, eventName, name, it.Name)
	b = appendNamed(b, eventCategoryIID, eventCategory, category, it.Category)
	if stack != timeline.NoStack {
		b = appendUint(b, eventCallstackIID, uint64(stack))
	}
	b = append(b, it.Encoded...)
	if it.Unfinished {
		var m int
		b, m = openMessage(b, eventAnnotation)
		b = appendUint(b, annotationNameIID, argUnfinished)
		b = closeMessage(appendUint(b, annotationBool, 1), m)
	}
	if it.Thread != nil && it.Thread != it.Track {
		b = appendThreadArg(b, argThread, it.Thread)
	}
	if it.EndThread != nil {
		b = appendThreadArg(b, argEndThread, it.EndThread)
	}
	e.buf, e.open = b, o
}

// define appends the interned data that this event is the first to use.
func (e *encoder) define(b []byte, it *timeline.Item, name, category uint64, stack timeline.Node) []byte {
	start := len(b)
	b, m := openMessage(b, packetInternedData)
	if name != 0 {
		b = appendEntry(b, internedNames, name, valid(it.Name))
	}
	if category != 0 {
		b = appendEntry(b, internedCategories, category, valid(it.Category))
	}
	if stack != timeline.NoStack {
		b = e.stacks.define(b, e.defined, stack)
	}
	if len(b) == m {
		return b[:start]
	}
	return closeMessage(b, m)
}

// appendNamed appends the ID of a string, or the string itself if it has no ID.
func appendNamed(b []byte, numberField, textField, number uint64, text string) []byte {
	if number != 0 {
		return appendUint(b, numberField, number)
	}
	return appendText(b, textField, text)
}

func appendThreadArg(b []byte, name uint64, t *timeline.Track) []byte {
	b, m := openMessage(b, eventAnnotation)
	b = appendUint(b, annotationNameIID, name)
	return closeMessage(appendUint(b, annotationUint, uint64(t.TID)), m)
}

// sliceEnd ends the innermost slice of a track.
func (e *encoder) sliceEnd(it *timeline.Item) {
	b, packet := e.packet(it.Time)
	b = appendUint(b, packetSequence, sequenceEvents)
	b, event := openMessage(b, packetTrackEvent)
	b = appendUint(b, eventType, typeSliceEnd)
	b = appendUint(b, eventTrack, uint64(it.Track.ID))
	e.buf = closeMessage(closeMessage(b, event), packet)
}

// maxExact is the smallest integer from which on a float64 cannot represent all integers.
const maxExact = 1 << 53

// counter writes a counter value, as an integer if it is one that a float64 represents exactly.
func (e *encoder) counter(it *timeline.Item) {
	b, packet := e.packet(it.Time)
	b = appendUint(b, packetSequence, sequenceEvents)
	b, event := openMessage(b, packetTrackEvent)
	b = appendUint(b, eventType, typeCounter)
	b = appendUint(b, eventTrack, uint64(it.Track.ID))
	if v := it.Value; v == math.Trunc(v) && math.Abs(v) < maxExact {
		b = appendUint(b, eventCounterValue, uint64(int64(v)))
	} else {
		b = appendDouble(b, eventDoubleValue, v)
	}
	e.buf = closeMessage(closeMessage(b, event), packet)
}

// joins adds a flow to the open packet if this packet begins the slice to which the flow belongs.
func (e *encoder) joins(it *timeline.Item) bool {
	if !e.open.slice || e.open.track != it.Track || e.open.time != it.Time {
		return false
	}
	e.buf = appendFlow(e.buf, it)
	return true
}

// precedes writes the begin of a flow before the open packet, if the slice that begins in the open packet may be the
// flow's end: among events of equal time, Perfetto treats the first in the file as the source. It moves the open
// packet, whose timestamp changes.
func (e *encoder) precedes(it *timeline.Item) bool {
	if it.Kind != timeline.FlowBegin || !e.open.slice || e.open.time != it.Time {
		return false
	}
	o := e.open
	e.held = append(e.held[:0], e.buf[o.body:]...)
	e.buf, e.last, e.open = e.buf[:o.start], o.last, open{}
	e.flow(it)
	moved := o
	moved.start, moved.last = len(e.buf), e.last
	e.buf, moved.packet = e.packet(o.time)
	moved.body = len(e.buf)
	moved.event += moved.body - o.body
	e.buf, e.open = append(e.buf, e.held...), moved
	return true
}

func appendFlow(b []byte, it *timeline.Item) []byte {
	if it.Kind == timeline.FlowBegin {
		return appendFixed64(b, eventFlow, it.ID)
	}
	return appendFixed64(b, eventTerminatingFlow, it.ID)
}

// IDs of the name and category of flow instants. newEncoder assigns them before all others, because such an instant may
// be placed before a packet that defines names.
const (
	nameFlow     = 1
	categoryFlow = 1
)

// flow writes an instant for a flow that begins or ends in the middle of a slice: an arrow connects events, and no
// event has that time.
func (e *encoder) flow(it *timeline.Item) {
	b, packet := e.packet(it.Time)
	b = appendUint(b, packetSequence, sequenceEvents)
	b, event := openMessage(b, packetTrackEvent)
	b = appendUint(b, eventType, typeInstant)
	b = appendUint(b, eventTrack, uint64(it.Track.ID))
	b = appendUint(b, eventNameIID, nameFlow)
	b = appendUint(b, eventCategoryIID, categoryFlow)
	b = appendFlow(b, it)
	e.buf = closeMessage(closeMessage(b, event), packet)
	e.counts.arrows++
}

// fresh returns number if it is new and must be defined, and otherwise 0.
func fresh(number uint64, isNew bool) uint64 {
	if isNew {
		return number
	}
	return 0
}
