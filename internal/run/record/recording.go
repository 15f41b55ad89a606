package record

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ntconv/ntconv/diagnostics"
)

// A Recording is a session of a process: a reader of its nettrace stream. The stream ends when the process has written
// everything after Stop, when the process ends, or after Abandon. Stop and Abandon may be called by any goroutine while
// another one reads; who stops a recording must go on reading, because the process waits for it.
type Recording struct {
	Target  *Target
	session *diagnostics.Session
	begun   time.Time
	bytes   atomic.Int64

	copying sync.Mutex // guards the next two
	held    []byte     // what was read before CopyTo; nil after it
	copyTo  io.Writer  // nil: nothing is copied
	stop    sync.Once
	stopped chan struct{} // closed when Stop is called
	stopErr atomic.Pointer[error]
	abandon sync.Once
	gone    atomic.Bool // abandoned
}

// Options are options of a recording.
type Options struct {
	BufferMB int  // of the process, for events that wait to be sent; 0 means the default of package diagnostics
	NoStacks bool // no event has a stack
}

// Record begins a recording.
func (t *Target) Record(ctx context.Context, r *Request, o Options) (*Recording, error) {
	s, err := t.Client.Collect(ctx, diagnostics.Config{
		BufferMB: o.BufferMB, NoStacks: o.NoStacks, RundownKeywords: r.Rundown, Providers: r.Providers,
	})
	if err != nil {
		return nil, fmt.Errorf("%v: %w", t, err)
	}
	return &Recording{Target: t, session: s, begun: time.Now(), held: []byte{}, stopped: make(chan struct{})}, nil
}

// CopyTo writes all bytes of the stream to w as they are read, also those that were read before. An error of w ends the
// reading. With nil, nothing is copied from then on. The bytes are kept in memory until the first call.
func (r *Recording) CopyTo(w io.Writer) (err error) {
	r.copying.Lock()
	defer r.copying.Unlock()
	if w != nil && len(r.held) > 0 {
		_, err = w.Write(r.held)
	}
	r.held, r.copyTo = nil, w
	return err
}

// copyOut passes bytes on to the writer of CopyTo.
func (r *Recording) copyOut(p []byte) (err error) {
	r.copying.Lock()
	defer r.copying.Unlock()
	if r.copyTo != nil {
		_, err = r.copyTo.Write(p)
	} else if r.held != nil {
		r.held = append(r.held, p...)
	}
	return err
}

// Read implements io.Reader.
func (r *Recording) Read(p []byte) (int, error) {
	n, err := r.session.Read(p)
	r.bytes.Add(int64(n))
	if werr := r.copyOut(p[:n]); werr != nil {
		return n, werr
	}
	if err != nil && r.gone.Load() {
		err = io.EOF
	}
	return n, err
}

// Bytes returns the number of bytes that have been read.
func (r *Recording) Bytes() int64 { return r.bytes.Load() }

// Begun returns when the recording began.
func (r *Recording) Begun() time.Time { return r.begun }

// Stopped is closed when Stop is called.
func (r *Recording) Stopped() <-chan struct{} { return r.stopped }

// Stop asks the process to write what it still has, with the rundown, and to end the stream. It does not wait.
func (r *Recording) Stop() {
	r.stop.Do(func() {
		close(r.stopped)
		go func() {
			if err := r.session.Stop(context.Background()); err != nil {
				r.stopErr.Store(&err)
				r.Abandon() // nobody would end the stream
			}
		}()
	})
}

// StopError returns why the process could not be asked to stop, or nil.
func (r *Recording) StopError() error {
	if err := r.stopErr.Load(); err != nil {
		return *err
	}
	return nil
}

// Abandon ends the stream at once. The process ends the session with its next write, without a rundown.
func (r *Recording) Abandon() {
	r.abandon.Do(func() {
		r.gone.Store(true)
		r.session.Close()
	})
}

// Drain reads what remains of the stream, for CopyTo.
func (r *Recording) Drain() error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// End ends a recording that nobody reads on: it stops the session and reads what the process still writes, for at most the
// given time, so that no session is left in the process. After the end of the stream it does nothing.
func (r *Recording) End(within time.Duration) {
	_ = r.CopyTo(nil)
	r.Stop()
	late := time.AfterFunc(within, r.Abandon)
	defer late.Stop()
	_ = r.Drain() // the process may be gone
	r.Abandon()
}
