package reader

import (
	"math"

	"github.com/ntconv/ntconv"
)

// A window orders events by time. Rows are kept in file order and cut into runs of non-decreasing time; a heap merges
// the runs. Ties go by file order.
//
// A sorted event at time T promises that nothing earlier follows in the file: everything up to T may be delivered. A
// barrier, the end of the input and a full window release everything.
type window struct {
	rows   []row
	runs   []run
	heap   []head // of all runs with rows that are not delivered, by time and then position
	blocks []heldBlock
	spare  [][]byte // memory of blocks that are delivered
	bytes  int      // memory of blocks
	left   int      // rows not delivered
	open   bool     // rows up to bound are released
	bound  int64
	marks  []ntconv.Event
}

// run is a stretch of rows with non-decreasing times.
type run struct{ next, end uint32 }

// head is the next row of a run.
type head struct {
	time int64
	next uint32 // its position
	run  uint32
}

// heldBlock is a block with rows that are not delivered.
type heldBlock struct {
	body   []byte
	offset int64
	left   int
}

// pending reports whether rows wait for delivery.
func (w *window) pending() bool { return w.left > 0 }

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
	n := len(w.rows)
	if k := len(w.runs); k > 0 && w.runs[k-1].next < uint32(n) && w.rows[n-1].time <= r.time {
		w.runs[k-1].end++
	} else {
		w.runs = append(w.runs, run{uint32(n), uint32(n + 1)})
		w.heap = append(w.heap, head{r.time, uint32(n), uint32(k)})
		w.up(len(w.heap) - 1)
	}
	if n == cap(w.rows) {
		w.rows = append(w.rows, row{})
	} else {
		w.rows = w.rows[:n+1]
	}
	// Member by member: the members of r have just been stored one by one, and a copy as a whole would wait for them.
	d := &w.rows[n]
	d.time, d.block, d.header, d.payload, d.size = r.time, r.block, r.header, r.payload, r.size
	d.meta, d.thread, d.capture, d.stack, d.labels = r.meta, r.thread, r.capture, r.stack, r.labels
	d.seq, d.lost, d.cpu, d.flags = r.seq, r.lost, r.cpu, r.flags
	w.blocks[r.block].left++
	w.left++
}

// release allows delivery up to time t, or of everything.
func (w *window) release(t int64, all bool) {
	if w.open, w.bound = true, t; all {
		w.bound = math.MaxInt64
	}
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
	h := &w.heap[0]
	r := &w.rows[h.next]
	run := &w.runs[h.run]
	run.next++
	w.left--
	w.blocks[r.block].left--
	if h.next++; h.next < run.end {
		h.time = w.rows[h.next].time
	} else {
		last := len(w.heap) - 1
		w.heap[0] = w.heap[last]
		w.heap = w.heap[:last]
	}
	if len(w.heap) > 1 {
		w.down(0)
	}
	return r
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
	if w.left == 0 {
		for i := range w.blocks {
			w.recycle(&w.blocks[i])
		}
		w.blocks = w.blocks[:0]
		w.reset()
		return
	}
	if 2*w.left > len(w.rows) {
		return
	}
	rows, runs := w.rows[:0], w.runs[:0]
	for _, r := range w.runs {
		if r.next < r.end {
			n := uint32(len(rows))
			rows = append(rows, w.rows[r.next:r.end]...)
			runs = append(runs, run{n, uint32(len(rows))})
		}
	}
	w.rows, w.runs = rows, runs
	w.trimBlocks()
	w.heap = w.heap[:0]
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
		if w.blocks[i].left == 0 {
			w.recycle(&w.blocks[i])
			continue
		}
		w.blocks[n] = w.blocks[i]
		for ; at < len(w.rows) && w.rows[at].block == uint32(i); at++ {
			w.rows[at].block = n
		}
		n++
	}
	clear(w.blocks[n:])
	w.blocks = w.blocks[:n]
}

// reset forgets all rows. They are delivered.
func (w *window) reset() { w.rows, w.runs, w.heap = w.rows[:0], w.runs[:0], w.heap[:0] }

// discard forgets everything that is not delivered.
func (w *window) discard() {
	w.left = 0
	for i := range w.blocks {
		w.blocks[i].left = 0
	}
	w.marks = nil
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
