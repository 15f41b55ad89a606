package writer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// A block gathers rows of one kind. buf starts with space for the block header and for the header of the rows.
type block struct {
	kind  wire.Kind
	head  int // bytes before the first row
	buf   []byte
	start int // start of the last block in buf; the blocks before it are sealed
	extra int // bytes that buf needs only because it has more than one block
	rows  int
}

// newBlock returns an empty block whose rows follow a header of head bytes.
func newBlock(kind wire.Kind, head int) block {
	return block{kind: kind, head: wire.BlockHeaderSize + head, buf: make([]byte, wire.BlockHeaderSize+head)}
}

// clear removes all rows and keeps the memory.
func (b *block) clear() { b.buf, b.start, b.extra, b.rows = b.buf[:b.head], 0, 0, 0 }

// size returns the size that one block with all rows would have. It decides when blocks are written, so it must not
// depend on how many blocks buf holds.
func (b *block) size() int { return len(b.buf) - b.extra }

// room reports whether n more bytes fit. If they exceed even an empty block it returns an error.
func (b *block) room(n int) (bool, error) {
	const limit = wire.BlockHeaderSize + wire.MaxBlockSize
	if b.head+n > limit {
		return false, fmt.Errorf("%v block: %w", b.kind, &ntconv.LimitError{
			Limit: LimitBlock, Value: wire.MaxBlockSize, Asked: int64(b.head + n - wire.BlockHeaderSize), Unit: "bytes",
		})
	}
	return b.size()+n <= limit, nil
}

// makeRoom makes room for n bytes in a block. It writes all blocks if necessary.
func (w *Writer) makeRoom(b *block, n int) error {
	ok, err := b.room(n)
	if ok || err != nil {
		return err
	}
	return w.flush()
}

// A definitionBlock gathers rows that contain their ID, and writes them sorted by ID. So rewriting a trace yields the
// same bytes, although a reader announces definitions before their first use or, after a flush, not again.
type definitionBlock struct {
	block
	ids []rowAt
}

// A rowAt locates a row in the buffer.
type rowAt struct {
	id         uint32
	start, end int
}

// add copies a row into the block.
func (b *definitionBlock) add(id uint32, row []byte) {
	if b.rows == 0 {
		b.ids = b.ids[:0]
	}
	start := len(b.buf)
	b.buf = append(b.buf, row...)
	b.ids = append(b.ids, rowAt{id, start, len(b.buf)})
	b.rows++
}

// finish sorts the rows by ID.
func (b *definitionBlock) finish() *block {
	byID := func(x, y rowAt) int { return cmp.Compare(x.id, y.id) }
	if b.rows == 0 || slices.IsSortedFunc(b.ids, byID) {
		return &b.block
	}
	slices.SortFunc(b.ids, byID)
	rows := slices.Clone(b.buf)
	b.buf = b.buf[:b.head]
	for _, r := range b.ids {
		b.buf = append(b.buf, rows[r.start:r.end]...)
	}
	return &b.block
}

// An eventBlock gathers events with compressed headers, in several blocks if necessary: see beginTurn and divide.
// append makes each header relative to the previous one; the first header of each block is relative to a header of
// zeros.
//
//	field             set by                               cleared by
//	sealed            seal                                 reset, divide (which seals again)
//	heads, last       next and append, alternating         reset, divide; begin zeroes the previous header
//	min, max          append, begin                        begin
//	capture           append                               never; unused while the block is empty
//	sorted            append, unless asRecorded            takeBack (wrong flags), reset (written), divide
//	taken             takeBack                             reset
//	flushed, claimed  claim, from append and reset         never: written flags stay
type eventBlock struct {
	block
	sealed   int                 // rows of the sealed blocks
	heads    [2]wire.EventHeader // headers of the last event and of the next one, alternating
	last     int
	min, max uint64 // times of the block, compared as signed numbers
	capture  uint64 // capture thread of the last event

	// asRecorded means that the flags are those of the input and stay, even if an earlier event follows, so that
	// readers deliver the events as they deliver those of the input.
	asRecorded bool
	// sorted lists the events in buf that this writer has flagged as sorted, by time and position. If a later event is
	// earlier than one of them, the flag is wrong, and takeBack removes it.
	sorted  []sortedEvent
	taken   bool  // takeBack has removed flags in buf
	flushed int64 // latest time of the sorted events whose flags are final: written, or asRecorded
	claimed bool  // flushed is valid
}

