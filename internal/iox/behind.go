package iox

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// Write-behind holds at most behindBuffers buffers of behindSize bytes.
const (
	behindBuffers = 3
	behindSize    = 256 << 10
)

// A WriteBehind writes in a goroutine, so that making the next bytes overlaps with writing, or compressing, the
// ones before. Bytes reach the writer below in order and in large pieces. An error of the writer below is
// returned by the next Write, Flush or Close, and stays; nothing is written after it.
//
// Write, Flush and Close are for one goroutine at a time; Stop may be called from any. The goroutine lives until
// Close or Stop.
type WriteBehind struct {
	w       io.Writer
	cur     []byte // being filled; nil if there is none
	free    chan []byte
	full    chan block
	quit    chan struct{}
	done    chan struct{}
	stop    sync.Once
	failed  atomic.Pointer[error]
	written atomic.Int64
	closed  bool
	result  error // of Close
}

// A block is bytes to write and, from Flush, a place to say that they are.
type block struct {
	buf []byte
	ack chan<- struct{}
}

// NewWriteBehind starts the goroutine that writes to w.
func NewWriteBehind(w io.Writer) *WriteBehind {
	b := &WriteBehind{
		w:    w,
		free: make(chan []byte, behindBuffers),
		full: make(chan block, behindBuffers),
		quit: make(chan struct{}),
		done: make(chan struct{}),
	}
	for range behindBuffers {
		b.free <- nil // allocated when first used
	}
	go b.run()
	return b
}

func (b *WriteBehind) run() {
	defer close(b.done)
	for {
		// quit first: after Stop not even a block that is ready is written.
		select {
		case <-b.quit:
			return
		default:
		}
		select {
		case <-b.quit:
			return
		case f := <-b.full:
			b.write(f.buf)
			if f.ack != nil {
				close(f.ack)
			}
			b.free <- f.buf[:0] // never blocks: every buffer has its place
		}
	}
}

func (b *WriteBehind) write(p []byte) {
	if len(p) == 0 || b.err() != nil {
		return
	}
	n, err := b.w.Write(p)
	b.written.Add(int64(n))
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		b.failed.Store(&err)
	}
}

func (b *WriteBehind) err() error {
	if err := b.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Write copies p, so the caller may reuse it. It blocks while all buffers are waiting to be written.
func (b *WriteBehind) Write(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if err := b.take(); err != nil {
			return n, err
		}
		k := min(len(p)-n, cap(b.cur)-len(b.cur))
		b.cur = append(b.cur, p[n:n+k]...)
		n += k
		if len(b.cur) == cap(b.cur) {
			b.hand(nil)
		}
	}
	return n, nil
}

// status is the error to return now. Stop comes first: the write it interrupted fails too, and that is no news.
func (b *WriteBehind) status() error {
	select {
	case <-b.quit:
		return ErrAborted
	default:
		return b.err()
	}
}

// take makes sure that there is a buffer to fill.
func (b *WriteBehind) take() error {
	if err := b.status(); err != nil || b.cur != nil {
		return err
	}
	select {
	case b.cur = <-b.free:
	case <-b.quit:
		return ErrAborted
	}
	if b.cur == nil {
		b.cur = make([]byte, 0, behindSize)
	}
	return nil
}

// hand gives the current buffer to the goroutine. It never blocks: full has a place for every buffer.
func (b *WriteBehind) hand(ack chan<- struct{}) {
	b.full <- block{b.cur, ack}
	b.cur = nil
}

// Flush waits until everything written so far has reached the writer below.
func (b *WriteBehind) Flush() error {
	if err := b.take(); err != nil {
		return err
	}
	ack := make(chan struct{})
	b.hand(ack)
	select {
	case <-ack:
		return b.status()
	case <-b.quit:
		return ErrAborted
	}
}

// Close flushes and ends the goroutine. It does not close the writer below. Further calls return the same.
func (b *WriteBehind) Close() error {
	if b.closed {
		return b.result
	}
	b.closed = true
	b.result = b.Flush()
	b.Stop()
	if !errors.Is(b.result, ErrAborted) {
		<-b.done // idle after a Flush, and soon so after an error
	}
	return b.result
}

// Stop drops what was not yet written and ends the goroutine, at once or when a Write below returns. It does not
// wait for that, because a pipe may be stuck. Calls that wait return ErrAborted.
func (b *WriteBehind) Stop() { b.stop.Do(func() { close(b.quit) }) }
