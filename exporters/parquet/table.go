package parquet

import (
	"io"
	"sync"
	"unsafe"

	"github.com/ntconv/ntconv/internal/parquetfile"
	"github.com/ntconv/ntconv/internal/tables"
)

const (
	batchRows  = 8192    // rows that go to the writer at a time
	batchBytes = 1 << 20 // text of these rows
	waiting    = 2       // full batches of a table
)

// A table writes the rows of one file on a goroutine of its own. row and text are for the goroutine that makes the rows.
type table[T any] struct {
	batch *batch[T]
	full  chan *batch[T]
	empty chan *batch[T]
	ended chan struct{}
	count int64
	// discard means that the table is not written.
	discard bool

	mu  sync.Mutex
	err error // the first one
}

// A batch is a number of rows, and the bytes of their texts.
type batch[T any] struct {
	rows []T
	text []byte
	last bool // of its row group
}

// newTable begins a file with the rows of a table. A table that is not selected discards its rows.
func newTable[T any](files *files) (*table[T], error) {
	spec := tables.Of[T]()
	if !files.has(spec.Name) {
		return &table[T]{batch: new(batch[T]), discard: true}, nil
	}
	w, err := files.open(spec.Name)
	if err != nil {
		return nil, err
	}
	t := &table[T]{
		batch: new(batch[T]), full: make(chan *batch[T], waiting), empty: make(chan *batch[T], waiting+1), ended: make(chan struct{}),
	}
	go t.write(w, parquetfile.NewWriter[T](w, files.options(spec)))
	return t, nil
}

// row returns the next row, which is zero. It is valid until the next call of row or close.
func (t *table[T]) row() *T {
	b := t.batch
	if t.discard {
		b.rows, b.text = append(b.rows[:0], *new(T)), b.text[:0]
		return &b.rows[0]
	}
	if len(b.rows) == batchRows || len(b.text) >= batchBytes {
		t.send()
		b = t.batch
	}
	b.rows = append(b.rows, *new(T))
	t.count++
	return &b.rows[len(b.rows)-1]
}

// string returns a copy of text that is valid as long as the row for which it is made.
func (t *table[T]) string(text []byte) string {
	b := t.bytes(text)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// bytes returns a copy of data that is valid as long as the row for which it is made.
func (t *table[T]) bytes(data []byte) []byte {
	b := t.batch
	if len(b.text)+len(data) > cap(b.text) {
		b.text = make([]byte, 0, max(batchBytes+batchBytes/8, len(data))) // rows refer to the old one, which the collector keeps
	}
	at := len(b.text)
	b.text = append(b.text, data...)
	return b.text[at:len(b.text):len(b.text)]
}

// endGroup ends the row group with the latest row.
func (t *table[T]) endGroup() {
	if !t.discard {
		t.batch.last = true
		t.send()
	}
}

func (t *table[T]) send() {
	t.full <- t.batch
	select {
	case t.batch = <-t.empty:
	default:
		t.batch = new(batch[T])
	}
}

// write is the goroutine of the table.
func (t *table[T]) write(file io.WriteCloser, w *parquetfile.Writer[T]) {
	defer close(t.ended)
	for b := range t.full {
		if t.error() == nil {
			t.fail(w.Write(b.rows))
		}
		if b.last && t.error() == nil {
			t.fail(w.Flush())
		}
		b.last = false
		clear(b.rows)
		b.rows, b.text = b.rows[:0], b.text[:0]
		select {
		case t.empty <- b:
		default:
		}
	}
	if t.error() == nil {
		t.fail(w.Close())
	}
	t.fail(file.Close())
}

// close writes the rest, waits for it, and returns the first error.
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

func (t *table[T]) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}
