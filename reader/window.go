package reader

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/ntconv/ntconv"
)

// A window sorts events by time. It keeps rows in file order, split into runs of non-decreasing time; a heap merges the
// runs. Rows of equal time keep their file order.
//
// A sorted event at time T guarantees that no earlier event follows in the file: rows up to T can be released. A
// barrier (sequence point), the end of the input and a full window release everything.
//
// A row is added, released, batched, delivered and trimmed, in this order. While rows are released (open), no row is
// added.
//
// In file order (fifo) the window is a queue instead, without runs and heap. It is empty unless an event waits for the
// metadata row of its type, see Reader.settle; all events after that event queue behind it.
//
//	field              set by                                     cleared by
//	rows, runs         begin, grow; gather appends rows directly  trim (delivered rows), reset (all)
//	heap               begin, nextBatch                           exhaust (end of a run), trim (rebuilt), reset
//	last               grow, gather                               barrier
//	joins              begin                                      exhaust of the last run, reset
//	high               begin                                      barrier
//	open, bound        release                                    nextBatch, if no released row is left
//	ready              release, settle (file order)               trim (delivered rows), reset
//	batch, done        nextBatch; next and Next advance them      trim (done), reset
//	hasSorted          keep                                       fill, at its start (time order), reset
//	sortedUpTo         keep                                       never; valid if hasSorted
//	blocks, bytes      hold; mark adds to bytes                   trim and trimBlocks call recycle; takeMarks, discard
//	spare, idle        recycle                                    memory, shed
//	maxBytes           hold                                       shed
//	marks              mark                                       takeMarks, discard
type window struct {
	rows       []row
	runs       []run
	last       int64  // time of the last row since the last barrier
	joins      bool   // the last run is not exhausted, so a later row may join it
	heap       []head // one entry per run that is not exhausted, by time and then position
	batch      batch
	blocks     []heldBlock
	spare      [][]byte // memory of delivered blocks, for reuse
	idle       int      // capacity of spare in bytes
	bytes      int      // capacity of blocks, and memory of marks, in bytes
	maxBytes   int      // maximum of bytes since the window was last empty
	done       int      // number of delivered rows
	open       bool     // rows up to the time bound are released
	bound      int64
	fifo       bool           // file order
	ready      int            // file order: number of released rows, including delivered ones
	hasSorted  bool           // a row was flagged as sorted since fill started (file order: since the last reset)
	sortedUpTo int64          // latest time of the rows flagged as sorted
	marks      []ntconv.Event // events without a time that wait for the rows before them, see mark
	high       int64          // latest time of the rows before the last run since the last barrier
}

// A run is a range of rows with non-decreasing times. While the heap has an entry for the run, the entry holds the
// current next row, and run.next is outdated.
type run struct{ next, end uint32 }

// A head is the heap entry of a run: its next row, in a form that needs two comparisons.
type head struct {
	time int64
	row  uint64 // index of the row in the upper half, index of the run in the lower half
}

func headOf(time int64, next, run uint32) head {
	return head{time, uint64(next)<<32 | uint64(run)}
}

func (h *head) next() uint32 { return uint32(h.row >> 32) }

func (h *head) run() uint32 { return uint32(h.row) }

// A batch is the range of rows of the first run that precede the rows of all other runs. The heap entry of the run is
// already past the batch.
type batch struct{ at, end int }

// A heldBlock is a block with rows that are not delivered.
type heldBlock struct {
	body   []byte
	offset int64
	own    bool // the window owns body and may recycle it
}

// pending reports whether the window has rows that are not delivered.
func (w *window) pending() bool { return w.left() > 0 }

// left returns the number of rows that are not delivered.
func (w *window) left() int { return len(w.rows) - w.done }

// size returns the bytes that blocks, marks and rows use, for Limits.WindowBytes.
func (w *window) size() int { return w.bytes + len(w.rows)*int(unsafe.Sizeof(row{})) }

// memory removes the memory of a delivered block from spare and returns it. It returns nil if there is none.
func (w *window) memory() (mem []byte) {
	if n := len(w.spare); n > 0 {
		mem, w.spare[n-1], w.spare = w.spare[n-1], nil, w.spare[:n-1]
		w.idle -= cap(mem)
	}
	return mem
}

// hold keeps a block and returns its index in blocks.
func (w *window) hold(b heldBlock) uint32 {
	w.blocks = append(w.blocks, b)
	w.bytes += cap(b.body)
	w.maxBytes = max(w.maxBytes, w.bytes)
	return uint32(len(w.blocks) - 1)
}

// add appends a row in file order. No rows may be released at that time.
func (w *window) add(r *row) {
	// Copy member by member. A wide copy could not use store forwarding, because the members of r were stored one by
	// one.
	d := w.grow(r.time)
	d.time, d.block, d.header, d.payload, d.size = r.time, r.block, r.header, r.payload, r.size
	d.meta, d.thread, d.capture, d.stack, d.labels = r.meta, r.thread, r.capture, r.stack, r.labels
	d.seq, d.lost, d.cpu, d.flags = r.seq, r.lost, r.cpu, r.flags
	if r.flags&ntconv.FlagSorted != 0 {
		w.keep(r.time)
	}
}

// flagMark marks a row that is not an event: it is the placeholder for the next row.lost entries of window.marks.
const flagMark ntconv.Flags = 1 << 7

// mark appends events that have no time, such as marks and losses. They wait until all rows before them in the file are
// delivered and get the latest time of these rows. So their place among the events depends only on the file order, not
// on block boundaries. At least one row must be waiting.
func (w *window) mark(events ...ntconv.Event) {
	time := max(w.high, w.last)
	block := w.rows[len(w.rows)-1].block
	*w.grow(time) = row{time: time, block: block, lost: uint32(len(events)), flags: flagMark}
	for _, e := range events {
		w.bytes += markBytes(&e)
	}
	w.marks = append(w.marks, events...)
}

// barrier starts a new window: times before it do not affect later marks.
func (w *window) barrier() { w.high, w.last = math.MinInt64, math.MinInt64 }

// markBytes estimates the memory of a mark.
func markBytes(e *ntconv.Event) int { return int(unsafe.Sizeof(*e)) + cap(e.Payload) }

// takeMarks removes and returns the first n marks. The caller has reached their placeholder row.
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

// keep records the time of a sorted row, up to which fill releases rows.
func (w *window) keep(time int64) {
	if !w.hasSorted || time > w.sortedUpTo {
		w.hasSorted, w.sortedUpTo = true, time
	}
}

// grow appends a row with the given time and returns it. The caller sets its members.
func (w *window) grow(time int64) *row {
	n := len(w.rows)
	if !w.joins || time < w.last {
		w.begin(time, n)
	}
	w.last = time
	w.rows = room(w.rows)[:n+1]
	return &w.rows[n]
}

// room returns rows with capacity for at least one more.
func room(rows []row) []row {
	if n := len(rows); n == cap(rows) {
		more := max(n, firstRows) // append alone would grow by less and copy more often
		if n >= manyRows {
			more = n / 2
		}
		rows = slices.Grow(rows, more)
	}
	return rows
}

// firstRows is the initial capacity. From manyRows on (64 MiB) the capacity grows by half instead of doubling, because
// up to half of it may remain unused.
const (
	firstRows = 1 << 10
	manyRows  = 1 << 20
)

// begin starts a run with the next row, n.
func (w *window) begin(time int64, n int) {
	if w.joins = true; w.fifo {
		return
	}
	w.high = max(w.high, w.last)
	w.endRun(n)
	w.heap = append(w.heap, headOf(time, uint32(n), uint32(len(w.runs))))
	w.runs = append(w.runs, run{next: uint32(n)})
	w.up(len(w.heap) - 1)
}

// endRun sets the end of the last run to row n. The end of the last run is not maintained while rows are added.
func (w *window) endRun(n int) {
	if last := len(w.runs) - 1; last >= 0 {
		w.runs[last].end = uint32(n)
	}
}

// release allows the delivery of rows up to time t, or of all rows. In file order all must be set.
func (w *window) release(t int64, all bool) {
	w.ready = len(w.rows)
	if w.open, w.bound = true, t; all {
		w.bound = math.MaxInt64
	}
	w.endRun(len(w.rows))
}

// next returns the earliest released row, in file order the first one, or nil if there is none. After nil nothing is
// released: new rows wait for the next call of release. The row is valid until the next call of a method that changes
// the window.
func (w *window) next() *row {
	if w.batch.at == w.batch.end && !w.nextBatch() {
		return nil
	}
	r := &w.rows[w.batch.at]
	w.batch.at++
	w.done++
	return r
}