type sortedEvent struct {
	time int64
	pos  int // position of the flags byte in buf
}

// reset starts a new block after all events are written. Their flags are final now.
func (b *eventBlock) reset() {
	if b.buf == nil {
		b.block = newBlock(wire.KindEvent, wire.MinEventBlockHeaderSize)
	}
	b.clear()
	b.sealed, b.heads, b.taken = 0, [2]wire.EventHeader{}, false
	if n := len(b.sorted); n > 0 {
		b.claim(b.sorted[n-1].time)
		b.sorted = b.sorted[:0]
	}
}

// claim records the time of a sorted event whose flag is final.
func (b *eventBlock) claim(t int64) {
	if !b.claimed || t > b.flushed {
		b.flushed, b.claimed = t, true
	}
}

// finish fills in the header of the last block.
func (b *eventBlock) finish() *block {
	h := wire.EventBlockHeader{Flags: wire.FlagCompressed, Min: b.min, Max: b.max}
	wire.AppendEventBlockHeader(b.buf[:b.start+wire.BlockHeaderSize], &h)
	return &b.block
}

// beginTurn starts a new block for an event that is not sorted and follows events of another capture thread. TraceEvent
// notices a new capture thread only at sorted events and at the start of a block. Otherwise it would queue the event
// after those of the other thread, and mistake the step between their sequence numbers for losses.
func (b *eventBlock) beginTurn(capture uint64, sorted bool) error {
	if sorted || b.rows == 0 || capture == b.capture {
		return nil
	}
	return b.seal()
}

// seal ends the block and starts another one after it in buf. Sealed blocks are written together, so that all their
// definitions precede them: their position must not depend on where the source announces its definitions.
func (b *eventBlock) seal() error {
	b.finish()
	if err := putBlockHeader(b.buf[b.start:], b.kind); err != nil {
		return err
	}
	b.start = len(b.buf)
	b.buf = append(b.buf, make([]byte, b.head)...)
	b.sealed, b.rows = b.sealed+b.rows, 0
	return nil
}

// begin makes the first header of a block relative to a header of zeros. extra counts the bytes by which the new block
// and this header exceed the header that the event would have had in the previous block.
func (b *eventBlock) begin(prev, h *wire.EventHeader) {
	b.min, b.max = h.Time, h.Time
	if b.sealed == 0 {
		return
	}
	var scratch [maxHeader]byte
	b.extra += b.head - len(wire.AppendCompressed(scratch[:0], prev, h))
	*prev = wire.EventHeader{}
	b.extra += len(wire.AppendCompressed(scratch[:0], prev, h))
}

// divide writes the events again if takeBack has removed flags: an event that is no longer sorted may need a block of
// its own. This happens only once, when blocks are written, because one event may clear the flags of many events, and
// the next event those of others.
func (b *eventBlock) divide() error {
	if !b.taken {
		return nil
	}
	old, last := slices.Clone(b.buf), b.start
	b.clear()
	b.sealed, b.heads, b.sorted = 0, [2]wire.EventHeader{}, b.sorted[:0]
	for start := 0; start <= last; {
		end := len(old)
		if start < last { // the last block has no header yet
			end = start + wire.BlockHeaderSize + wire.ParseBlockHeader(old[start:]).Size
		}
		var h wire.EventHeader
		for at := start + b.head; at < end; {
			at += h.ParseCompressed(old[at:end])
			if err := b.beginTurn(h.CaptureThread, h.Sorted); err != nil {
				return err
			}
			*b.next() = h
			b.append(old[at : at+int(h.PayloadSize)])
			at += int(h.PayloadSize)
		}
		start = end
	}
	return nil
}

// next returns the header of the next event. The caller sets all its members before it calls append.
func (b *eventBlock) next() *wire.EventHeader { return &b.heads[1-b.last] }

// takeBack clears the flags that an event at time t proves wrong, and reports whether there were any. divide then
// writes the events again.
func (b *eventBlock) takeBack(t int64) (late bool) {
	for n := len(b.sorted); n > 0 && t < b.sorted[n-1].time; n-- {
		b.buf[b.sorted[n-1].pos] &^= wire.IsSorted
		b.sorted, b.taken, late = b.sorted[:n-1], true, true
	}
	return late
}

