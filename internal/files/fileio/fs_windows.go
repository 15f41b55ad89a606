package fileio

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// renameNoReplace renames unless the new name exists: MoveFileEx without MOVEFILE_REPLACE_EXISTING.
// MOVEFILE_WRITE_THROUGH replaces syncing the directory.
func renameNoReplace(from, to string) error {
	err := moveNew(from, to)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

func moveNew(from, to string) error {
	old, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	return windows.MoveFileEx(old, name, windows.MOVEFILE_WRITE_THROUGH)
}

// syncDir does nothing: Windows cannot sync directories, and NTFS journals names.
func syncDir(string) error { return nil }

// renameDir renames a directory. MoveFileEx never replaces a directory, so renameDir removes an empty one first.
// Between the two calls the destination does not exist.
func renameDir(from, to string) error {
	err := renameNoReplace(from, to)
	if info, lerr := os.Lstat(to); err == nil || lerr != nil {
		return err
	} else if !info.IsDir() {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.ENOTDIR}
	}
	if os.Remove(to) != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
	}
	return renameNoReplace(from, to)
}

// exchange is not supported here; the caller renames the old directory aside.
func exchange(string, string) error { return errors.ErrUnsupported }

// openNoFollow is not supported and not needed here, because an open file cannot be removed.
func openNoFollow(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// isReady reports whether r can be read without waiting, which is not known here.
func isReady(io.Reader) bool { return false }
