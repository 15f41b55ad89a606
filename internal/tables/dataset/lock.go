package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ntconv/ntconv/internal/files/fileio"
)

// lockSuffix is the suffix of lock files, after the UID.
const lockSuffix = ".lock"

// ErrBusy means that another process, or another goroutine of this one, is adding or removing the trace.
var ErrBusy = errors.New("another run is adding or removing this trace")

// A lock is the exclusive right to add or remove the trace with a UID. The operating system releases it when the
// process ends.
type lock struct {
	f    *os.File
	path string
}

// lock takes the lock of a UID. It does not wait: the error wraps ErrBusy if another run holds the lock.
func (d *Dataset) lock(uid string) (*lock, error) {
	if err := os.MkdirAll(d.staging(), 0o777); err != nil {
		return nil, err
	}
	path := filepath.Join(d.staging(), uid+lockSuffix)
	// Each attempt can lose a race against an owner that removes its file; the number of attempts is bounded.
	for range 100 {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := fileio.Lock(f); err != nil {
			f.Close()
			switch {
			case errors.Is(err, fileio.ErrLocked):
				err = ErrBusy
			case errors.Is(err, errors.ErrUnsupported): // without locks, two processes could add the same trace twice
				err = fmt.Errorf("datasets need file locks: %w", err)
			}
			return nil, err
		}
		// The owner removes the file before it releases the lock, so f may be a file that no longer has a name. Then
		// another process can create and lock a new file, and the lock of f is worthless.
		mine, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		named, err := os.Stat(path)
		if err == nil && os.SameFile(mine, named) {
			return &lock{f, path}, nil
		}
		f.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: other processes keep removing it", path)
}

// commitLock is the name of the lock of commits, which has the form of that of a UID.
const commitLock = "0000000000000000"

// Waiting for the lock of commits: how often it is tried, and how long. Publishing a commit takes a rename per file.
const (
	commitPoll = 5 * time.Millisecond
	commitWait = 5 * time.Minute
)

// lockCommits waits for the lock of commits. The error wraps ErrBusy if another run holds it for minutes.
func (d *Dataset) lockCommits() (release func(), err error) {
	for end := time.Now().Add(commitWait); ; time.Sleep(commitPoll) {
		l, err := d.lock(commitLock)
		if err == nil {
			return l.release, nil
		}
		if !errors.Is(err, ErrBusy) || time.Now().After(end) {
			return nil, err
		}
	}
}

// release releases the lock. If the system can remove open files, release removes the name first, because another
// process may take the lock as soon as it is released.
func (l *lock) release() {
	if fileio.RemovesOpenFiles {
		_ = os.Remove(l.path) // if this fails, Clean removes the file
		l.f.Close()
		return
	}
	l.f.Close()
	_ = os.Remove(l.path) // fails if another process has it open
}
