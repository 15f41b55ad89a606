package dataset

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const removesOpenFiles = false

// lockFile locks a file exclusively until it is closed.
func lockFile(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return ErrBusy
	}
	return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
}
