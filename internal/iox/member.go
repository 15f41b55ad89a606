package iox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
)

// errTwice is the cause where a member is created a second time.
var errTwice = fmt.Errorf("the member exists already: %w", fs.ErrExist)

// memberBuffer is how many bytes a member of a directory collects before it writes them.
const memberBuffer = 64 << 10

// A Member is one file of [Outputs]. It is for one goroutine at a time; different members may be used by
// different goroutines. It lives until its Close, or the Commit or Abort of its set.
type Member struct {
	name   string
	check  func() error // may be nil
	until  int          // bytes until the next call of check
	err    error        // of check
	quota  *Quota       // may be nil
	packed bool         // a compressor above the member spends the quota
	to     interface {
		io.Writer
		Flush() error
		Written() int64
		close() error
		located(op string, err error) error
	}
}

// Name returns the name that errors use: the name of the set, in a directory followed by that of the member.
func (m *Member) Name() string { return m.name }

// Write copies p into a buffer. The error of an earlier write may be returned here, by Flush, by Close or by the Commit
// of the set; it is an [*Error] that says how many bytes of the member were written before. After an Abort the error
// wraps ErrAborted. If p exceeds the quota of the set, nothing of it is written, and the cause is an
// *ntconv.LimitError. The error of OutputOptions.Check is returned as it is.
func (m *Member) Write(p []byte) (int, error) {
	if m.until -= len(p); m.until < 0 && m.check != nil {
		m.until = checkInterval
		if m.err == nil {
			m.err = m.check()
		}
	}
	if m.err != nil {
		return 0, m.err
	}
	if !m.packed {
		if err := m.Spend(len(p)); err != nil {
			return 0, err
		}
	}
	return m.to.Write(p)
}

// checkInterval is how many bytes are written between two calls of OutputOptions.Check.
const checkInterval = 256 << 10

// Spend adds n bytes to what the set has written, for writers that encode before they write: they spend what a reader
// decodes. Write spends what it gets, and a [Compressor] what it compresses.
func (m *Member) Spend(n int) error {
	if err := m.quota.Spend(n); err != nil {
		return m.to.located("write", err)
	}
	return nil
}

// Flush waits until everything written so far has reached the file, pipe or device.
func (m *Member) Flush() error { return m.to.Flush() }

// Written returns the bytes that have reached the file so far, those still in buffers not counted. It may be called
// from any goroutine.
func (m *Member) Written() int64 { return m.to.Written() }

// Close flushes the member, syncs it to disk and releases its descriptor and its buffer. It does not make the
// member visible: that is done by the Commit of the set, which also closes the members that are still open.
// Standard output is flushed and stays open. Further calls return the same result.
func (m *Member) Close() error { return m.to.close() }

// A treeFile is a member of a directory. It has no goroutine of its own, so that a thousand of them cost no more
// than their buffers: a writer for which overlap pays puts a [WriteBehind] on top.
type treeFile struct {
	t      *tree
	name   string // as the user sees it
	f      file
	buf    []byte // grows to memberBuffer
	count  atomic.Int64
	writes sync.Mutex // held by a write to f
	err    error      // sticky
	closed bool
}

// Write implements io.Writer.
func (m *treeFile) Write(p []byte) (int, error) {
	if err := m.status(); err != nil {
		return 0, err
	}
	if len(m.buf)+len(p) >= memberBuffer {
		if err := m.Flush(); err != nil {
			return 0, err
		}
		if len(p) >= memberBuffer {
			return m.write(p)
		}
	}
	m.buf = append(m.buf, p...)
	return len(p), nil
}

// status returns the error of a member that cannot be written any more.
func (m *treeFile) status() error {
	switch {
	case m.t.aborted.Load(): // comes first: the write that an Abort interrupted fails, too
		return m.located("write", ErrAborted)
	case m.err != nil:
		return m.err
	case m.closed:
		return m.located("write", fs.ErrClosed)
	}
	return nil
}

// Flush writes what is in the buffer.
func (m *treeFile) Flush() error {
	if m.closed {
		return m.err
	}
	if err := m.status(); err != nil || len(m.buf) == 0 {
		return err
	}
	_, err := m.write(m.buf)
	m.buf = m.buf[:0]
	return err
}

func (m *treeFile) write(p []byte) (int, error) {
	m.writes.Lock()
	n, err := m.f.Write(p)
	m.writes.Unlock()
	m.count.Add(int64(n))
	m.t.count.Add(int64(n))
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, m.fail("write", err)
}

// wait returns when no write is in progress. After the file was closed no write begins.
func (m *treeFile) wait() {
	m.writes.Lock()
	defer m.writes.Unlock()
}

// fail remembers the first error. After an Abort the error is ErrAborted: the file was closed under the caller.
func (m *treeFile) fail(op string, err error) error {
	if err != nil && m.t.aborted.Load() {
		return m.located(op, ErrAborted)
	}
	if err != nil && m.err == nil {
		m.err = m.located(op, err)
	}
	return m.err
}

func (m *treeFile) located(op string, err error) error {
	return &Error{Name: m.name, Op: op, Bytes: m.count.Load(), Err: err}
}

// Written returns the bytes that reached the file.
func (m *treeFile) Written() int64 { return m.count.Load() }

// close completes and closes the file. It goes on to close after an error.
func (m *treeFile) close() error {
	if m.closed {
		return m.err
	}
	err := m.Flush()
	if err == nil {
		err = m.fail("sync", m.f.Sync())
	}
	if cerr := m.f.Close(); err == nil {
		err = m.fail("close", cerr)
	}
	m.closed, m.buf = true, nil
	if m.err == nil && errors.Is(err, ErrAborted) {
		m.err = err
	}
	m.t.closed(m, err)
	return err
}