// append adds an event. The caller has filled in the header that next returned.
func (b *eventBlock) append(payload []byte) {
	prev, h := &b.heads[b.last], &b.heads[1-b.last]
	t := int64(h.Time)
	switch {
	case h.Sorted && b.asRecorded:
		b.claim(t)
	case h.Sorted:
		b.sorted = append(b.sorted, sortedEvent{t, len(b.buf)})
	}
	b.capture = h.CaptureThread
	switch {
	case b.rows == 0:
		b.begin(prev, h)
	case t < int64(b.min):
		b.min = h.Time
	case t > int64(b.max):
		b.max = h.Time
	}
	b.buf = append(wire.AppendCompressed(b.buf, prev, h), payload...)
	b.last = 1 - b.last
	b.rows++
}

// maxHeader is the size of the largest compressed event header in bytes.
const maxHeader = 1 + 6*5 + 3*10

// event writes an event.
func (w *Writer) event(e *ntconv.Event) error {
	if n := len(e.Payload); n > maxPayload && !w.opts.AllowLarge {
		return &ntconv.LimitError{Limit: LimitPayload, Value: maxPayload, Asked: int64(n), Unit: "bytes"}
	}
	meta, err := w.typ(e.Type)
	if err != nil {
		return err
	}
	capture, err := w.thread(e.Capture)
	if err != nil {
		return err
	}
	about := capture
	if e.Thread != e.Capture {
		if about, err = w.thread(e.Thread); err != nil {
			return err
		}
	}
	stack, err := w.stack(e.Stack)
	if err != nil {
		return err
	}
	labels, err := w.labelList(e.Labels)
	if err != nil {
		return err
	}
	b := &w.events
	// Reserve another header: the first event of a block may get longer if divide starts a block there.
	if err := w.makeRoom(&b.block, 2*maxHeader+len(e.Payload)); err != nil {
		return err
	}
	sorted := w.sorted(e)
	late := b.takeBack(int64(e.Time))
	if err := b.beginTurn(uint64(capture.id), sorted); err != nil {
		return err
	}
	h := b.next() // only now, because any call above may have started a new block
	h.MetadataID, h.StackID, h.LabelList = meta, stack, labels
	h.CaptureThread, h.Thread = uint64(capture.id), uint64(about.id)
	h.Time, h.CPU, h.PayloadSize = uint64(e.Time), uint32(e.CPU), uint32(len(e.Payload))
	h.Sequence = capture.next(e, &w.opts)
	h.Sorted = sorted
	w.checkOrder(e, late)
	b.append(e.Payload)
	if !w.full() {
		return nil
	}
	if w.opts.Ordered && !w.unordered {
		w.inserted, w.after = w.latest, w.n
		return w.sequencePoint(wire.SequencePoint{Time: uint64(w.latest)})
	}
	return w.flush()
}

// sorted reports whether an event can be flagged as sorted. It trusts the flag of the source or, with Options.Ordered,
// the order of the events until one arrives late.
func (w *Writer) sorted(e *ntconv.Event) bool {
	if w.opts.Ordered {
		w.late = w.late || int64(e.Time) < w.latest
		return !w.late
	}
	return e.Flags&ntconv.FlagSorted != 0
}

// checkOrder counts an event that is earlier than an earlier flag or sequence point allows. late means that takeBack
// has removed flags because of it. A source that sets FlagLate has counted the event already.
func (w *Writer) checkOrder(e *ntconv.Event, late bool) {
	t := int64(e.Time)
	w.latest = max(w.latest, t)
	w.unordered = w.unordered || t < w.inserted
	b := &w.events
	if e.Flags&ntconv.FlagLate != 0 || !late && t >= w.inserted && (!b.claimed || t >= b.flushed) {
		return
	}
	detail := ""
	if b.asRecorded {
		detail = "a preceding event is flagged as sorted; both are written as recorded"
	}
	w.opts.Report.Note(ntconv.CodeOutOfOrder, 1, e.Offset, detail)
}

// appendWord appends an address of 4 or 8 bytes.
func appendWord(dst []byte, v uint64, size int) []byte {
	if size == 4 {
		return bin.AppendU32(dst, uint32(v))
	}
	return bin.AppendU64(dst, v)
}
