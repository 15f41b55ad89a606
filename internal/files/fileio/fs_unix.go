//go:build !windows

package fileio

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// syncDir makes a rename in the directory durable. File systems that cannot sync a directory (some FUSE and network
// ones) return EINVAL or ENOTSUP, which is not an error of the output. A directory that is writable but not readable
// cannot be opened to sync it, which is not an error either.
func syncDir(name string) error {
	d, err := os.Open(name)
	if errors.Is(err, os.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

// renameDir renames a directory. rename(2) replaces an empty directory atomically, and fails with ENOTEMPTY, EEXIST or
// ENOTDIR if another file has the new name. os.Rename rejects an empty directory, too, so it cannot be used.
func renameDir(from, to string) error {
	for {
		switch err := syscall.Rename(from, to); err {
		case nil:
			return nil
		case syscall.EINTR: // some FUSE file systems
		default:
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
		}
	}
}

// openNoFollow opens a file or directory for reading. It does not follow symbolic links and does not wait for the
// writer of a FIFO.
func openNoFollow(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// isReady reports whether r is a file that can be read without waiting.
func isReady(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	ready := false
	_ = conn.Control(func(fd uintptr) { // a closed file is not ready
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		ready = err == nil && n > 0
	})
	return ready
}
