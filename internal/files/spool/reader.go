package spool

import (
	"io"
)

// A Reader returns the records of a Spool in the order of their keys. It is not safe for concurrent use.
type Reader struct {
	cursors []cursor
	// heap is a binary heap of the cursors that have records, by key. After Next, its first element still belongs to
	// the record that Next returned, because the caller borrows it; moved states that.
	heap  []head
	moved bool   // the next call of Next must advance the first cursor
	large []byte // holds a record larger than its cursor's buffer
	err   error  // first error; every later call returns it
}

// A head is a heap entry: the key of a cursor's next record.
type head struct {
	key    Key
	cursor int // index in Reader.cursors; of records with equal keys, the one of the lower index was added first
}

func (h head) before(i head) bool {
	return h.key.before(i.key) || h.key == i.key && h.cursor < i.cursor
}

const (
	smallestBuffer = 4 << 10
	largestBuffer  = 256 << 10
)

// newReader returns a Reader of all records of a sealed Spool. The order of the cursors decides between equal keys:
// chains, then runs, then late records.
func (s *Spool) newReader() (*Reader, error) {
	r := new(Reader)
	for i := range s.chains {
		c := &s.chains[i]
		if s.file != nil {
			r.addRun(s, &c.run, chainCount+len(s.runs))
		} else {
			r.cursors = append(r.cursors, cursor{key: firstKey, chunks: c.all()})
		}
	}
	for i := range s.runs {
		r.addRun(s, &s.runs[i], chainCount+len(s.runs))
	}
	if s.late.count > 0 {
		r.cursors = append(r.cursors, cursor{late: &s.late})
	}
	return r, r.start()
}

// addRun adds a cursor for a run. n is the number of runs that share the memory for buffers.
func (r *Reader) addRun(s *Spool, x *run, n int) {
	if len(x.extents) == 0 {
		return
	}
	c := cursor{key: firstKey, file: s.file, extents: x.extents}
	for _, e := range x.extents {
		c.left += e.size
	}
	size := min(max(s.memory/n, smallestBuffer), largestBuffer)
	c.buffer = make([]byte, min(int64(size), c.left))
	r.cursors = append(r.cursors, c)
}

// start moves all cursors to their first records and builds the heap.
func (r *Reader) start() error {
	for i := range r.cursors {
		c := &r.cursors[i]
		ok, err := c.next()
		if err != nil {
			return err
		}
		if ok {
			r.heap = append(r.heap, head{c.key, i})
		}
	}
	for i := len(r.heap)/2 - 1; i >= 0; i-- {
		r.down(i)
	}
	return nil
}

// Next returns the next record, and io.EOF after the last one. The data is borrowed until the next call of Next. If the
// file cannot be read, Next returns a *Error, and the same error from then on.
func (r *Reader) Next() (Key, []byte, error) {
	if r.moved {
		r.move()
	}
	if r.err != nil || len(r.heap) == 0 {
		return Key{}, nil, r.end()
	}
	c := &r.cursors[r.heap[0].cursor]
	data, err := c.data(&r.large)
	r.moved, r.err = true, err
	return c.key, data, err
}

func (r *Reader) end() error {
	if r.err == nil {
		return io.EOF
	}
	return r.err
}

// move advances the first cursor of the heap, or removes it after its last record, and restores the heap.
func (r *Reader) move() {
	r.moved = false
	if r.err != nil {
		return
	}
	c := &r.cursors[r.heap[0].cursor]
	ok, err := c.next()
	if err != nil {
		r.err = err
		return
	}
	if ok {
		r.heap[0].key = c.key
	} else {
		last := len(r.heap) - 1
		r.heap[0] = r.heap[last]
		r.heap = r.heap[:last]
	}
	r.down(0)
}

// down sifts the element at index i down to its place.
func (r *Reader) down(i int) {
	for h := r.heap; ; {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if least+1 < len(h) && h[least+1].before(h[least]) {
			least++
		}
		if !h[least].before(h[i]) {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
