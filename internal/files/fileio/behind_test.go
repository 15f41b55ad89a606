package fileio

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
)

// A recorder keeps what is written to it; from the n-th write on, counted from 1, it fails if fail is set.
type recorder struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	calls int
	n     int
	fail  error
	short bool // report fewer bytes and no error
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if r.fail != nil && r.calls >= r.n {
		return 0, r.fail
	}
	if r.short && r.calls >= r.n {
		p = p[:len(p)/2]
	}
	return r.buf.Write(p)
}

func TestWriteBehindKeepsOrder(t *testing.T) {
	noLeaks(t)
	data := noise(5*behindSize + 12345)
	for _, size := range []int{1000, behindSize - 1, behindSize, behindSize + 1, len(data)} {
		r := new(recorder)
		b := NewWriteBehind(r)
		buf := make([]byte, size)
		for rest := data; len(rest) > 0; {
			n := copy(buf, rest)
			if m, err := b.Write(buf[:n]); m != n || err != nil {
				t.Fatal(m, err)
			}
			clear(buf) // the caller's again
			rest = rest[n:]
		}
		if err := errors.Join(b.Close(), b.Close()); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(r.buf.Bytes(), data) {
			t.Errorf("writes of %d: other bytes arrived", size)
		}
		if r.calls > len(data)/behindSize+1 {
			t.Errorf("writes of %d became %d", size, r.calls)
		}
	}
}

// An error in the goroutine reaches the caller by the next Flush or Close at the latest, and nothing is written
// after it.
func TestWriteBehindErrors(t *testing.T) {
	noLeaks(t)
	cause := errors.New("disk full")
	for n := 1; n <= 4; n++ {
		for _, r := range []*recorder{{n: n, fail: cause}, {n: n, short: true}} {
			want := cause
			if r.short {
				want = io.ErrShortWrite
			}
			b := NewWriteBehind(r)
			var err error
			for i := 0; err == nil && i < 1000; i++ {
				_, err = b.Write(noise(behindSize / 2))
			}
			if err != want {
				t.Errorf("write %d failing: Write returned %v", n, err)
			}
			if err := b.Flush(); err != want {
				t.Errorf("Flush: %v", err)
			}
			for range 2 {
				if err := b.Close(); err != want {
					t.Errorf("Close: %v", err)
				}
			}
			if r.calls != n {
				t.Errorf("write %d failed, %d were made", n, r.calls)
			}
		}
	}
}

// stuck is a pipe whose reader does not read.
type stuck struct{ release chan struct{} }

func (s stuck) Write(p []byte) (int, error) {
	<-s.release
	return len(p), nil
}

// Stop frees a caller that waits for a stuck writer.
func TestWriteBehindStop(t *testing.T) {
	for name, call := range map[string]func(*WriteBehind) error{
		"Write": func(b *WriteBehind) error { _, err := b.Write(make([]byte, 10*behindSize)); return err },
		"Flush": func(b *WriteBehind) error { b.Write([]byte("x")); return b.Flush() },
		"Close": func(b *WriteBehind) error { b.Write([]byte("x")); return b.Close() },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := stuck{make(chan struct{})}
			b := NewWriteBehind(s)
			got := make(chan error, 1)
			go func() { got <- call(b) }()
			synctest.Wait()
			if len(got) != 0 {
				t.Fatalf("%s did not wait: %v", name, <-got)
			}
			b.Stop()
			b.Stop()
			synctest.Wait()
			if len(got) != 1 {
				t.Fatalf("%s still waits after Stop", name)
			}
			if err := <-got; !errors.Is(err, ErrAborted) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := b.Write([]byte("x")); !errors.Is(err, ErrAborted) {
				t.Errorf("Write after Stop: %v", err)
			}
			close(s.release)
		})
	}
}

// A sink writes on its own goroutines while the caller flushes: bytes of one Write stay together, and nothing waits
// forever.
func TestWriteBehindConcurrently(t *testing.T) {
	noLeaks(t)
	r := new(recorder)
	b := NewWriteBehind(r)
	const writers, writes, size = 4, 500, 1000
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			piece := bytes.Repeat([]byte{byte('a' + w)}, size)
			for range writes {
				if n, err := b.Write(piece); n != size || err != nil {
					t.Errorf("%d, %v", n, err)
				}
				if err := b.Flush(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	out, counts := r.buf.Bytes(), map[byte]int{}
	for ; len(out) >= size; out = out[size:] {
		if len(bytes.Trim(out[:size], string(out[:1]))) > 0 {
			t.Fatal("the bytes of two writes are mixed")
		}
		counts[out[0]]++
	}
	for w := range writers {
		if n := counts[byte('a'+w)]; n != writes {
			t.Errorf("%d writes of goroutine %d, want %d", n, w, writes)
		}
	}
}
