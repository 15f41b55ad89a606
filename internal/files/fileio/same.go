package fileio

import (
	"os"

	"github.com/ntconv/ntconv/internal/files/store"
)

// IsDir reports whether a name is that of a directory, or of a symbolic link to one.
func IsDir(name string) bool {
	info, err := store.Stat(name)
	return err == nil && info.IsDir()
}

// Same reports whether an input and an output are the same file or directory, under any names. The input "-" is standard
// input. A device may be both.
func Same(in, out string) bool {
	if store.Is(in) || store.Is(out) {
		return store.Is(in) && store.Is(out) && store.Clean(in) == store.Clean(out)
	}
	x, err := os.Stat(in)
	if in == "-" {
		x, err = os.Stdin.Stat()
	}
	if err != nil || !x.Mode().IsRegular() && !x.IsDir() {
		return false
	}
	y, err := os.Stat(out)
	return err == nil && os.SameFile(x, y)
}
