package input

import (
	"errors"
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/message"
	"github.com/ntconv/ntconv/internal/files/fileio"
)

// An Error is the error of one input.
type Error struct {
	Name string
	Err  error
}

// Error mentions the name of the input once, even if the cause contains it.
func (e *Error) Error() string {
	var own *fileio.Error
	var one *Error
	if errors.As(e.Err, &own) || errors.As(e.Err, &one) {
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: %v", message.Line(e.Name), e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A SpoolError means that an input that can be read only once could not be copied.
type SpoolError struct{ Err error }

func (e *SpoolError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SpoolError) Unwrap() error { return e.Err }

// ErrNoName means that the name of an input or output is empty.
var ErrNoName = errors.New("the name is empty")

// IsTruncated reports whether an input ended too early, either as a trace or as compressed data.
func IsTruncated(err error) bool {
	return errors.Is(err, ntconv.ErrTruncated) || errors.Is(err, io.ErrUnexpectedEOF)
}
