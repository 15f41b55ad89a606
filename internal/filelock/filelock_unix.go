//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// RemovesOpenFiles reports whether a file or directory can be renamed and removed while it is open.
const RemovesOpenFiles = true

// Lock locks a file or directory exclusively until f is closed. It does not wait: the error is ErrLocked if another
// open file holds the lock, and wraps errors.ErrUnsupported if the file system has no locks or none for this way of
// opening the file.
func Lock(f *os.File) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case nil:
			return nil
		case syscall.EWOULDBLOCK:
			return ErrLocked
		case syscall.EINTR:
		case syscall.EBADF, syscall.EINVAL, syscall.ENOLCK:
			// Network file systems lock only what is open for writing, and some lock nothing.
			return &os.PathError{Op: "lock", Path: f.Name(), Err: fmt.Errorf("%w: %w", errors.ErrUnsupported, err)}
		default: // ENOSYS and ENOTSUP are errors.ErrUnsupported
			return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}
