package fileio

import (
	"bytes"
	"errors"
	"io"
	"math"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// endless delivers bytes forever and counts them.
type endless struct {
	given  atomic.Int64
	closed bool
}

func (e *endless) Read(p []byte) (int, error) {
	e.given.Add(int64(len(p)))
	return len(p), nil
}

func (e *endless) Close() error {
	e.closed = true
	return errors.New("close failed")
}

// A bubble does not end before its goroutines do, so a leak fails this test by itself.
func TestReadAheadIsBoundedAndEndsWithClose(t *testing.T) {
	for _, reads := range []int{0, 1, 100} {
		synctest.Test(t, func(t *testing.T) {
			e := new(endless)
			a := newReadAhead(e)
			taken, buf := 0, make([]byte, 10000)
			for range reads {
				n, err := a.Read(buf)
				if err != nil {
					t.Fatal(err)
				}
				taken += n
			}
			synctest.Wait() // until the goroutine has nowhere to put more
			if ahead := e.given.Load() - int64(taken); ahead > aheadBuffers*aheadSize {
				t.Errorf("%d bytes read ahead", ahead)
			}
			for range 2 {
				if err := a.Close(); err == nil || !e.closed {
					t.Errorf("Close: %v, reader closed: %v", err, e.closed)
				}
			}
		})
	}
}

// slow is a slow disk.
type slow struct {
	release chan struct{}
	reading atomic.Bool
	closed  atomic.Bool
}

func (s *slow) Read(p []byte) (int, error) {
	s.reading.Store(true)
	<-s.release
	s.reading.Store(false)
	return len(p), nil
}

func (s *slow) Close() error {
	s.closed.Store(true)
	if s.reading.Load() {
		return errors.New("closed during a read")
	}
	return nil
}

func TestReadAheadClosesNothingInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{release: make(chan struct{})}
		a := newReadAhead(s)
		synctest.Wait() // until the read is in progress: before that there is nothing to wait for
		go func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		if s.closed.Load() {
			t.Error("Close did not wait for the read in progress")
		}
		close(s.release)
		synctest.Wait()
		if !s.closed.Load() {
			t.Error("not closed after the read")
		}
	})
}

func TestReadAheadDeliversEverythingBeforeTheError(t *testing.T) {
	noLeaks(t)
	cause := errors.New("bad sector")
	for _, n := range []int{0, 1, aheadSize - 1, aheadSize, aheadSize + 1, 3*aheadSize + 5} {
		data := noise(n)
		for _, c := range choppers {
			for _, end := range []error{io.EOF, cause} {
				r := c.chop(io.MultiReader(bytes.NewReader(data), iotest.ErrReader(end)))
				if c.name == "1" && n > aheadSize {
					continue // slow, and nothing new
				}
				a := newReadAhead(io.NopCloser(r))
				got, err := io.ReadAll(a)
				if end == io.EOF {
					end = nil
				}
				if !bytes.Equal(got, data) || err != end {
					t.Errorf("%d bytes chopped %s: %d, %v", n, c.name, len(got), err)
				}
				a.Close()
			}
		}
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("bug in a decompressor") }

// A panic can be recovered from only in the goroutine where it happens, so it must happen in the caller's.
func TestReadAheadCarriesPanics(t *testing.T) {
	noLeaks(t)
	a := newReadAhead(io.NopCloser(panicking{}))
	defer a.Close()
	defer func() {
		if r := recover(); r != "bug in a decompressor" {
			t.Errorf("recovered %v", r)
		}
	}()
	n, err := a.Read(make([]byte, 1))
	t.Errorf("no panic: %d, %v", n, err)
}

// A consumer that gives up in the middle leaves nothing running, at whatever point it gives up.
func TestStreamClosedInTheMiddle(t *testing.T) {
	noLeaks(t)
	text := bytes.Repeat(seq(1, 10000), 60) // about 3 MiB: more than fits ahead
	for _, data := range [][]byte{gz(t, text), zst(t, text)} {
		in, err := Open(writeFile(t, data), InputOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int64{0, 1, aheadSize, 2 << 20, math.MaxInt64} {
			s, err := in.Stream()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, io.LimitReader(s, n)); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		in.Close()
	}
}
