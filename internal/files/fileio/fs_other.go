//go:build !linux && !darwin && !windows

package fileio

import "errors"

// renameNoReplace is not supported here; the caller uses hard links.
func renameNoReplace(string, string) error { return errors.ErrUnsupported }

// exchange is not supported here; the caller renames the old directory aside.
func exchange(string, string) error { return errors.ErrUnsupported }
