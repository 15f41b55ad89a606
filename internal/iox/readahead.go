package iox

import (
	"io"
	"io/fs"
	"sync"
)

// Read-ahead holds at most aheadBuffers buffers of aheadSize bytes: enough to keep a decompressor busy while
// the reader works on a block, not enough to matter.
const (
	aheadBuffers = 4
	aheadSize    = 256 << 10
)

// A readAhead runs its reader in a goroutine. The reader must not block for long: it is for regular files.
type readAhead struct {
	r    io.ReadCloser
	free chan []byte
	full chan chunk
	quit chan struct{}
	done chan struct{}
	stop sync.Once
	cur  chunk
	rest []byte // unread part of cur
	err  error  // of Close
}

// A chunk is what was read, and how reading ended after it.
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
		a.full <- c // never blocks: there are no more chunks than places
		if c.err != nil || c.panicked != nil {
			return
		}
	}
}

// fill reads one buffer. A panic travels to the caller of Read: in a goroutine nobody could recover from it.
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

// Read implements io.Reader.
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

// Close ends the goroutine, waits for it and closes the reader. What was read ahead is dropped.
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
