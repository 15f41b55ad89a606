//go:build !linux && !darwin && !windows

package iox

import "errors"

// renameNoReplace has no system call here; hard links do the work.
func renameNoReplace(string, string) error { return errors.ErrUnsupported }

// exchange has no system call here; a directory is renamed aside instead.
func exchange(string, string) error { return errors.ErrUnsupported }
