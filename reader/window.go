package reader

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/ntconv/ntconv"
)

// A window orders events by time. Rows are kept in file order and cut into runs of non-decreasing time; a heap merges
// the runs. Ties go by file order.
//
// A sorted event at time T promises that nothing earlier follows in the file: everything up to T may be delivered. A
// barrier, the end of the input and a full window release everything.
type window struct {
	rows     []row
	runs     []run
	last     int64  // time of the last row
	joins    bool   // a row may join the run of the last row: not all of that is delivered
	heap     []head // of all runs with rows that are not delivered, by time and then position
	turn     turn
	blocks   []heldBlock
	spare    [][]byte // memory of blocks that are delivered
	idle     int      // bytes of spare
	bytes    int      // memory of blocks and of marks
	most     int      // largest bytes since all was delivered
	done     int      // rows delivered
	open     bool     // rows up to bound are released
	bound    int64
	promise  bool           // a row was sorted since fill began
	promised int64          // latest time of those that were
	marks    []ntconv.Event // that wait for the rows before them, see mark
	high     int64          // latest time of the rows before the last run, since the last barrier
}

// run is a stretch of rows with non-decreasing times. While the run has a head, its next is the one that counts.
type run struct{ next, end uint32 }

// head is the next row of a run, in the form that is compared fastest.
type head struct {
	time int64
	row  uint64 // its position in the upper half, its run in the lower
}

func headOf(time int64, next, run uint32) head {
	return head{time, uint64(next)<<32 | uint64(run)}
}

func (h *head) next() uint32 { return uint32(h.row >> 32) }

func (h *head) run() uint32 { return uint32(h.row) }

// turn is a stretch of rows of one run that come before those of all others, and are out of the heap.
type turn struct{ at, end int }

// heldBlock is a block with rows that are not delivered.
type heldBlock struct {
	body   []byte
	offset int64
	own    bool // body is the window's
}

// pending reports whether rows wait for delivery.
func (w *window) pending() bool { return w.left() > 0 }

// left returns how many rows are not delivered.
func (w *window) left() int { return len(w.rows) - w.done }

// size returns how many bytes blocks and rows take.
func (w *window) size() int { return w.bytes + len(w.rows)*int(unsafe.Sizeof(row{})) }

// memory returns memory of a block that is delivered, or nil.
func (w *window) memory() (mem []byte) {
	if n := len(w.spare); n > 0 {
		mem, w.spare[n-1], w.spare = w.spare[n-1], nil, w.spare[:n-1]
		w.idle -= cap(mem)
	}
	return mem
}

// hold keeps a block and returns its index.
func (w *window) hold(b heldBlock) uint32 {
	w.blocks = append(w.blocks, b)
	w.bytes += cap(b.body)
	w.most = max(w.most, w.bytes)
	return uint32(len(w.blocks) - 1)
}

// add appends a row in file order. Nothing may be released at that time.
func (w *window) add(r *row) {
	// Member by member: the members of r have just been stored one by one, and a copy as a whole would wait for them.
	d := w.grow(r.time)
	d.time, d.block, d.header, d.payload, d.size = r.time, r.block, r.header, r.payload, r.size
	d.meta, d.thread, d.capture, d.stack, d.labels = r.meta, r.thread, r.capture, r.stack, r.labels
	d.seq, d.lost, d.cpu, d.flags = r.seq, r.lost, r.cpu, r.flags
	if r.flags&ntconv.FlagSorted != 0 {
		w.keep(r.time)
	}
}

// flagMark is a flag of rows that are no events: they hold the place of as many of the window's marks as their member
// lost says.
const flagMark ntconv.Flags = 1 << 7

// mark keeps what is no event, and so has no time, until the rows that are in front of it in the file have been
// delivered: it takes the time of the latest of them. Its place among the events so depends on these alone, not on how
// they were cut into blocks. Rows wait.
func (w *window) mark(events ...ntconv.Event) {
	time := max(w.high, w.last)
	block := w.rows[len(w.rows)-1].block
	*w.grow(time) = row{time: time, block: block, lost: uint32(len(events)), flags: flagMark}
	for _, e := range events {
		w.bytes += markBytes(&e)
	}
	w.marks = append(w.marks, events...)
}

// barrier begins another window: what was before it no longer matters for the place of a mark.
func (w *window) barrier() { w.high, w.last = math.MinInt64, math.MinInt64 }

// markBytes is about what a mark takes.
func markBytes(e *ntconv.Event) int { return int(unsafe.Sizeof(*e)) + cap(e.Payload) }

