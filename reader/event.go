package reader

import (
	"fmt"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// A row is an event header with its references resolved to slots. It contains no pointers, so the garbage collector
// does not scan the rows of a window. thread, capture, stack and labels are slots; meta is an ID, because types are
// resolved at delivery.
type row struct {
	time    int64
	block   uint32 // index in window.blocks
	header  uint32 // byte position of the event in the block
	payload uint32 // byte position of the payload in the block
	size    uint32 // of the payload, in bytes
	meta    uint32 // metadata ID
	thread  uint32
	capture uint32
	stack   uint32
	labels  uint32
	seq     uint32
	lost    uint32 // lost events of the capture thread before this one; of a mark, see flagMark
	cpu     int32
	flags   ntconv.Flags
}

// An encoding is the layout of the events in a block.
type encoding uint8

const (
	encCompressed encoding = iota
	encUncompressed
	encLegacyCompressed
	encLegacyUncompressed
	encPreRelease
	encVersion3
)

// An eventBlock is the block whose events are being read. body is nil between blocks.
type eventBlock struct {
	body       []byte
	pos        int
	offset     int64 // of body[0]
	enc        encoding
	partial    bool
	held       bool             // the window holds the block
	direct     bool             // nextFast may read the next event
	announce   uint8            // flags of headers with activity IDs, which need the slow path
	prefetched uint8            // prefetched byte; never read
	h          wire.EventHeader // of the previous event; the start values of the next one
}

// openEvents starts an event block. It returns false if the block has no events.
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

// step reads the next event of the block into w. It returns false at the end of the block. w must be Reader.row: it
// holds the slots of the previous event.
func (r *Reader) step(w *row) (bool, error) {
	if r.events.enc == encVersion3 {
		return r.stepVersion3(w)
	}
	if ok, err := r.parse(w); !ok {
		return false, err
	}
	return true, r.resolve(w, &r.events.h)
}

// parse decodes the header of the next event of the block and locates its payload. It returns false at the end of the
// block, and if the event does not fit into the block.
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
		return false, r.truncatedEvent(b, n)
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

// truncatedEvent ends the block at an event that does not fit into it. n is the length of the event's header, or not
// positive if the header could not be decoded. If the input ends inside the block, the error of the input suffices.
func (r *Reader) truncatedEvent(b []byte, n int) error {
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
	return r.corrupt(wire.KindEvent, err)
}

// A memo holds the IDs in the header of the previous event of the block; Reader.row holds their slots. Most events
// repeat them, so a lookup becomes a comparison. An ID without a definition clears known, so that it is counted for
// each event.
//
// The reader's caches, who sets them, and who invalidates them:
//
//	cache                        set by                              invalidated by
//	memo                         refs, resolve, stackRef,            openEvents (new block), renew (thread ID reused);
//	                             nextFast, gather, fastCapture,      known: refs and stackRef for an ID without a
//	                             fastStack                           definition, refs in encLegacyUncompressed
//	shown                        show, fillEvent, nextFast,          valid: advance (new block), Next before a
//	                             showCapture                         sequence point, show for an undefined type
//	events.direct                startFastPath, nextFast             nextFast if it gives up, openEvents, fail
//	threadTable.cache            find                                version, changed by add, remove and flush
//	labelTable.activity, parent  activityLabels                      labelTable.flush
//	labelTable.activities        activityLabels                      labelTable.flush
//	labelTable.interned          newLabels                           never; newLabels starts over at maxInterned
//	stackTable.interned          inlineStack (version 3)             stackTable.flush, also at maxInterned
//	typeTable.unknown            placeholder                         never; placeholder starts over at 4,096
//	retired (types, threads)     typeTable.flush, threadTable.flush  take; put starts over at maxRetiredBytes
//
// labelTable.flush and stackTable.flush run at each sequence point. For versions 3 to 5 bound also calls
// labelTable.flush, between windows. All slots of a memo or a row stay valid until the rows of the window are
// delivered.
type memo struct {
	capture, thread uint64
	stack, labels   uint32
	known           bool // all four IDs are set and defined
}

// resolve converts the IDs of a header to slots and checks its sequence number. On entry w holds the slots of the
// previous event.
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
			w.thread = w.capture // renew: a new thread with a reused ID
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

// refs resolves all references of a header and sets memo.
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
	if w.flags != 0 || r.events.enc == encLegacyUncompressed { // such headers have no flags for activity IDs
		r.memo.known = false
	}
	w.flags |= sorted
	return nil
}

// at returns the offset of an event of the current block in the decompressed input.
func (r *Reader) at(w *row) int64 { return r.events.offset + int64(w.header) }

// stackRef resolves a stack ID. ID 0 means no stack and needs no definition.
func (r *Reader) stackRef(id uint32, w *row) {
	slot, ok := r.stacks.slots.get(uint64(id))
	w.stack, r.memo.stack = slot, id
	if !ok && id != 0 {
		r.memo.known = false
		r.report.Add(ntconv.CodeUnknownStack, 1, r.at(w))
	}
}

// labelRef resolves a label list ID. List 0 is always empty.
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
	return r.tolerate(ntconv.CodeUnknownLabels, r.at(w), "label list ID", undefined{"ID", uint64(id)})
}

// shown holds the slots that the pointers in Reader.event were loaded from, so that only references that change are
// stored.
type shown struct {
	thread, capture, stack, labels, meta uint32
	valid                                bool // false after any change of a table: all pointers must be stored
}

// deliver sets the event from a row and from the block that contains it. It returns the event, or the first of the
// events that precede it: queued definitions and the loss before it.
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
		r.markLate(e)
	} else {
		r.latest = w.time
	}
	if w.lost > 0 || r.head < len(r.queue) {
		return r.afterQueue(e, w.lost), nil
	}
	return e, nil
}

// show updates only the references that changed: storing a pointer is expensive while the garbage collector runs (write
// barrier).
func (r *Reader) show(w *row) error {
	e := &r.event
	s := &r.shown
	if !s.valid {
		*s = shown{
			thread: ^w.thread, capture: ^w.capture, stack: ^w.stack, labels: ^w.labels, meta: ^w.meta,
			valid: !r.slowPathOnly,
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
	s.valid = false // count every event of an undefined type
	e.Type = r.types.placeholder(w.meta)
	e.Flags |= ntconv.FlagPlaceholder
	return r.tolerate(ntconv.CodeUnknownType, e.Offset, "metadata ID", undefined{"ID", uint64(w.meta)})
}

// markLate flags and counts an event that is earlier than a delivered one. In file order that is not a flaw.
func (r *Reader) markLate(e *ntconv.Event) {
	if r.opts.Order == ByTime {
		e.Flags |= ntconv.FlagLate
		r.report.Add(ntconv.CodeOutOfOrder, 1, e.Offset)
	}
}

// afterQueue queues the event after its loss and everything that is queued already, and returns the first event of the
// queue.
func (r *Reader) afterQueue(e *ntconv.Event, lost uint32) *ntconv.Event {
	if lost > 0 {
		r.push(lostEvent(e.Capture, lost, int64(e.Time), e.Offset))
	}
	r.push(*e)
	return r.pop()
}
