package reader

import (
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/bin"
	"github.com/ntconv/ntconv/internal/wire"
	"github.com/ntconv/ntconv/internal/wire/legacy"
)

// A row is an event header with its references resolved to slots. It holds no pointers, so the rows of a window cost
// the garbage collector nothing.
type row struct {
	time    int64
	block   uint32 // index of the window's block
	header  uint32 // position of the event in the block
	payload uint32 // position of the payload in the block
	size    uint32 // of the payload
	meta    uint32 // metadata id
	thread  uint32
	capture uint32
	stack   uint32
	labels  uint32
	seq     uint32
	lost    uint32 // events of the capture thread that are missing before this one
	cpu     int32
	flags   ntconv.Flags
}

// encoding is how the events of a block are written.
type encoding uint8

const (
	encCompressed encoding = iota
	encUncompressed
	encLegacyCompressed
	encLegacyUncompressed
	encPreRelease
	encVersion3
)

// eventBlock is the block whose events are being read.
type eventBlock struct {
	body     []byte
	pos      int
	offset   int64 // of body[0]
	enc      encoding
	partial  bool
	held     bool             // by the window
	direct   bool             // the next event may be taken the quick way
	announce uint8            // flags of a header that brings other activity ids
	ahead    uint8            // a byte further on, read so that memory is there in time
	h        wire.EventHeader // of the last event
}

// openEvents begins an event block. It returns false if the block has no events.
func (r *Reader) openEvents(b *block) (bool, error) {
	e := &r.events
	*e = eventBlock{body: b.body, offset: b.offset, partial: b.partial}
	r.memo = memo{}
	if r.frame.header.Version == wire.V3 {
		e.enc = encVersion3
		return len(b.body) > 0, nil
	}
	c := b.cursor()
	head, err := wire.ParseEventBlockHeader(&c)
	if err != nil {
		e.body = nil
		return false, r.blockError(b, err)
	}
	e.pos = len(b.body) - c.Len()
	switch {
	case head.Compressed() && r.prerelease:
		e.enc, e.announce = encPreRelease, wire.HasActivity|wire.HasRelated
	case head.Compressed() && r.legacy:
		e.enc, e.announce = encLegacyCompressed, wire.HasActivity|wire.HasRelated
	case head.Compressed():
		e.enc, e.announce = encCompressed, wire.HasRelated
	case r.legacy:
		e.enc = encLegacyUncompressed
	default:
		e.enc = encUncompressed
	}
	if c.Len() == 0 && !b.partial {
		err := r.tolerate(ntconv.CodeEmptyBlock, b.offset, "EventBlock", errEmptyBlock)
		return false, err
	}
	return c.Len() > 0, nil
}

// step reads the next event of the block into w. It returns false at the end of the block.
func (r *Reader) step(w *row) (bool, error) {
	if r.events.enc == encVersion3 {
		return r.stepVersion3(w)
	}
	if ok, err := r.parse(w); !ok {
		return false, err
	}
	return true, r.resolve(w, &r.events.h)
}

// parse decodes the header of the next event of the block and finds its payload. It returns false at the end of the
// block.
func (r *Reader) parse(w *row) (bool, error) {
	e := &r.events
	b := e.body[e.pos:]
	if len(b) == 0 {
		return false, nil
	}
	h := &e.h
	var n int
	switch e.enc {
	case encCompressed:
		n = h.ParseCompressed(b)
	case encLegacyCompressed:
		n = legacy.ParseCompressed(b, h)
	case encUncompressed:
		n = h.ParseUncompressed(b)
	case encPreRelease:
		n = legacy.ParsePreRelease(b, h)
	default:
		n = legacy.ParseUncompressed(b, h)
	}
	if n <= 0 || uint64(h.PayloadSize) > uint64(len(b)-n) {
		return false, r.cutEvent(b, n)
	}
	w.header = uint32(e.pos)
	w.payload = uint32(e.pos + n)
	w.size = h.PayloadSize
	if e.enc == encLegacyUncompressed {
		e.pos += int(legacy.RowSize(h, len(b)))
	} else {
		e.pos += n + int(h.PayloadSize)
	}
	return true, nil
}

