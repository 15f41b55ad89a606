// Package tempfile has temporary files that are gone when the process ends.
package tempfile

import (
	"errors"
	"io"
	"os"

	"github.com/ntconv/ntconv"
)

// LimitSize is the Limit of the *ntconv.LimitError of a file that would become too large. Its values are bytes.
const LimitSize = "temporary file"

// A File is a temporary file that is written from the beginning to the end and read anywhere. It is not safe for
// concurrent use, except that several goroutines may read while none writes.
type File struct {
	file  *os.File
	named bool // the system did not remove the name of the open file
	size  int64
	max   int64 // bytes, 0 for any number
}

// An Error means that a temporary file could not be created, written, read or removed. Its text says what a user can
// do.
type Error struct {
	Err error // of package os, or ErrChanged
	// Advice is the next step, "" if there is none.
	Advice string
}

// ErrChanged means that a temporary file does not hold what was written to it.
var ErrChanged = errors.New("the content changed; keep other programs from writing to the temporary directory")

func (e *Error) Error() string {
	text := "temporary file: " + e.Err.Error()
	if e.Advice != "" {
		text += "; " + e.Advice
	}
	return text
}

// Unwrap returns the error of package os.
func (e *Error) Unwrap() error { return e.Err }

// Create creates a file in dir, or in os.TempDir() if dir is empty. Pattern is that of os.CreateTemp. Create removes
// the name at once where the system allows it, so that nothing is left even if the process is killed; elsewhere Close
// removes it. The file has at most max bytes, 0 means no limit. All errors of a File are of type *Error, except io.EOF
// and the *ntconv.LimitError of Write.
func Create(dir, pattern string, max int64) (*File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, &Error{err, "set TMPDIR to a directory that can be written"}
	}
	return &File{file: f, named: os.Remove(f.Name()) != nil, max: max}, nil
}

// Write appends p to the file. If the file would become too large, it writes nothing and returns an *ntconv.LimitError.
func (f *File) Write(p []byte) (int, error) {
	if err := CheckSize(f.size+int64(len(p)), f.max); err != nil {
		return 0, err
	}
	n, err := f.file.Write(p)
	f.size += int64(n)
	if err != nil {
		return n, &Error{err, "set TMPDIR to a directory with more space"}
	}
	return n, nil
}

// CheckSize returns an *ntconv.LimitError if a temporary file of size bytes is larger than max, which is 0 for any
// size.
func CheckSize(size, max int64) error {
	if max > 0 && size > max {
		return &ntconv.LimitError{Limit: LimitSize, Value: max, Asked: size, Unit: "bytes"}
	}
	return nil
}

// Size returns the number of bytes that were written.
func (f *File) Size() int64 { return f.size }

// ReadAt reads as io.ReaderAt describes. The error is ErrChanged if the file has less than was written.
func (f *File) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.file.ReadAt(p, offset)
	switch {
	case err == nil:
		return n, nil
	case err != io.EOF:
		return n, &Error{Err: err}
	case offset+int64(n) < f.size:
		return n, &Error{Err: ErrChanged}
	}
	return n, io.EOF
}

// Close closes and removes the file, and returns the first error. It can be called more than once, and for nil.
func (f *File) Close() error {
	if f == nil || f.file == nil {
		return nil
	}
	name := f.file.Name()
	err := f.file.Close()
	f.file = nil
	if f.named {
		if remove := os.Remove(name); err == nil {
			err = remove
		}
	}
	if err != nil {
		return &Error{Err: err}
	}
	return nil
}
