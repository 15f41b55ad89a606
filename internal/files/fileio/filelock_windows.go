package fileio

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// RemovesOpenFiles reports whether an open file or directory can be renamed and removed.
const RemovesOpenFiles = false

// Lock locks a file exclusively until f is closed; it cannot lock a directory. It does not wait: it returns ErrLocked
// if another open file holds the lock.
func Lock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return ErrLocked
	}
	return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
}
