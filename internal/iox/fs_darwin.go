package iox

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameNoReplace renames unless the new name exists. File systems other than APFS and HFS+ say ENOTSUP.
func renameNoReplace(from, to string) error {
	if err := unix.RenamexNp(from, to, unix.RENAME_EXCL); err != nil {
		return &os.LinkError{Op: "renamex_np", Old: from, New: to, Err: err}
	}
	return nil
}
