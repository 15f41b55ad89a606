//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package dataset

import (
	"errors"
	"os"
	"syscall"
)

const removesOpenFiles = true

// lockFile locks a file exclusively until it is closed.
func lockFile(f *os.File) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrBusy
		case err != syscall.EINTR:
			return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}