// takeMarks returns the first marks, for which a row held the place.
func (w *window) takeMarks(n uint32) []ntconv.Event {
	marks := w.marks[:n]
	for i := range marks {
		w.bytes -= markBytes(&marks[i])
	}
	if w.marks = w.marks[n:]; len(w.marks) == 0 {
		w.marks = nil
	}
	return marks
}

// keep notes that a sorted row has come.
func (w *window) keep(time int64) {
	if !w.promise || time > w.promised {
		w.promise, w.promised = true, time
	}
}

// grow appends a row of a time, which is to be filled in.
func (w *window) grow(time int64) *row {
	n := len(w.rows)
	if !w.joins || time < w.last {
		w.begin(time, n)
	}
	w.last = time
	w.rows = room(w.rows)[:n+1]
	return &w.rows[n]
}

// room returns rows with room for one more.
func room(rows []row) []row {
	if n := len(rows); n == cap(rows) {
		more := max(n, firstRows) // append by itself would copy more often
		if n >= manyRows {
			more = n / 2
		}
		rows = slices.Grow(rows, more)
	}
	return rows
}

// firstRows is for how many rows a window gets room at first. From manyRows on, 64 MiB, room is not doubled: half of it
// may stay unused.
const (
	firstRows = 1 << 10
	manyRows  = 1 << 20
)

// begin starts a run with row n, the next one.
func (w *window) begin(time int64, n int) {
	w.high = max(w.high, w.last)
	w.endRun(n)
	w.heap = append(w.heap, headOf(time, uint32(n), uint32(len(w.runs))))
	w.runs = append(w.runs, run{next: uint32(n)})
	w.joins = true
	w.up(len(w.heap) - 1)
}

// endRun notes that the last run ends in front of row n. While rows are added it has no end.
func (w *window) endRun(n int) {
	if last := len(w.runs) - 1; last >= 0 {
		w.runs[last].end = uint32(n)
	}
}

// release allows delivery up to time t, or of everything.
func (w *window) release(t int64, all bool) {
	if w.open, w.bound = true, t; all {
		w.bound = math.MaxInt64
	}
	w.endRun(len(w.rows))
}

// next returns the earliest released row. If there is none it returns nil, and nothing is released any more: rows to
// come wait again. The row is valid until the next call of a method that changes the window.
func (w *window) next() *row {
	if w.turn.at == w.turn.end && !w.take() {
		return nil
	}
	r := &w.rows[w.turn.at]
	w.turn.at++
	w.done++
	return r
}

// take begins the next turn, and reports whether there is one.
func (w *window) take() bool {
	h := w.heap
	if !w.open || len(h) == 0 || h[0].time > w.bound {
		w.open = false
		return false
	}
	until := headOf(w.bound, math.MaxUint32, 0)
	second := 0
	if len(h) > 1 {
		if second = w.child(0); h[second].before(&until) {
			until = h[second]
		}
	}
	first, run := h[0].next(), h[0].run()
	end := w.runs[run].end
	stop := w.gallop(first, end, &until)
	w.turn = turn{int(first), int(stop)}
	if stop == end {
		h[0] = headOf(0, stop, run)
		w.exhaust()
		w.down(0)
		return true
	}
	moved := headOf(w.rows[stop].time, stop, run)
	if second == 0 || moved.before(&h[second]) { // the bound ended the turn
		h[0] = moved
		return true
	}
	h[0], h[second] = h[second], moved
	w.down(second)
	return true
}

