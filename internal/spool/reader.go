package spool

import (
	"io"
)

// A Reader returns the records of a Spool in order. It is not safe for concurrent use.
type Reader struct {
	cursors []cursor
	// heap has the cursors that have records, the one with the earliest first. Its first element is that of the record
	// that Next returned.
	heap  []head
	moved bool // the first element of heap must move to its next record
	large []byte
	err   error // sticks
}

// A head is the key of the next record of a cursor.
type head struct {
	key    Key
	cursor int // number; of equal keys, that of the lower one was added earlier
}

func (h head) before(i head) bool {
	return h.key.before(i.key) || h.key == i.key && h.cursor < i.cursor
}

const (
	smallestBuffer = 4 << 10
	largestBuffer  = 256 << 10
)

// newReader returns a Reader of all records of a sealed spool.
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

// addRun adds a run, which is one of n.
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

// start moves all cursors to their first records.
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

// Next returns the next record, and io.EOF after the last one. The record is borrowed until the next call. Errors of
// the file are of type *tempfile.Error; Next returns them again.
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

// move moves the first cursor of the heap to its next record.
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

// down moves an element of the heap down to its place.
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
