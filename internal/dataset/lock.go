package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ntconv/ntconv/internal/filelock"
)

// lockSuffix ends the name of a lock file, after the UID.
const lockSuffix = ".lock"

// ErrBusy means that another process, or another goroutine, is adding or removing the trace.
var ErrBusy = errors.New("another run is adding or removing this trace")

// A lock is the right to add or remove the trace of a UID. The operating system releases it if the process ends.
type lock struct {
	f    *os.File
	path string
}

// lock takes the lock of a UID. It does not wait: the error is ErrBusy if the lock is taken.
func (d *Dataset) lock(uid string) (*lock, error) {
	if err := os.MkdirAll(d.staging(), 0o777); err != nil {
		return nil, err
	}
	path := filepath.Join(d.staging(), uid+lockSuffix)
	for range 100 {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := filelock.Lock(f); err != nil {
			f.Close()
			switch {
			case errors.Is(err, filelock.ErrLocked):
				err = ErrBusy
			case errors.Is(err, errors.ErrUnsupported): // without locks, two processes could add one trace twice
				err = fmt.Errorf("datasets need file locks: %w", err)
			}
			return nil, err
		}
		// The owner removes the file before it releases the lock, so this may be the lock of a file without a name.
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

// release gives the lock up. Where an open file can be removed, its name goes first: another process may take the lock
// at once.
func (l *lock) release() {
	if filelock.RemovesOpenFiles {
		_ = os.Remove(l.path) // if it stays, Clean removes it
		l.f.Close()
		return
	}
	l.f.Close()
	_ = os.Remove(l.path) // fails if another process has it open
}