// gallop returns the first row behind first, which is before until, that is not before it; at most end. Turns are of a
// few rows in some traces, of thousands in others.
func (w *window) gallop(first, end uint32, until *head) uint32 {
	latest, behind := until.time, until.next()
	before := func(n uint32) bool {
		t := w.rows[n].time
		return t < latest || t == latest && n < behind
	}
	low := first + 1 // all in front of it are before until
	for near := min(end, first+8); low < near; low++ {
		if !before(low) {
			return low
		}
	}
	step := uint32(8)
	for low < end && before(min(low+step, end)-1) {
		low, step = min(low+step, end), 2*step
	}
	for high := min(low+step, end); low < high; { // the row in front of high is not before until
		if mid := (low + high) / 2; before(mid) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// exhaust takes the first head off the heap. The order of the heap is to be restored.
func (w *window) exhaust() {
	h := w.heap[0]
	w.runs[h.run()].next = h.next()
	if int(h.next()) == len(w.rows) {
		w.joins = false // what is added now waits for another release
	}
	n := len(w.heap) - 1
	w.heap[0] = w.heap[n]
	w.heap = w.heap[:n]
}

// before orders heads: by time, and by position. It has no branches, which would often be guessed wrong.
func (h *head) before(g *head) bool {
	return h.less(g) != 0
}

// less is 1 if h is before g, and else 0.
func (h *head) less(g *head) int {
	_, borrow := bits.Sub64(h.row, g.row, 0)
	_, borrow = bits.Sub64(uint64(h.time)^1<<63, uint64(g.time)^1<<63, borrow)
	return int(borrow)
}

// child returns the first of the heads below position i of the heap, which has one.
func (w *window) child(i int) int {
	h, c := w.heap, 2*i+1
	if c+1 < len(h) {
		c += h[c+1].less(&h[c])
	}
	return c
}

// up restores the heap above position i.
func (w *window) up(i int) {
	h := w.heap
	for i > 0 {
		p := (i - 1) / 2
		if !h[i].before(&h[p]) {
			return
		}
		h[i], h[p] = h[p], h[i]
		i = p
	}
}

// down restores the heap below position i. It does not stop where the head belongs, which would often be guessed wrong,
// but goes on to the end: below that place each head is put where it was.
func (w *window) down(i int) {
	h := w.heap
	if i >= len(h) {
		return
	}
	moved := h[i]
	for 2*i+1 < len(h) {
		c := w.child(i)
		below := h[c]
		rises := -below.less(&moved)
		swap := head{(below.time ^ moved.time) & int64(rises), (below.row ^ moved.row) & uint64(rises)}
		h[i] = head{moved.time ^ swap.time, moved.row ^ swap.row}
		moved = head{below.time ^ swap.time, below.row ^ swap.row}
		i = c
	}
	h[i] = moved
}

// trim forgets what is delivered, once that is all or the larger part: the rest is moved together, which costs no more
// than the delivery did.
func (w *window) trim() {
	if w.left() == 0 {
		for i := range w.blocks {
			w.recycle(&w.blocks[i])
		}
		w.blocks = w.blocks[:0]
		w.reset()
		w.shed()
		return
	}
	if 2*w.left() > len(w.rows) {
		return
	}
	w.endRun(len(w.rows))
	for _, h := range w.heap {
		w.runs[h.run()].next = h.next()
	}
	rows, runs := w.rows[:0], w.runs[:0]
	for _, r := range w.runs {
		if r.next < r.end {
			n := uint32(len(rows))
			rows = append(rows, w.rows[r.next:r.end]...)
			runs = append(runs, run{n, uint32(len(rows))})
		}
	}
	w.rows, w.runs, w.done = rows, runs, 0
	w.trimBlocks()
	w.heap = w.heap[:0]
	for i, r := range w.runs {
		w.heap = append(w.heap, headOf(w.rows[r.next].time, r.next, uint32(i)))
	}
	for i := len(w.heap)/2 - 1; i >= 0; i-- {
		w.down(i)
	}
}

// trimBlocks gives up blocks without rows. Rows and blocks are both in file order.
func (w *window) trimBlocks() {
	at, n := 0, uint32(0)
	for i := range w.blocks {
		from := at
		for ; at < len(w.rows) && w.rows[at].block == uint32(i); at++ {
			w.rows[at].block = n
		}
		if at == from {
			w.recycle(&w.blocks[i])
			continue
		}
		w.blocks[n] = w.blocks[i]
		n++
	}
	clear(w.blocks[n:])
	w.blocks = w.blocks[:n]
}

// reset forgets all rows. They are delivered.
func (w *window) reset() {
	w.rows, w.runs, w.heap, w.done, w.turn, w.joins = w.rows[:0], w.runs[:0], w.heap[:0], 0, turn{}, false
}

// discard forgets everything that is not delivered.
func (w *window) discard() {
	for i := range w.marks {
		w.bytes -= markBytes(&w.marks[i])
	}
	w.done, w.marks = len(w.rows), nil
	w.trim()
}

// recycle keeps the memory of a delivered block for the next ones. Without that, a stream whose windows are as large as
// their limit would take it twice: for the window that fills, and for blocks of the one before that the garbage
// collector has not found yet.
func (w *window) recycle(b *heldBlock) {
	if b.body == nil {
		return
	}
	w.bytes -= cap(b.body)
	if b.own {
		w.spare = append(w.spare, b.body)
		w.idle += cap(b.body)
	}
	b.body = nil
}

// shed gives up memory beyond what the window has just needed, so that one large window among small ones does not hold
// it for ever. All rows are delivered.
func (w *window) shed() {
	if w.most == 0 {
		return
	}
	for n := len(w.spare); w.idle > w.most && n > 0; n-- {
		w.memory()
	}
	w.most = 0
}
