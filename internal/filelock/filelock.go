// Package filelock has locks of files and directories that the operating system releases when the process ends.
package filelock

import "errors"

// ErrLocked means that another open file holds the lock.
var ErrLocked = errors.New("locked by another process")
