package timeline

import (
	"cmp"
	"encoding/binary"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/track"
)

// A place is the preferred track of a slice. If the slice does not nest there, it is on a lane.
type place byte

const (
	onThread place = iota // the track of the thread on which it began
	onLane
	onGC
	onCollections
)

// sliceFlags state which members the record of a slice has.
type sliceFlags byte

const (
	sliceUnfinished sliceFlags = 1 << iota
	sliceOpen                  // ends with the timeline
	sliceID                    // is a span and may be the parent of others
	sliceParent                // has a parent
	sliceNumber                // records of recordInner refer to it
	sliceQuiet                 // arrows to it are separate records
)

// A sliceRecord is a slice in the spool. Its encoding is: flags, place, title, end thread, stack, duration, number,
// then either serial or IDs and links, then args.
type sliceRecord struct {
	flags     sliceFlags
	place     place
	title     title
	endThread uint32 // 0 if the slice ended on the thread on which it began
	stack     uint32
	duration  int64
	number    uint32 // 0 if no record refers to it
	serial    uint64 // of slices without an ID, in the order in which they were opened: outer ones first
	context   span.Context
	parent    span.ID
	links     []span.Context
	args      []byte
}

// maxLinks limits the links of a span that become arrows.
const maxLinks = 8

// addSpan adds a span or an interval of the runtime. The tracker calls it when the end is known.
func (t *Timeline) addSpan(s *span.Span) {
	from, to, open := t.times(s)
	stack := t.begun.take(s.Thread, from)
	track, number := t.trackOf(s), uint32(0)
	if !open && bin.SubClamped(to, from) < int64(t.opts.MinDuration) {
		t.counts.Short++
	} else {
		if len(s.Events) > 0 {
			t.inner++
			number = t.inner
		}
		t.addSlice(s, track, stack, number, from, to, open)
	}
	for i := range s.Events {
		t.addInner(&s.Events[i], track, number, from, max(from, to))
	}
}

func (t *Timeline) addSlice(s *span.Span, track, stack, number uint32, from, to int64, open bool) {
	duration := bin.SubClamped(to, from)
	if open {
		duration = math.MaxInt64
	}
	rec := appendHead(t.rec[:0], recordSlice, track)
	place := t.placeOf(s)
	if place == onThread { // the first of them nests
		t.owners.at(track).HasSlices = true
	}
	rec = append(rec, byte(flagsOf(s, open)), byte(place))
	name, category := t.titleOf(s)
	rec = t.titles.append(rec, name, category)
	rec = appendNumber(rec, t.endThread(s, track))
	rec = appendNumber(rec, stack)
	rec = appendSigned(rec, duration)
	if number != 0 {
		rec = appendNumber(rec, number)
	}
	rec = appendContexts(rec, s)
	t.rec = t.spanArgs(rec, s)
	t.counts.Slices++
	if s.Evidence != span.FromRuntime {
		t.counts.Spans++
	}
	if s.Unfinished || open {
		t.counts.Unfinished++
	}
	if !open {
		t.end = max(t.end, to)
	}
	t.add(from, rankSlice(duration))
}

// addInner adds an event in the payload of a span. Only Each determines the track of the span's slice, so the record
// refers to the slice by number, which is 0 if the slice is omitted.
func (t *Timeline) addInner(e *span.Event, home, number uint32, from, to int64) {
	if !t.shows(track.Events) {
		return
	}
	rec := appendNumber(appendHead(t.rec[:0], recordInner, home), number)
	rec = t.titles.append(rec, cmp.Or(e.Name, "event"), CategorySpan)
	rec = t.attributeArgs(rec, e.Attributes)
	t.rec = rec
	t.counts.Instants++
	t.parts.inner++
	// Programs choose the times of events freely, and times moves slices: clamp the event to its slice.
	t.add(min(max(bin.SubClamped(int64(e.Time), t.base), from), to), rankInner)
}

// mayBeParent reports whether the IDs of a span are used: for arrows from parents, and for lanes. Slices of Chrome's
// format have their own arrows, and on a thread they nest by their times.
func mayBeParent(s *span.Span) bool {
	switch s.Evidence {
	case span.FromRuntime:
		return false
	case span.FromChrome:
		return tracker.IsAsync(s)
	}
	return true
}

func flagsOf(s *span.Span, open bool) (f sliceFlags) {
	if s.Unfinished || open {
		f |= sliceUnfinished
	}
	if open {
		f |= sliceOpen
	}
	if s.Evidence == span.FromChrome {
		f |= sliceQuiet
	}
	if mayBeParent(s) {
		f |= sliceID
		if !s.ParentID.IsZero() {
			f |= sliceParent
		}
	}
	if len(s.Events) > 0 {
		f |= sliceNumber
	}
	return f
}

// appendContexts appends the IDs of a span, of its parent and of its links, or only its serial number if the IDs are
// not used.
func appendContexts(rec []byte, s *span.Span) []byte {
	if !mayBeParent(s) {
		return binary.AppendUvarint(rec, binary.BigEndian.Uint64(s.ID[:])) // tracker.Options.SerialIDs
	}
	rec = append(append(rec, s.TraceID[:]...), s.ID[:]...)
	if !s.ParentID.IsZero() {
		rec = append(rec, s.ParentID[:]...)
	}
	n := min(len(s.Links), maxLinks)
	if s.Evidence == span.FromChrome {
		n = 0
	}
	rec = append(rec, byte(n))
	for i := range s.Links[:n] {
		rec = append(append(rec, s.Links[i].TraceID[:]...), s.Links[i].ID[:]...)
	}
	return rec
}

