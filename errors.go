package ntconv

import (
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Sentinels that errors of readers and writers wrap.
var (
	// ErrFormat means that the input does not have the expected format.
	ErrFormat = errors.New("unknown format")
	// ErrTruncated means that the input ends before the trace does. It wraps io.ErrUnexpectedEOF.
	ErrTruncated = fmt.Errorf("input is truncated: %w", io.ErrUnexpectedEOF)
	// ErrCorrupt means that the input violates a rule of its format.
	ErrCorrupt = errors.New("input is corrupt")
	// ErrUnsupported means that a valid input has a version or content that cannot be read, or that an output format
	// cannot represent a value.
	ErrUnsupported = errors.New("not supported")
	// ErrNoType means that a sink got an event without a Type.
	ErrNoType = errors.New("event without a type")
	// ErrLimit means that a size, depth or count exceeds a limit. The chain of the error has a *LimitError.
	ErrLimit = errors.New("limit exceeded")
)

// A FormatError is an error at a position of an input.
type FormatError struct {
	Format string // name and version of the format: "nettrace 4"
	Offset int64  // byte offset in the decompressed input
	Where  string // the part of the format: "EventBlock/event 3/payload size"; may be empty
	Err    error  // cause; wraps a sentinel
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

// A LimitError states which limit an input or an output exceeds, and the value that it would need. It wraps ErrLimit.
// Library users find it with errors.As and compare Limit with the constants of the package that enforces the limit.
type LimitError struct {
	// Limit is the name of the limit, such as reader.LimitTypes. Each limit of the module has its own name.
	Limit string
	// Value is the limit that was in effect.
	Value int64
	// Asked is the size or count that exceeded the limit. The rest of the input may need more.
	Asked int64
	// Unit is the unit of Value and Asked: "bytes", "levels", "UTF-16 units". It is empty for a count of items.
	Unit string
}

// Error names the limit and both numbers.
func (e *LimitError) Error() string {
	if e.Unit == "" {
		return fmt.Sprintf("too many %s: limit %d, got %d", e.Limit, e.Value, e.Asked)
	}
	if e.Unit != "bytes" {
		return fmt.Sprintf("%s too large: limit %d %s, got %d", e.Limit, e.Value, e.Unit, e.Asked)
	}
	return fmt.Sprintf("%s too large: limit %s, got %s", e.Limit, byteCount(e.Value), byteCount(e.Asked))
}

// Unwrap returns ErrLimit.
func (e *LimitError) Unwrap() error { return ErrLimit }

// byteCount returns a number of bytes with a binary prefix if it is a multiple of 1,024.
func byteCount(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; i < len(units)-1 && n != 0 && n%1024 == 0; i++ {
		n /= 1024
	}
	return strconv.FormatInt(n, 10) + " " + units[i]
}

// An AdviceError adds the next step to an error. The package that reports the error adds it if it knows the next step.
// A program with its own advice finds the AdviceError with errors.As and replaces it.
type AdviceError struct {
	Err    error
	Advice string // what the user can do, as an instruction: "record with .NET Core 2.1 or later"
}

func (e *AdviceError) Error() string { return e.Err.Error() + "; " + e.Advice }

// Unwrap returns the cause.
func (e *AdviceError) Unwrap() error { return e.Err }
