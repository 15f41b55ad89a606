// Package tempfile has temporary files that are gone when the process ends.
package tempfile

import (
	"errors"
	"io"
	"os"
)

// A File is a temporary file that is written from the beginning to the end and read anywhere. It is not safe for concurrent use, except
// that several goroutines may read while none writes.
type File struct {
	file  *os.File
	named bool // the system did not remove the name of the open file
	size  int64
}

// An Error means that a temporary file could not be created, written, read or removed. Its text says what a user can do.
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

// Create creates a file in dir, or in os.TempDir() if dir is empty. Pattern is that of os.CreateTemp. Create removes the name at once
// where the system allows it, so that nothing is left even if the process is killed; elsewhere Close removes it. All errors of a File are
// of type *Error, except io.EOF.
func Create(dir, pattern string) (*File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, &Error{err, "set TMPDIR to a directory that can be written"}
	}
	return &File{file: f, named: os.Remove(f.Name()) != nil}, nil
}

// Write appends p to the file.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	f.size += int64(n)
	if err != nil {
		return n, &Error{err, "set TMPDIR to a directory with more space"}
	}
	return n, nil
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
