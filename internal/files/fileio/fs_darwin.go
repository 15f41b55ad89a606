package fileio

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameNoReplace renames unless the new name exists. File systems other than APFS and HFS+ return ENOTSUP.
func renameNoReplace(from, to string) error {
	if err := unix.RenamexNp(from, to, unix.RENAME_EXCL); err != nil {
		return &os.LinkError{Op: "renamex_np", Old: from, New: to, Err: err}
	}
	return nil
}

// exchange swaps two names atomically. File systems other than APFS return ENOTSUP.
func exchange(a, b string) error {
	if err := unix.RenamexNp(a, b, unix.RENAME_SWAP); err != nil {
		return &os.LinkError{Op: "renamex_np", Old: a, New: b, Err: err}
	}
	return nil
}
