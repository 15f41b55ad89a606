package fileio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Sentinels. An error of this package wraps at most one of them, in addition to its cause.
var (
	// ErrCorrupt means that compressed input violates its format or does not match its checksum. All bytes that could
	// be decompressed before it were delivered. Truncated input wraps io.ErrUnexpectedEOF instead.
	ErrCorrupt = errors.New("corrupt compressed data")
	// ErrAborted means that an [Output] was written or committed after its Abort.
	ErrAborted = errors.New("output aborted")
)

// An Error is a failed operation on an input or output. If a limit of [Limits] ends the decompression, the cause is an
// *ntconv.LimitError.
type Error struct {
	// Name is the name of the input or output, as the user wrote it.
	Name string
	// Op is the operation that failed: "open", "read", "decompress gzip", "write", "sync", "rename".
	Op string
	// Bytes is the number of stored bytes that had been read or written before, or -1 if the operation does not read or
	// write.
	Bytes int64
	// Err is the cause.
	Err error
}

// Error names the file once, even if the cause has a path of its own.
func (e *Error) Error() string {
	if e.Bytes < 0 {
		return fmt.Sprintf("%s: %s: %v", e.Name, e.Op, bare(e.Err))
	}
	return fmt.Sprintf("%s: %s after %d bytes: %v", e.Name, e.Op, e.Bytes, bare(e.Err))
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// bare removes the operation and path that package os adds to a system error: Error states both, and the path may be
// that of a temporary file.
func bare(err error) error {
	switch err := err.(type) {
	case *fs.PathError:
		return err.Err
	case *os.LinkError:
		return err.Err
	case *os.SyscallError:
		return err.Err
	}
	return err
}