func (r *sliceRecord) read(c *bin.Reader, titles *titleTable) {
	*r = sliceRecord{links: r.links[:0]}
	r.flags, r.place = sliceFlags(c.Byte()), place(c.Byte())
	r.title = titles.read(c)
	r.endThread, r.stack, r.duration = c.Uvarint32(), c.Uvarint32(), c.Varint()
	if r.flags&sliceNumber != 0 {
		r.number = c.Uvarint32()
	}
	if r.flags&sliceID != 0 {
		r.context = readContext(c)
		if r.flags&sliceParent != 0 {
			copy(r.parent[:], c.Bytes(len(r.parent)))
		}
		for range c.Byte() {
			r.links = append(r.links, readContext(c))
		}
	} else {
		r.serial = c.Uvarint()
	}
	r.args = c.Rest()
}

func readContext(c *bin.Reader) (k span.Context) {
	copy(k.TraceID[:], c.Bytes(len(k.TraceID)))
	copy(k.ID[:], c.Bytes(len(k.ID)))
	return k
}

const (
	// margin limits how far a span may be outside the recording, in nanoseconds. Programs choose the times of spans
	// freely.
	margin = 60e9
	// maxReach limits how far a span that overlaps the recording may extend beyond it, in nanoseconds. Integers of
	// twice this size are exact in the floating-point numbers of viewers.
	maxReach = 1 << 52
)

// times returns the start and the end of a span in nanoseconds since clock.Tick, moved near the recording if necessary.
// open means that the end is not in the trace.
func (t *Timeline) times(s *span.Span) (from, to int64, open bool) {
	from = bin.SubClamped(int64(s.Start), t.base)
	to = bin.SubClamped(int64(s.End), t.base)
	if s.End == 0 {
		to, open = from, true
	}
	low, high := t.span()
	if s.Evidence == span.FromOTLP { // imported spans are not limited to the time of a recording
		low, high = min(low, from), max(high, from)
	}
	f, e := from, to
	switch {
	case to < bin.SubClamped(low, margin):
		f, e = low, low
	case from > bin.AddClamped(high, margin):
		f, e = high, high
	}
	f, e = max(f, bin.SubClamped(low, maxReach)), min(e, bin.AddClamped(high, maxReach))
	if f != from || e != to {
		t.counts.Moved++
	}
	return f, max(f, e), open
}

// trackOf returns the track of the thread on which a span began, or else the track of its process.
func (t *Timeline) trackOf(s *span.Span) uint32 {
	if s.Thread != nil {
		return t.owners.thread(s.Thread)
	}
	return t.owners.process(s.Process).Track.ID
}

// endThread returns the track of the thread on which a span ended. It returns 0 if that is unknown or the thread on
// which the span began.
func (t *Timeline) endThread(s *span.Span, track uint32) uint32 {
	if s.EndThread == nil || s.EndThread == s.Thread || s.Unfinished {
		return 0
	}
	if end := t.owners.thread(s.EndThread); end != track {
		return end
	}
	return 0
}

// placeOf determines the preferred track of a span.
func (t *Timeline) placeOf(s *span.Span) place {
	switch of := s.Operation; {
	case of == nil:
	case of.Extent == operation.Collection:
		t.owners.ownOf(t.owners.process(s.Process), CollectionTrack)
		return onCollections
	case of.IsHeap():
		t.owners.ownOf(t.owners.process(s.Process), GCTrack)
		return onGC
	}
	if s.Thread == nil || s.EndThread != s.Thread || tracker.IsAsync(s) {
		return onLane
	}
	// The thread on which an unfinished span would have ended is unknown.
	if s.Unfinished &&
		tracker.SourceOf(s)&(operation.GC|operation.JIT|operation.Contention|operation.Waits|operation.Suspensions|operation.Chrome) == 0 {
		return onLane
	}
	return onThread
}

// spanArgs appends the args of a span. The args of a pause also describe its collection.
func (t *Timeline) spanArgs(rec []byte, s *span.Span) []byte {
	if t.opts.Args == nil {
		return rec
	}
	for _, a := range t.collectionOf(s) {
		switch a.Key {
		case attrNumber, attrGeneration, attrReason:
			s.Attributes = append(s.Attributes, a)
		}
	}
	all := s.Attributes
	t.kept = t.kept[:0]
	for i := range all {
		// Item.Unfinished already states one of these, and synthetic IDs are not args.
		if k := all[i].Key; k != tracker.AttrSynthetic && k != tracker.AttrUnfinished {
			t.kept = append(t.kept, all[i])
		}
	}
	s.Attributes = t.kept
	t.source.Span = s
	rec = t.opts.Args(rec, &t.source)
	t.source.Span, s.Attributes = nil, all
	return rec
}

// begunStacks holds the stacks of events that begin a slice. A slice is added when it ends, and then its event is no
// longer available.
type begunStacks map[begunKey]uint32

type begunKey struct {
	thread *ntconv.Thread
	at     int64
}

// maxBegun limits the entries of begunStacks. A span may have other times than its events, so some entries are never
// taken.
const maxBegun = 1 << 16

func (b begunStacks) put(thread *ntconv.Thread, at int64, stack uint32) {
	if stack == 0 {
		return
	}
	if len(b) >= maxBegun {
		clear(b)
	}
	b[begunKey{thread, at}] = stack
}

func (b begunStacks) take(thread *ntconv.Thread, at int64) uint32 {
	if len(b) == 0 {
		return 0
	}
	k := begunKey{thread, at}
	stack := b[k]
	delete(b, k)
	return stack
}
