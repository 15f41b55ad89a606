//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fileio

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// RemovesOpenFiles reports whether an open file or directory can be renamed and removed.
const RemovesOpenFiles = true

// Lock locks a file or directory exclusively until f is closed. It does not wait: it returns ErrLocked if another open
// file holds the lock. The error wraps errors.ErrUnsupported if the file system does not support locks, or not for the
// mode in which f was opened.
func Lock(f *os.File) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case nil:
			return nil
		case syscall.EWOULDBLOCK:
			return ErrLocked
		case syscall.EINTR:
		case syscall.EBADF, syscall.EINVAL, syscall.ENOLCK:
			// Network file systems may require a file that is open for writing, and some support no locks at all.
			return &os.PathError{Op: "lock", Path: f.Name(), Err: fmt.Errorf("%w: %w", errors.ErrUnsupported, err)}
		default: // ENOSYS and ENOTSUP already wrap errors.ErrUnsupported
			return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}
