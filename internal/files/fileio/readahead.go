package fileio

import (
	"io"
	"io/fs"
	"sync"
)

// Read-ahead holds at most aheadBuffers buffers of aheadSize bytes: enough to keep a decompressor busy while the reader
// processes a block, and little memory.
const (
	aheadBuffers = 4
	aheadSize    = 256 << 10
)

// A readAhead runs a reader in a goroutine. The reader must not block for long, so readAhead is used for regular files
// only.
type readAhead struct {
	r    io.ReadCloser
	free chan []byte
	full chan chunk
	quit chan struct{}
	done chan struct{}
	stop sync.Once
	cur  chunk
	rest []byte // unread part of cur
	err  error  // of the first Close
}

// A chunk is the result of one fill: bytes, and the error or panic after them.
type chunk struct {
	buf      []byte
	err      error
	panicked any
}

func newReadAhead(r io.ReadCloser) *readAhead {
	a := &readAhead{
		r:    r,
		free: make(chan []byte, aheadBuffers),
		full: make(chan chunk, aheadBuffers),
		quit: make(chan struct{}),
		done: make(chan struct{}),
	}
	for range aheadBuffers {
		a.free <- nil // allocated when first used: most inputs are small
	}
	go a.run()
	return a
}

func (a *readAhead) run() {
	defer close(a.done)
	for {
		var c chunk
		select {
		case c.buf = <-a.free:
		case <-a.quit:
			return
		}
		c.fill(a.r)
		a.full <- c // never blocks: the channel has room for all buffers
		if c.err != nil || c.panicked != nil {
			return
		}
	}
}

// fill reads one buffer. It catches a panic, which Read repeats for its caller: in this goroutine, no caller could
// recover.
func (c *chunk) fill(r io.Reader) {
	defer func() { c.panicked = recover() }()
	if c.buf == nil {
		c.buf = make([]byte, 0, aheadSize)
	}
	c.buf = c.buf[:0]
	for c.err == nil && len(c.buf) < cap(c.buf) {
		var n int
		n, c.err = r.Read(c.buf[len(c.buf):cap(c.buf)])
		c.buf = c.buf[:len(c.buf)+n]
	}
}

// Read implements io.Reader. It repeats a panic of the underlying reader.
func (a *readAhead) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(a.rest) == 0 {
		if a.cur.panicked != nil {
			panic(a.cur.panicked)
		}
		if a.cur.err != nil {
			return 0, a.cur.err
		}
		if a.cur.buf != nil {
			a.free <- a.cur.buf
			a.cur.buf = nil
		}
		a.cur = <-a.full
		a.rest = a.cur.buf
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// Close ends the goroutine, waits for it, and closes the reader. It discards bytes that were read ahead.
func (a *readAhead) Close() error {
	a.stop.Do(func() {
		close(a.quit)
		<-a.done
		a.err = a.r.Close()
		a.rest, a.cur = nil, chunk{err: fs.ErrClosed}
	})
	return a.err
}

// Finish implements [Finisher].
func (a *readAhead) Finish() error {
	_, err := io.Copy(io.Discard, a)
	return err
}
