package bin

import (
	"errors"
	"fmt"
)

// Sentinels that an [Error] wraps.
var (
	// ErrShort means that a field extends beyond the end of the row, block or input that contains it.
	ErrShort = errors.New("not enough bytes")
	// ErrOverflow means that a variable-length number has too many bytes.
	ErrOverflow = errors.New("variable-length number too long")
	// ErrValue means that a field has a value that the format forbids.
	ErrValue = errors.New("invalid value")
	// ErrLimit means that a field is valid but exceeds a limit of the caller or of the format. The error in the chain
	// is a [*LimitError].
	ErrLimit = errors.New("limit exceeded")
	// ErrUnknown means that the format does not define a kind, type code, version or name.
	ErrUnknown = errors.New("unknown kind")
)

// An Error is a failure to read a field, with its position and cause.
type Error struct {
	Offset int64  // of the field's first byte in the decompressed input
	Where  string // name of the field; may be empty
	Err    error  // wraps one of the sentinels of this package
}

func (e *Error) Error() string {
	if e.Where == "" {
		return fmt.Sprintf("offset %#x: %v", e.Offset, e.Err)
	}
	return fmt.Sprintf("offset %#x: %s: %v", e.Offset, e.Where, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// A LimitError states which limit a field or a row exceeds. It wraps [ErrLimit]. Package reader and package writer
// convert it to the LimitError of the model, which has the same members.
type LimitError struct {
	Limit string // name of the limit
	Value int64  // the limit that was in effect
	Asked int64  // the size or count that exceeded it
	Unit  string // of Value and Asked; empty for a count
}

func (e *LimitError) Error() string {
	s := fmt.Sprintf("%v: %s: want at most %d, got %d", ErrLimit, e.Limit, e.Value, e.Asked)
	if e.Unit != "" {
		s += " " + e.Unit
	}
	return s
}

// Unwrap returns ErrLimit.
func (e *LimitError) Unwrap() error { return ErrLimit }
