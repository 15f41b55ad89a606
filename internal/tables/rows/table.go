package rows

import (
	"sync"
	"unsafe"

	"github.com/ntconv/ntconv/internal/tables"
)

const (
	batchRows  = 4096    // rows per batch
	batchBytes = 1 << 20 // bytes of strings and lists per batch
	waiting    = 2       // full batches that may wait per table
	// textReserve is enough room for most payloads in JSON. A longer one grows the batch's buffer.
	textReserve = 1024
)

// A table passes the rows of one table to its Writer on a goroutine of its own.
//
// The producer (the goroutine of the Sink) fills batch and sends it to full; the goroutine in write passes it on, empties
// it and returns it through empty. A batch belongs to one of them at a time, so rows, strings and lists need no lock.
// mu guards err only. close closes full, and write closes ended when the Writer is closed.
type table[T any] struct {
	batch *batch[T]
	full  chan *batch[T]
	empty chan *batch[T]
	ended chan struct{}
	count int64
	// broken is a copy of err that only the producer reads; send updates it. Rows after an error are not written.
	broken error
	// unsorted reports whether the Writer takes the rows for sorted, but they are not.
	unsorted func() bool
	// discard means that the table is not selected; its rows are not kept.
	discard bool

	mu  sync.Mutex
	err error // the first error
}

// A batch is a list of rows and the memory that their columns refer to.
type batch[T any] struct {
	rows   []T
	text   slab[byte]
	bytes  int // size of strings and lists; unlike text.used, it does not depend on whether the batch was used before
	int32s slab[int32]
	int64s slab[int64]
	shared int  // bytes that rows refer to, but that do not belong to the batch
	last   bool // the batch ends its row group
}

func newBatch[T any]() *batch[T] {
	return &batch[T]{
		text:   slab[byte]{size: batchBytes + batchBytes/8},
		int32s: slab[int32]{size: batchRows},
		int64s: slab[int64]{size: batchRows},
	}
}

// reset empties the batch. It clears the rows, so that they keep nothing alive.
func (b *batch[T]) reset() {
	clear(b.rows)
	b.rows, b.text.used, b.int32s.used, b.int64s.used = b.rows[:0], b.text.used[:0], b.int32s.used[:0], b.int64s.used[:0]
	b.bytes, b.shared, b.last = 0, 0, false
}

// size returns the approximate size of the rows in bytes before they are encoded.
func (b *batch[T]) size() int { return len(b.rows)*int(unsafe.Sizeof(*new(T))) + b.bytes + b.shared }

// A slab allocates many small slices. When a piece is full, it begins another piece; the slices keep the old piece
// alive.
type slab[E any] struct {
	used []E
	size int // maximum elements per piece, unless a slice is larger
}

// take returns n elements, whose values are undefined.
func (s *slab[E]) take(n int) []E {
	s.reserve(n)
	at := len(s.used)
	s.used = s.used[:at+n]
	return s.used[at : at+n : at+n]
}

// reserve ensures room for n elements. The first pieces are small, because most tables are small.
func (s *slab[E]) reserve(n int) {
	if len(s.used)+n > cap(s.used) {
		s.used = make([]E, 0, max(n, min(s.size, max(2*cap(s.used), s.size/64))))
	}
}

// newTable opens a table and starts its goroutine. A table that is not selected discards its rows.
func newTable[T any](out *output) (*table[T], error) {
	spec := tables.Of[T]()
	if !out.has(spec.Name) {
		return &table[T]{batch: newBatch[T](), discard: true}, nil
	}
	spec = out.spec(spec)
	w, err := out.receiver.Open(spec)
	if err != nil {
		return nil, err
	}
	t := &table[T]{
		batch: newBatch[T](), full: make(chan *batch[T], waiting), empty: make(chan *batch[T], waiting+1), ended: make(chan struct{}),
	}
	out.ended = append(out.ended, t.close)
	t.unsorted = func() bool { return out.spec(spec).Sort != spec.Sort }
	go t.write(w)
	return t, nil
}

// row returns the next row, which is zero. It is valid until the next call of row, endGroup or close.
func (t *table[T]) row() *T {
	b := t.batch
	if t.discard {
		b.reset()
		b.rows = append(b.rows, *new(T))
		return &b.rows[0]
	}
	// Pages end with batches. For reproducible files the size of a batch must depend on its rows only.
	if len(b.rows) == batchRows || b.bytes >= batchBytes {
		t.send()
		b = t.batch
	}
	b.rows = append(b.rows, *new(T))
	t.count++
	return &b.rows[len(b.rows)-1]
}

// bytes returns a copy of data that is valid as long as the current row.
func (t *table[T]) bytes(data []byte) []byte {
	b := t.batch.text.take(len(data))
	copy(b, data)
	t.hold(len(data))
	return b
}

// begin returns a buffer to which the caller can append a string of the row without a copy. Pass the extended buffer to
// end.
func (t *table[T]) begin() []byte {
	t.batch.text.reserve(textReserve)
	return t.batch.text.used
}

// end returns the string that was appended to the buffer of begin. It is valid as long as the current row.
func (t *table[T]) end(buffer []byte) string {
	at := len(t.batch.text.used)
	t.batch.text.used = buffer
	t.hold(len(buffer) - at)
	return unsafe.String(unsafe.SliceData(buffer[at:]), len(buffer)-at)
}

// int32s returns a list of n elements with undefined values. It is valid as long as the current row.
func (t *table[T]) int32s(n int) []int32 {
	t.hold(4 * n)
	return t.batch.int32s.take(n)
}

// int64s returns a list of n elements with undefined values. It is valid as long as the current row.
func (t *table[T]) int64s(n int) []int64 {
	t.hold(8 * n)
	return t.batch.int64s.take(n)
}

// hold counts n bytes that only the current row refers to, so that batches of large rows have fewer rows.
func (t *table[T]) hold(n int) { t.batch.bytes += n }

// share counts n bytes that the current row refers to and that existed before it.
func (t *table[T]) share(n int) { t.batch.shared += n }

// int64 returns a pointer to a value for a column that may be NULL. It is valid as long as the current row.
func (t *table[T]) int64(v int64) *int64 {
	p := &t.batch.int64s.take(1)[0]
	*p = v
	return p
}

// endGroup ends the row group after the current row.
func (t *table[T]) endGroup() {
	if !t.discard {
		t.batch.last = true
		t.send()
	}
}

// send hands the batch to the goroutine, and waits if too many batches are waiting. It continues with an empty batch.
func (t *table[T]) send() {
	t.full <- t.batch
	t.broken = t.error()
	select {
	case t.batch = <-t.empty:
	default:
		t.batch = newBatch[T]()
	}
}

// write is the goroutine of the table. It keeps receiving after an error, so that the producer never blocks.
func (t *table[T]) write(w Writer) {
	defer close(t.ended)
	for b := range t.full {
		if t.error() == nil {
			t.fail(w.Write(b.rows, b.size()))
		}
		if b.last && t.error() == nil {
			t.fail(w.EndGroup())
		}
		b.reset()
		select {
		case t.empty <- b:
		default:
		}
	}
	if t.error() == nil {
		if t.unsorted() {
			w.Unsorted()
		}
		t.fail(w.Finish())
	}
	t.fail(w.Close())
}

// close writes the remaining rows, waits until the Writer is closed and returns the first error.
func (t *table[T]) close() error {
	if t.discard {
		return nil
	}
	t.full <- t.batch
	close(t.full)
	<-t.ended
	return t.err
}

func (t *table[T]) error() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// fail keeps the first error. It ignores nil.
func (t *table[T]) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}
