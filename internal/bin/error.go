package bin

import (
	"errors"
	"fmt"
)

// The causes that an [Error] wraps.
var (
	// ErrShort means that a field reaches beyond the bytes of what encloses it.
	ErrShort = errors.New("not enough bytes")
	// ErrOverflow means that a variable-length number has too many bytes.
	ErrOverflow = errors.New("variable-length number too long")
	// ErrValue means that a field has a value the format forbids.
	ErrValue = errors.New("invalid value")
	// ErrLimit means that a field is legal but beyond a limit of the caller or of the reader.
	ErrLimit = errors.New("limit exceeded")
	// ErrUnknown means that a kind, type code or name is not one the format defines.
	ErrUnknown = errors.New("unknown kind")
)

// An Error says where reading failed and why.
type Error struct {
	Offset int64  // of the field's first byte, in the whole decompressed input
	Where  string // the field's name; may be empty
	Err    error  // wraps one of the sentinels of this package
}

func (e *Error) Error() string {
	if e.Where == "" {
		return fmt.Sprintf("offset %#x: %v", e.Offset, e.Err)
	}
	return fmt.Sprintf("offset %#x: %s: %v", e.Offset, e.Where, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