// cutEvent ends the block at an event that does not fit into it. If the input ends there that is no news.
func (r *Reader) cutEvent(b []byte, n int) error {
	e := &r.events
	at := e.offset + int64(e.pos)
	e.pos = len(e.body)
	if e.partial {
		return nil
	}
	var err error
	switch {
	case n > 0:
		err = &bin.Error{Offset: at, Where: "PayloadSize", Err: fmt.Errorf("%w: %d bytes, with %d left in the block",
			bin.ErrShort, e.h.PayloadSize, len(b)-n)}
	case e.enc == encCompressed:
		err = wire.CompressedError(b, at)
	case e.enc == encLegacyCompressed:
		err = legacy.CompressedError(b, at)
	}
	if err == nil {
		err = &bin.Error{Offset: at, Where: "event header", Err: bin.ErrShort}
	}
	return r.damaged(wire.KindEvent, err)
}

// memo has the references of the event before in the same block, whose slots are still in the row: most events repeat
// them. A reference to something that is not defined is not remembered, so that it is counted for each event.
type memo struct {
	capture, thread uint64
	stack, labels   uint32
	known           bool // all four are remembered
}

// resolve turns the references of a header into slots and counts sequence numbers. w still holds those of the event
// before.
func (r *Reader) resolve(w *row, h *wire.EventHeader) (err error) {
	w.flags = 0
	if h.Sorted {
		w.flags = ntconv.FlagSorted
	}
	w.time, w.meta, w.seq, w.cpu = int64(h.Time), h.MetadataID, h.Sequence, int32(h.CPU)
	m := &r.memo
	if !m.known || m.capture != h.CaptureThread || m.labels != h.LabelList || h.Flags&r.events.announce != 0 {
		if err := r.refs(w, h); err != nil {
			return err
		}
	} else {
		if m.thread != h.Thread {
			c := &r.threads.cache[cacheIndex(h.Thread)]
			if c.id == h.Thread && c.version == r.threads.version {
				w.thread, m.thread = c.slot, h.Thread
			} else if err := r.refs(w, h); err != nil {
				return err
			}
		}
		if m.stack != h.StackID {
			if place := r.stacks.slots.near(uint64(h.StackID)); place != 0 {
				w.stack, m.stack = place-1, h.StackID
			} else {
				r.stackRef(h.StackID, w)
			}
		}
	}
	s := &r.threads.list[w.capture]
	if w.lost = 0; s.seq+1 != h.Sequence || !s.seen {
		if w.capture, w.lost, err = r.jump(w.capture, h.Sequence, r.at(w)); err != nil {
			return err
		}
		s = &r.threads.list[w.capture]
		if !m.known && h.Thread == h.CaptureThread {
			w.thread = w.capture // a new thread with an old id
		}
	}
	if s.seq = h.Sequence; s.seq == 0 {
		w.flags |= ntconv.FlagNumbered
	}
	if uint64(w.time-r.earliest) > r.span {
		r.report.Add(ntconv.CodeBadTime, 1, r.at(w))
	}
	return nil
}

// refs finds the slots of all references of a header.
func (r *Reader) refs(w *row, h *wire.EventHeader) (err error) {
	sorted := w.flags
	w.flags = 0
	offset := r.at(w)
	if w.capture, err = r.threadSlot(h.CaptureThread, offset, &w.flags); err != nil {
		return err
	}
	if w.thread, err = r.threadSlot(h.Thread, offset, &w.flags); err != nil {
		return err
	}
	r.memo = memo{capture: h.CaptureThread, thread: h.Thread, labels: h.LabelList, known: true}
	r.stackRef(h.StackID, w)
	if r.legacy {
		w.labels = r.activityLabels(h)
	} else if err := r.labelRef(h.LabelList, w); err != nil {
		return err
	}
	if w.flags != 0 || r.events.enc == encLegacyUncompressed { // the latter has no flags to announce another activity
		r.memo.known = false
	}
	w.flags |= sorted
	return nil
}

