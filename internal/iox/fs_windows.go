package iox

import (
	"os"

	"golang.org/x/sys/windows"
)

// renameNoReplace renames unless the new name exists: MoveFileEx without MOVEFILE_REPLACE_EXISTING. Write-through
// stands in for syncing the directory.
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

// syncDir does nothing: Windows has no such call for directories, and NTFS journals its names.
func syncDir(string) error { return nil }
