//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package fileio

import (
	"errors"
	"fmt"
	"os"
)

// RemovesOpenFiles reports whether an open file or directory can be renamed and removed.
const RemovesOpenFiles = true

// Lock returns an error that wraps errors.ErrUnsupported.
func Lock(f *os.File) error {
	return &os.PathError{Op: "lock", Path: f.Name(), Err: fmt.Errorf("%w on this system", errors.ErrUnsupported)}
}