// at returns the place of an event of the current block in the input.
func (r *Reader) at(w *row) int64 { return r.events.offset + int64(w.header) }

// stackRef finds the slot of a stack.
func (r *Reader) stackRef(id uint32, w *row) {
	slot, ok := r.stacks.slots.get(uint64(id))
	w.stack, r.memo.stack = slot, id
	if !ok && id != 0 {
		r.memo.known = false
		r.report.Add(ntconv.CodeUnknownStack, 1, r.at(w))
	}
}

// labelRef finds the slot of a label list. List 0 is always empty.
func (r *Reader) labelRef(id uint32, w *row) error {
	w.labels = 0
	if id == 0 {
		return nil
	}
	slot, ok := r.labels.slots.get(uint64(id))
	if w.labels = slot; ok {
		return nil
	}
	w.flags |= ntconv.FlagPlaceholder
	return r.tolerate(ntconv.CodeUnknownLabels, r.at(w), "label list id", undefined{"id", uint64(id)})
}

// shown has the slots of the reader's event, so that only references that change are written.
type shown struct {
	thread, capture, stack, labels, meta uint32
	valid                                bool // no table has changed since
}

// deliver makes the reader's event of a row and of the block that it lies in, and returns it or what must come before
// it: definitions that it brought along, and the news that events are missing.
func (r *Reader) deliver(w *row, body []byte, offset int64) (*ntconv.Event, error) {
	e := &r.event
	e.Flags = w.flags
	e.CPU = w.cpu
	e.Seq = w.seq
	e.Time = ntconv.Ticks(w.time)
	e.Offset = offset + int64(w.header)
	e.Payload = body[w.payload : w.payload+w.size : w.payload+w.size]
	if err := r.show(w); err != nil {
		return nil, err
	}
	if w.time < r.latest {
		r.late(e)
	} else {
		r.latest = w.time
	}
	if w.lost > 0 || r.head < len(r.queue) {
		return r.afterQueue(e, w.lost), nil
	}
	return e, nil
}

// show sets what the event refers to, where it is not what the event before referred to: storing a pointer is dear
// while the garbage collector runs.
func (r *Reader) show(w *row) error {
	e := &r.event
	s := &r.shown
	if !s.valid {
		*s = shown{
			thread:  ^w.thread,
			capture: ^w.capture,
			stack:   ^w.stack,
			labels:  ^w.labels,
			meta:    ^w.meta,
			valid:   !r.general,
		}
	}
	if s.thread != w.thread {
		s.thread = w.thread
		e.Thread = r.threads.list[w.thread].thread
	}
	if s.capture != w.capture {
		s.capture = w.capture
		e.Capture = r.threads.list[w.capture].thread
	}
	if s.stack != w.stack {
		s.stack = w.stack
		e.Stack = r.stacks.list[w.stack]
	}
	if s.labels != w.labels {
		s.labels = w.labels
		e.Labels = r.labels.list[w.labels]
	}
	if s.meta == w.meta {
		return nil
	}
	s.meta = w.meta
	if e.Type = r.types.find(w.meta); e.Type != nil {
		return nil
	}
	s.valid = false // each event without a type is counted
	e.Type = r.types.placeholder(w.meta)
	e.Flags |= ntconv.FlagPlaceholder
	return r.tolerate(ntconv.CodeUnknownType, e.Offset, "metadata id", undefined{"id", uint64(w.meta)})
}

// late counts an event that is older than one before it. Files need not be in order of time.
func (r *Reader) late(e *ntconv.Event) {
	if r.opts.Order == ByTime {
		e.Flags |= ntconv.FlagLate
		r.report.Add(ntconv.CodeOutOfOrder, 1, e.Offset)
	}
}

// afterQueue puts the event behind what must come before it, and returns the first of that.
func (r *Reader) afterQueue(e *ntconv.Event, lost uint32) *ntconv.Event {
	if lost > 0 {
		r.push(lostEvent(e.Capture, lost, int64(e.Time), e.Offset))
	}
	r.push(*e)
	return r.pop()
}
