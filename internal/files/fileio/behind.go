package fileio

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

// A WriteBehind writes in a goroutine, so that producing the next bytes overlaps with writing or compressing the
// previous ones. Bytes reach the underlying writer in order and in large pieces. After an error of that writer, nothing
// more is written, and every later Write, Flush or Close returns the error.
//
// A buffer has one owner at a time, so its bytes need no lock:
//
//	cur            Write fills it
//	in channel full run takes it and writes it
//	in channel free take makes it cur again
//
// Its methods are safe for concurrent use, because a sink may write on its own goroutines while the caller, who waits
// for more input, flushes. The goroutine ends in Close or Stop.
type WriteBehind struct {
	w       io.Writer
	mu      sync.Mutex // held by Write, Flush and Close; guards cur, closed and result
	cur     []byte     // the buffer that Write fills, or nil
	free    chan []byte
	full    chan block
	quit    chan struct{}
	done    chan struct{}
	stop    sync.Once
	failed  atomic.Pointer[error] // set by write, once
	written atomic.Int64
	closed  bool
	result  error // of the first Close
}

// A block is a buffer to write. Flush waits until run closes ack.
type block struct {
	buf []byte
	ack chan<- struct{}
}

// NewWriteBehind starts the goroutine that writes to w. Call Close or Stop.
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
		// Check quit first: after Stop, even a block that is ready must not be written.
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
			b.free <- f.buf[:0] // never blocks: the channel has room for all buffers
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

// Write copies p. It blocks while all buffers wait to be written. An error may be that of an earlier Write.
func (b *WriteBehind) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
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

// status returns ErrAborted after Stop, or else the error of a write. Stop takes precedence, because it makes the write
// that it interrupts fail.
func (b *WriteBehind) status() error {
	select {
	case <-b.quit:
		return ErrAborted
	default:
		return b.err()
	}
}

// take ensures that there is a buffer to fill.
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

// hand passes the current buffer to the goroutine. It never blocks: the channel full has room for all buffers.
func (b *WriteBehind) hand(ack chan<- struct{}) {
	b.full <- block{b.cur, ack}
	b.cur = nil
}

// Flush waits until all bytes written so far have reached the underlying writer.
func (b *WriteBehind) Flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.flush()
}

func (b *WriteBehind) flush() error {
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

// Close flushes and ends the goroutine. It does not close the underlying writer. Later calls return the same error.
func (b *WriteBehind) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return b.result
	}
	b.closed = true
	b.result = b.flush()
	b.Stop()
	if !errors.Is(b.result, ErrAborted) {
		<-b.done // run is idle after a Flush, and soon after an error
	}
	return b.result
}

// Stop discards buffered bytes and ends the goroutine, as soon as a write in progress returns. It does not wait for
// that, because a write to a pipe may block forever. Calls in progress return ErrAborted. Later calls do nothing.
func (b *WriteBehind) Stop() { b.stop.Do(func() { close(b.quit) }) }
