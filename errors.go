package ntconv

import (
	"errors"
	"fmt"
	"io"
)

// Sentinels that errors of readers and writers wrap.
var (
	// ErrFormat: the input is not of the format that was expected.
	ErrFormat = errors.New("unknown format")
	// ErrTruncated: the input ends before the trace does. It wraps io.ErrUnexpectedEOF.
	ErrTruncated = fmt.Errorf("input is truncated: %w", io.ErrUnexpectedEOF)
	// ErrCorrupt: the input breaks a rule of its format.
	ErrCorrupt = errors.New("input is damaged")
	// ErrUnsupported: the input is sound, but of a version or shape that cannot be read.
	ErrUnsupported = errors.New("not supported")
	// ErrLimit: a limit on size, depth or number was reached. The text names the limit.
	ErrLimit = errors.New("limit reached")
)

// A FormatError says where in an input something is wrong, and what.
type FormatError struct {
	Format string // "nettrace 4"
	Offset int64  // byte position in the decompressed input
	Where  string // the place in the format's own terms: "EventBlock/event 3/payload size"
	Err    error  // wraps a sentinel
}

func (e *FormatError) Error() string {
	s := fmt.Sprintf("%s: byte %d", e.Format, e.Offset)
	if e.Where != "" {
		s += ": " + e.Where
	}
	return s + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }
