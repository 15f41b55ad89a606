package reader

import (
	"math"
	"slices"

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
	ended    bool   // the run of the last row is delivered: no row may join it
	heap     []head // of all runs with rows that are not delivered, by time and then position
	turn     turn
	blocks   []heldBlock
	spare    [][]byte // memory of blocks that are delivered
	bytes    int      // memory of blocks
	done     int      // rows delivered
	open     bool     // rows up to bound are released
	bound    int64
	promise  bool  // a row was sorted since fill began
	promised int64 // latest time of those that were
	marks    []ntconv.Event
}

// run is a stretch of rows with non-decreasing times. While the run has a head, its next is the one that counts.
type run struct{ next, end uint32 }

// head is the next row of a run.
type head struct {
	time int64
	next uint32 // its position
	run  uint32
}

// turn says how long the first run of the heap stays first: runs of real traces take turns of many rows.
type turn struct {
	end   uint32 // of the run
	until head   // the head that comes next otherwise
	at    int    // its place in the heap
	known bool
}

// heldBlock is a block with rows that are not delivered.
type heldBlock struct {
	body   []byte
	offset int64
}

// pending reports whether rows wait for delivery.
func (w *window) pending() bool { return w.left() > 0 }

// left returns how many rows are not delivered.
func (w *window) left() int { return len(w.rows) - w.done }

// memory returns memory of a block that is delivered, or nil.
func (w *window) memory() (mem []byte) {
	if n := len(w.spare); n > 0 {
		mem, w.spare = w.spare[n-1], w.spare[:n-1]
	}
	return mem
}

// hold keeps a block, whose memory the window now owns, and returns its index.
func (w *window) hold(body []byte, offset int64) uint32 {
	w.blocks = append(w.blocks, heldBlock{body: body, offset: offset})
	w.bytes += cap(body)
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

// keep notes that a sorted row has come.
func (w *window) keep(time int64) {
	if !w.promise || time > w.promised {
		w.promise, w.promised = true, time
	}
}

// grow appends a row of a time, which is to be filled in.
func (w *window) grow(time int64) *row {
	n := len(w.rows)
	if n > 0 && w.last <= time && !w.ended {
		w.runs[len(w.runs)-1].end++
	} else {
		w.begin(time)
	}
	w.last, w.ended = time, false
	if n == cap(w.rows) {
		w.rows = slices.Grow(w.rows, max(n, firstRows)) // append by itself would copy more often
	}
	w.rows = w.rows[:n+1]
	return &w.rows[n]
}

// firstRows is for how many rows a window gets room at first.
const firstRows = 1024

// begin starts a run at the end of the rows.
func (w *window) begin(time int64) {
	n := uint32(len(w.rows))
	w.heap = append(w.heap, head{time, n, uint32(len(w.runs))})
	w.runs = append(w.runs, run{n, n + 1})
	w.up(len(w.heap) - 1)
}

// release allows delivery up to time t, or of everything.
func (w *window) release(t int64, all bool) {
	if w.open, w.bound = true, t; all {
		w.bound = math.MaxInt64
	}
	w.turn.known = false
}

// ready reports whether there is a row to deliver. If not, nothing is released any more: rows to come wait again.
func (w *window) ready() bool {
	if w.open && (len(w.heap) == 0 || w.heap[0].time > w.bound) {
		w.open = false
	}
	return w.open
}

// next returns the earliest released row; there must be one. It is valid until the next call of a method that changes the
// window.
func (w *window) next() *row {
	if !w.turn.known {
		w.take()
	}
	h := &w.heap[0]
	r := &w.rows[h.next]
	w.done++
	if h.next++; h.next < w.turn.end {
		if h.time = w.rows[h.next].time; h.before(&w.turn.until) {
			return r
		}
		at := w.turn.at
		w.heap[0], w.heap[at] = w.heap[at], w.heap[0]
		w.down(at)
	} else {
		w.exhaust()
		w.down(0)
	}
	w.turn.known = false
	return r
}

// take begins the turn of the run that is first now.
func (w *window) take() {
	h := w.heap
	w.turn = turn{end: w.runs[h[0].run].end, until: head{time: math.MaxInt64, next: math.MaxUint32}, known: true}
	for i := 1; i < min(3, len(h)); i++ {
		if h[i].before(&w.turn.until) {
			w.turn.until, w.turn.at = h[i], i
		}
	}
}

// exhaust takes the first head off the heap. The order of the heap is to be restored.
func (w *window) exhaust() {
	h := w.heap[0]
	w.runs[h.run].next = h.next
	if int(h.next) == len(w.rows) {
		w.ended = true // what is added now waits for another release
	}
	n := len(w.heap) - 1
	w.heap[0] = w.heap[n]
	w.heap = w.heap[:n]
}

// before orders heads.
func (h *head) before(g *head) bool {
	return h.time < g.time || h.time == g.time && h.next < g.next
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

// down restores the heap below position i.
func (w *window) down(i int) {
	h := w.heap
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && h[c+1].before(&h[c]) {
			c++
		}
		if !h[c].before(&h[i]) {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

// trim forgets what is delivered, once that is all or the larger part: the rest is moved together, which costs no more than
// the delivery did.
func (w *window) trim() {
	if w.left() == 0 {
		for i := range w.blocks {
			w.recycle(&w.blocks[i])
		}
		w.blocks = w.blocks[:0]
		w.reset()
		return
	}
	if 2*w.left() > len(w.rows) {
		return
	}
	for _, h := range w.heap {
		w.runs[h.run].next = h.next
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
	w.heap, w.turn.known = w.heap[:0], false
	for i, r := range w.runs {
		w.heap = append(w.heap, head{w.rows[r.next].time, r.next, uint32(i)})
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
	w.rows, w.runs, w.heap, w.done, w.turn.known = w.rows[:0], w.runs[:0], w.heap[:0], 0, false
}

// discard forgets everything that is not delivered.
func (w *window) discard() {
	w.done, w.marks = len(w.rows), nil
	w.trim()
}

// maxSpare is how many delivered blocks are kept for their memory.
const maxSpare = 64

func (w *window) recycle(b *heldBlock) {
	if b.body == nil {
		return
	}
	w.bytes -= cap(b.body)
	if len(w.spare) < maxSpare {
		w.spare = append(w.spare, b.body)
	}
	b.body = nil
}