// nextBatch sets the next batch and reports whether there is one.
func (w *window) nextBatch() bool {
	if w.fifo {
		w.batch = batch{w.done, w.ready}
		return w.done < w.ready
	}
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
	w.batch = batch{int(first), int(stop)}
	if stop == end {
		h[0] = headOf(0, stop, run)
		w.exhaust()
		w.down(0)
		return true
	}
	moved := headOf(w.rows[stop].time, stop, run)
	if second == 0 || moved.before(&h[second]) { // the batch ends at the bound, so the run stays first
		h[0] = moved
		return true
	}
	h[0], h[second] = h[second], moved
	w.down(second)
	return true
}

// gallop returns the first row in (first, end) that is not before until, or else end. It scans 8 rows, doubles its
// step, then bisects: batches have two rows in traces with many threads, thousands in others. Row first is before
// until.
func (w *window) gallop(first, end uint32, until *head) uint32 {
	latest, position := until.time, until.next()
	before := func(n uint32) bool {
		t := w.rows[n].time
		return t < latest || t == latest && n < position
	}
	low := first + 1 // invariant: all rows from first to low-1 are before until
	for near := min(end, first+8); low < near; low++ {
		if !before(low) {
			return low
		}
	}
	step := uint32(8)
	for low < end && before(min(low+step, end)-1) {
		low, step = min(low+step, end), 2*step
	}
	for high := min(low+step, end); low < high; { // row high-1 is not before until, or high is end
		if mid := (low + high) / 2; before(mid) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// exhaust removes the first entry, whose run has no more rows, from the heap. The caller must call down(0).
func (w *window) exhaust() {
	h := w.heap[0]
	w.runs[h.run()].next = h.next()
	if int(h.next()) == len(w.rows) {
		w.joins = false // rows added from now on wait for the next release
	}
	n := len(w.heap) - 1
	w.heap[0] = w.heap[n]
	w.heap = w.heap[:n]
}

// before compares heads by time, then by position. It is branch-free, because the branches would often be mispredicted.
func (h *head) before(g *head) bool {
	return h.less(g) != 0
}

// less returns 1 if h is before g, and 0 otherwise.
func (h *head) less(g *head) int {
	_, borrow := bits.Sub64(h.row, g.row, 0)
	_, borrow = bits.Sub64(uint64(h.time)^1<<63, uint64(g.time)^1<<63, borrow)
	return int(borrow)
}

// child returns the lesser child of position i of the heap. Position i must have a child.
func (w *window) child(i int) int {
	h, c := w.heap, 2*i+1
	if c+1 < len(h) {
		c += h[c+1].less(&h[c])
	}
	return c
}

// up sifts the entry at position i up to its place.
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

// down sifts the head at position i down to a leaf. It does not stop early, because that branch would often be
// mispredicted; below its final place it writes each head back unchanged.
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

// trim drops delivered rows, if all or at least half of the rows are delivered. It moves the remaining rows together,
// which costs no more than their delivery.
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
	if w.fifo {
		w.rows = w.rows[:copy(w.rows, w.rows[w.done:])]
		w.ready, w.done = w.ready-w.done, 0
		w.trimBlocks()
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

// trimBlocks recycles blocks without rows. Rows and blocks are both in file order.
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

// reset removes all rows. The caller has delivered them.
func (w *window) reset() {
	w.rows, w.runs, w.heap, w.done, w.batch, w.joins = w.rows[:0], w.runs[:0], w.heap[:0], 0, batch{}, false
	w.ready, w.hasSorted = 0, false
}

// discard removes all rows and marks that are not delivered.
func (w *window) discard() {
	for i := range w.marks {
		w.bytes -= markBytes(&w.marks[i])
	}
	w.done, w.marks = len(w.rows), nil
	w.trim()
}

// recycle keeps the memory of a delivered block for later blocks. Otherwise a stream whose windows are as large as
// their limit would use twice the limit: for the window that fills, and for blocks of the previous window that the
// garbage collector has not freed yet.
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

// shed frees spare memory beyond the maximum that the last window needed, so that one large window does not hold its
// memory forever. The caller has delivered all rows.
func (w *window) shed() {
	if w.maxBytes == 0 {
		return
	}
	for n := len(w.spare); w.idle > w.maxBytes && n > 0; n-- {
		w.memory()
	}
	w.maxBytes = 0
}
