//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package dataset

import (
	"errors"
	"fmt"
	"os"
)

const removesOpenFiles = true

// lockFile fails: without locks, two processes could add one trace twice.
func lockFile(f *os.File) error {
	return fmt.Errorf("lock %s: %w: datasets need file locks, which this system has not", f.Name(), errors.ErrUnsupported)
}
