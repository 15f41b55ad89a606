package writer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/bin"
	"github.com/ntconv/ntconv/internal/wire"
)

// A block gathers rows of one kind. buf begins with room for the block header and for what a block of that kind has in
// front of its rows.
type block struct {
	kind  wire.Kind
	head  int // bytes before the first row
	buf   []byte
	start int // of the block in buf, behind those that are complete
	extra int // bytes of buf that there are only because it holds more than one block
	rows  int
}

func newBlock(kind wire.Kind, head int) block {
	return block{kind: kind, head: wire.BlockHeaderSize + head, buf: make([]byte, wire.BlockHeaderSize+head)}
}

// clear forgets the rows.
func (b *block) clear() { b.buf, b.start, b.extra, b.rows = b.buf[:b.head], 0, 0, 0 }

// size is that of one block with all rows. It decides where blocks are cut, and so does not depend on how many there
// are.
func (b *block) size() int { return len(b.buf) - b.extra }

// room reports whether n more bytes fit. Where they would not fit into an empty block either it returns an error.
func (b *block) room(n int) (bool, error) {
	const most = wire.BlockHeaderSize + wire.MaxBlockSize
	if b.head+n > most {
		return false, fmt.Errorf("%v block: %w", b.kind, &ntconv.LimitError{
			Limit: LimitBlock, Value: wire.MaxBlockSize, Asked: int64(b.head + n - wire.BlockHeaderSize), Unit: "bytes"})
	}
	return b.size()+n <= most, nil
}

// makeRoom makes room for n bytes in a block, writing all blocks if need be.
func (w *Writer) makeRoom(b *block, n int) error {
	ok, err := b.room(n)
	if ok || err != nil {
		return err
	}
	return w.flush()
}

// A definitionBlock gathers rows that say their own numbers. They are written in the order of these, whatever the order
// in which things were met: what is written again comes out the same, though a reader announces things earlier than
// they are used, or, after a flush, not again.
type definitionBlock struct {
	block
	ids []rowAt
}

type rowAt struct {
	id         uint32
	start, end int
}

func (b *definitionBlock) add(id uint32, row []byte) {
	if b.rows == 0 {
		b.ids = b.ids[:0]
	}
	start := len(b.buf)
	b.buf = append(b.buf, row...)
	b.ids = append(b.ids, rowAt{id, start, len(b.buf)})
	b.rows++
}

// finish puts the rows in order.
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

// eventBlock gathers events with compressed headers, in more than one block where it must: see beginTurn and divide.
type eventBlock struct {
	block
	sealed   int                 // rows of the blocks that are complete
	heads    [2]wire.EventHeader // of the last event and the next, by turns
	last     int
	min, max uint64 // times, in the order of signed numbers
	capture  uint64 // thread of the last event

	// asRecorded means that flags are those of the input and stay, even if an earlier event follows: readers then deliver
	// the events as they do those of the input.
	asRecorded bool
	// sorted are the events in buf that this writer has flagged as sorted, by time and position. An event that is earlier
	// than one of them shows that the flag is wrong, and takeBack removes it.
	sorted  []sortedEvent
	taken   bool  // flags in buf have been taken back
	flushed int64 // latest time of the sorted events whose flags stay: they are written, or asRecorded
	claimed bool  // flushed means something
}

type sortedEvent struct {
	time int64
	pos  int // of the flags byte
}

// reset begins a new block: the first event's header is relative to a header of zeros.
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

// claim notes that the flag of a sorted event stays.
func (b *eventBlock) claim(t int64) {
	if !b.claimed || t > b.flushed {
		b.flushed, b.claimed = t, true
	}
}

// finish fills in the header.
func (b *eventBlock) finish() *block {
	h := wire.EventBlockHeader{Flags: wire.FlagCompressed, Min: b.min, Max: b.max}
	wire.AppendEventBlockHeader(b.buf[:b.start+wire.BlockHeaderSize], &h)
	return &b.block
}

// beginTurn begins a new block for an event that is not sorted and follows events of another capture thread:
// Microsoft's reader notes a new capture thread only at sorted events and where a block begins. Else it would queue the
// event behind those of the other thread, and take the step between their numbers for losses.
func (b *eventBlock) beginTurn(capture uint64, sorted bool) error {
	if sorted || b.rows == 0 || capture == b.capture {
		return nil
	}
	return b.seal()
}

// seal ends the block and begins another one behind it. They are written together, so that the definitions of all of
// them come first: where a source announces its definitions must not decide where they are written.
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

// begin makes the first event's header relative to a header of zeros. What that and the beginning of the block take
// more than the event would have taken in the block before is extra.
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

// divide writes the events again where flags have been taken back: a thread that took its turn with a sorted event
// needs a block of its own if the event is not sorted after all. That is done once, when blocks are written, as one
// event may take back the flags of many and the next again.
func (b *eventBlock) divide() error {
	if !b.taken {
		return nil
	}
	old, last := slices.Clone(b.buf), b.start
	b.clear()
	b.sealed, b.heads, b.sorted = 0, [2]wire.EventHeader{}, b.sorted[:0]
	for start := 0; start <= last; {
		end := len(old)
		if start < last { // else the header is not written yet
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

// next returns the header of the next event, to be filled in before append.
func (b *eventBlock) next() *wire.EventHeader { return &b.heads[1-b.last] }

// takeBack clears the flags that an event of time t proves wrong, and reports whether there are any. See divide for what
// follows from it.
func (b *eventBlock) takeBack(t int64) (late bool) {
	for n := len(b.sorted); n > 0 && t < b.sorted[n-1].time; n-- {
		b.buf[b.sorted[n-1].pos] &^= wire.IsSorted
		b.sorted, b.taken, late = b.sorted[:n-1], true, true
	}
	return late
}

// append adds the event whose header next has returned.
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

// maxHeader is the size of the largest compressed event header.
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
	// There is room for one header more, since another event may come to begin a block.
	if err := w.makeRoom(&b.block, 2*maxHeader+len(e.Payload)); err != nil {
		return err
	}
	sorted := w.sorted(e)
	late := b.takeBack(int64(e.Time))
	if err := b.beginTurn(uint64(capture.id), sorted); err != nil {
		return err
	}
	h := b.next() // only now: all of the above may have begun a new block
	h.MetadataID, h.CaptureThread, h.Thread, h.StackID, h.LabelList = meta, uint64(
		capture.id,
	), uint64(
		about.id,
	), stack, labels
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

// sorted reports whether no later event is earlier, as far as the source or Options.Ordered can be believed: an event
// that comes late itself shows that more may.
func (w *Writer) sorted(e *ntconv.Event) bool {
	if w.opts.Ordered {
		w.late = w.late || int64(e.Time) < w.latest
		return !w.late
	}
	return e.Flags&ntconv.FlagSorted != 0
}

// checkOrder counts an event that is earlier than the flags or barriers before it allow. late means that flags have been
// taken back for it. A source that delivers an event with FlagLate has counted it.
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
		detail = "an event before it has the flag that none earlier follows; both are written as recorded"
	}
	w.opts.Report.Note(ntconv.CodeOutOfOrder, 1, e.Offset, detail)
}

// appendWord appends an address of the trace's size.
func appendWord(dst []byte, v uint64, size int) []byte {
	if size == 4 {
		return bin.AppendU32(dst, uint32(v))
	}
	return bin.AppendU64(dst, v)
}
