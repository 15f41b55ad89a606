package fileio

import "errors"

// ErrLocked means that the file is locked through another open file, in this or another process.
var ErrLocked = errors.New("locked by another process")
