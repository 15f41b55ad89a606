package fileio

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNoReplace renames unless the new name exists. Kernels before 3.15 return ENOSYS; file systems without the flag
// return EINVAL.
func renameNoReplace(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if err == nil {
		return nil
	}
	if err == unix.EINVAL {
		err = errors.ErrUnsupported
	}
	return &os.LinkError{Op: "renameat2", Old: from, New: to, Err: err}
}

// exchange swaps two names atomically. Old kernels and file systems without the flag return the same errors as for
// renameNoReplace.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if err == nil {
		return nil
	}
	if err == unix.EINVAL {
		err = errors.ErrUnsupported
	}
	return &os.LinkError{Op: "renameat2", Old: a, New: b, Err: err}
}
