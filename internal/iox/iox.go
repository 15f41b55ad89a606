// Package iox is where bytes enter and leave the command: inputs that decompress what they recognize and stop
// at published limits, and outputs that become visible whole or not at all.
//
// An [Input] is a file, standard input or any io.Reader. Its Stream is the decompressed content, found by magic
// number and never by extension. A stream delivers what has arrived: it blocks only while it has nothing to
// give, so a live session over a pipe is seen event by event.
//
// An [Output] collects its bytes in a temporary file beside the destination. Commit syncs and renames it,
// Abort removes it, and whatever fails in between leaves the destination as it was.
//
// [Outputs] is a set of named members that one conversion writes: one file, or a directory that appears as a whole
// by the same means. Members are the counterpart for inputs: the files of a directory or of a zip archive are
// opened through the handle of that input and share its limits.
//
// The package knows bytes only: what they mean is decided elsewhere.
package iox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Sentinels. Errors of this package wrap at most one of them, beside their own cause.
var (
	// ErrCorrupt says that compressed input contradicts its format or its checksum. Everything that could be
	// decompressed before was delivered. Input that merely ends early wraps io.ErrUnexpectedEOF instead.
	ErrCorrupt = errors.New("corrupt compressed data")
	// ErrAborted is the result of writing or committing an [Output] after its Abort.
	ErrAborted = errors.New("output aborted")
)

// An Error is a failed operation on an input or output. If a limit of [Limits] ends the decompression, the cause is an
// *ntconv.LimitError.
type Error struct {
	// Name is the input or output as the user called it.
	Name string
	// Op is what failed, in words: "open", "read", "decompress gzip", "write", "sync", "rename".
	Op string
	// Bytes counts the raw bytes that had been read or written successfully before, or is -1 where none could
	// have been.
	Bytes int64
	// Err is the cause.
	Err error
}

// Error names the file once, even where the cause carries a path of its own.
func (e *Error) Error() string {
	if e.Bytes < 0 {
		return fmt.Sprintf("%s: %s: %v", e.Name, e.Op, bare(e.Err))
	}
	return fmt.Sprintf("%s: %s after %d bytes: %v", e.Name, e.Op, e.Bytes, bare(e.Err))
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// bare strips the operation and path that package os put around a system error: Error says both already, and
// the path may be a temporary one that means nothing to the user.
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
