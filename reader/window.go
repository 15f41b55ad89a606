package reader

import "github.com/ntconv/ntconv"

// A window orders events by time. Rows are kept in file order and cut into runs of non-decreasing time; a heap merges
// the runs. Ties go by file order.
//
// A sorted event at time T promises that nothing earlier follows in the file: everything up to T may be delivered. A
// barrier, the end of the input and a full window release everything.
type window struct {
	rows   []row
	runs   []run
	heap   []uint32 // runs to be delivered, by time and then position of their first row
	blocks []heldBlock
	spare  [][]byte // memory of blocks that are delivered
	bytes  int      // held by blocks
	left   int      // rows not delivered
	bound  int64    // rows up to this time are released
	all    bool     // every row is released
	marks  []ntconv.Event
}

// run is a stretch of rows with non-decreasing times.
type run struct{ next, end uint32 }

// heldBlock is a block with rows that are not delivered.
type heldBlock struct {
	body   []byte
	offset int64
	left   int
}

// pending reports whether rows wait for delivery.
func (w *window) pending() bool { return w.left > 0 }

// hold takes a copy of a block and returns its index.
func (w *window) hold(body []byte, offset int64) uint32 {
	var mem []byte
	if n := len(w.spare); n > 0 {
		mem, w.spare = w.spare[n-1], w.spare[:n-1]
	}
	w.blocks = append(w.blocks, heldBlock{body: append(mem[:0], body...), offset: offset})
	w.bytes += len(body)
	return uint32(len(w.blocks) - 1)
}

// add appends a row in file order.
func (w *window) add(r *row) {
	n := len(w.rows)
	if k := len(w.runs); k > 0 && w.rows[n-1].time <= r.time {
		w.runs[k-1].end++
	} else {
		w.runs = append(w.runs, run{uint32(n), uint32(n + 1)})
	}
	w.rows = append(w.rows, *r)
	w.blocks[r.block].left++
	w.left++
}

// release allows delivery up to time t, or of everything, and builds the heap of the runs concerned.
func (w *window) release(t int64, all bool) {
	w.bound, w.all = t, all
	w.heap = w.heap[:0]
	for i := range w.runs {
		if w.ready(uint32(i)) {
			w.heap = append(w.heap, uint32(i))
		}
	}
	for i := len(w.heap)/2 - 1; i >= 0; i-- {
		w.down(i)
	}
}

// ready reports whether a run's next row is released.
func (w *window) ready(i uint32) bool {
	r := w.runs[i]
	return r.next < r.end && (w.all || w.rows[r.next].time <= w.bound)
}

// next returns the earliest released row, or nil. The row is valid until the next call of a method that changes the window.
func (w *window) next() *row {
	if len(w.heap) == 0 {
		return nil
	}
	i := w.heap[0]
	r := &w.rows[w.runs[i].next]
	w.runs[i].next++
	w.left--
	w.blocks[r.block].left--
	if !w.ready(i) {
		last := len(w.heap) - 1
		w.heap[0] = w.heap[last]
		w.heap = w.heap[:last]
	}
	if len(w.heap) > 1 {
		w.down(0)
	}
	return r
}

// less orders runs by their next row.
func (w *window) less(a, b uint32) bool {
	x, y := w.runs[a].next, w.runs[b].next
	if tx, ty := w.rows[x].time, w.rows[y].time; tx != ty {
		return tx < ty
	}
	return x < y
}

// down restores the heap below position i.
func (w *window) down(i int) {
	h := w.heap
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && w.less(h[c+1], h[c]) {
			c++
		}
		if !w.less(h[c], h[i]) {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

// trim forgets what is delivered: all of it, or the blocks and rows at the front.
func (w *window) trim() {
	if w.left == 0 {
		for i := range w.blocks {
			w.recycle(&w.blocks[i])
		}
		w.rows, w.runs, w.blocks, w.heap = w.rows[:0], w.runs[:0], w.blocks[:0], w.heap[:0]
		return
	}
	first := 0
	for w.runs[first].next == w.runs[first].end {
		first++
	}
	gone := w.runs[first].next
	if gone < uint32(len(w.rows)/2) {
		return
	}
	w.rows = w.rows[:copy(w.rows, w.rows[gone:])]
	w.runs = w.runs[:copy(w.runs, w.runs[first:])]
	for i := range w.runs {
		w.runs[i].next -= gone
		w.runs[i].end -= gone
	}
	done := 0
	for w.blocks[done].left == 0 {
		w.recycle(&w.blocks[done])
		done++
	}
	w.blocks = w.blocks[:copy(w.blocks, w.blocks[done:])]
	for i := range w.rows {
		w.rows[i].block -= uint32(done)
	}
	w.heap = w.heap[:0]
}

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
	w.bytes -= len(b.body)
	if len(w.spare) < maxSpare {
		w.spare = append(w.spare, b.body)
	}
	b.body = nil
}
