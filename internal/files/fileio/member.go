package fileio

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
)

// errTwice is the cause if a member is created a second time.
var errTwice = fmt.Errorf("the member exists already: %w", fs.ErrExist)

// memberBuffer is the size of the write buffer of a member of a directory.
const memberBuffer = 64 << 10

// A Member is one file of [Outputs]. It is not safe for concurrent use, but different members may be used concurrently.
// It is valid until its Close, or the Commit or Abort of its set.
type Member struct {
	name   string
	check  func() error // may be nil
	until  int          // bytes until the next call of check
	err    error        // of check; sticky
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

// Name returns the name for errors: the name of the set, followed by that of the member if the set is a directory.
func (m *Member) Name() string { return m.name }

// Write copies p into a buffer. Write, Flush, Close or the Commit of the set returns the error of an earlier write; it
// is an [*Error] with the number of bytes of the member that were written. After an Abort the error wraps ErrAborted.
// If p exceeds the quota of the set, none of it is written, and the cause is an *ntconv.LimitError. An error of
// OutputOptions.Check is returned unchanged.
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

// checkInterval is the number of bytes between two calls of OutputOptions.Check.
const checkInterval = 256 << 10

// Spend adds n bytes to the bytes that the quota of the set counts, for writers that encode before they write: they
// count the decoded size. Write counts what it gets, and a [Compressor] what it compresses.
func (m *Member) Spend(n int) error {
	if err := m.quota.Spend(n); err != nil {
		return m.to.located("write", err)
	}
	return nil
}

// Flush waits until all bytes written so far have reached the file, pipe or device.
func (m *Member) Flush() error { return m.to.Flush() }

// Written returns the number of bytes that have reached the file, without those in buffers. It is safe for concurrent
// use.
func (m *Member) Written() int64 { return m.to.Written() }

// Close flushes the member, syncs it to disk and releases its descriptor and its buffer. It does not make the member
// visible: that is done by the Commit of the set, which also closes the members that are still open. Standard output is
// flushed and stays open. Later calls return the same error.
func (m *Member) Close() error { return m.to.close() }

// A treeFile is a member of a directory. It has no goroutine, so that a thousand members cost only their buffers. A
// writer that profits from overlap adds a [WriteBehind].
type treeFile struct {
	t      *tree
	name   string // for errors
	f      file
	buf    []byte // grows to memberBuffer
	count  atomic.Int64
	writes sync.Mutex // held by a write to f
	err    error      // sticky
	closed bool
}

// Write implements io.Writer. Large writes bypass the buffer.
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

// status returns an error if the member can no longer be written.
func (m *treeFile) status() error {
	switch {
	case m.t.aborted.Load(): // checked first, because the write that an Abort interrupted also fails
		return m.located("write", ErrAborted)
	case m.err != nil:
		return m.err
	case m.closed:
		return m.located("write", fs.ErrClosed)
	}
	return nil
}

// Flush writes the buffer to the file.
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

// wait returns when no write is in progress. After the file was closed, no write can begin.
func (m *treeFile) wait() {
	m.writes.Lock()
	defer m.writes.Unlock()
}

// fail records the first error. After an Abort it returns ErrAborted, because Abort closes the file under the caller.
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

// Written returns the number of bytes that have reached the file.
func (m *treeFile) Written() int64 { return m.count.Load() }

// close flushes, syncs and closes the file. It closes the file even after an error.
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
