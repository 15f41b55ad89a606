package spool

import (
	"errors"
	"io"
	"os"

	"github.com/ntconv/ntconv"
)

// LimitSize is the Limit of the *ntconv.LimitError for a temporary file that would be too large. Its values are bytes.
const LimitSize = "temporary file"

// A File is a temporary file that is written sequentially and read at any offset. It is not safe for concurrent use,
// except that several goroutines may read if none writes.
type File struct {
	file  *os.File
	named bool // the system could not remove the name of the open file, so Close removes it
	size  int64
	max   int64 // maximum size in bytes; 0 means no limit
}

// An Error means that a temporary file could not be created, written, read or removed. Its text includes the next step
// for the user.
type Error struct {
	Err error // of package os, or ErrChanged
	// Advice is the next step, "" if there is none.
	Advice string
}

// ErrChanged means that a temporary file does not contain the bytes that were written to it.
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

// Create creates a file in dir, or in os.TempDir() if dir is empty. pattern is that of os.CreateTemp. Where the system
// permits it, Create removes the name immediately, so that no file remains even if the process is killed; elsewhere
// Close removes it. max is the maximum size in bytes; 0 means no limit. All errors of a File are of type *Error, except
// io.EOF and the *ntconv.LimitError of Write.
func Create(dir, pattern string, max int64) (*File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, &Error{err, "set TMPDIR to a directory that can be written"}
	}
	return &File{file: f, named: os.Remove(f.Name()) != nil, max: max}, nil
}

// Write appends p to the file. If the file would exceed its maximum size, it writes nothing and returns an
// *ntconv.LimitError.
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

// CheckSize returns an *ntconv.LimitError if a temporary file of size bytes would be larger than max; a max of 0 means
// no limit.
func CheckSize(size, max int64) error {
	if max > 0 && size > max {
		return &ntconv.LimitError{Limit: LimitSize, Value: max, Asked: size, Unit: "bytes"}
	}
	return nil
}

// Size returns the number of bytes that were written.
func (f *File) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt. It returns ErrChanged if the file is shorter than what was written.
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

// Close closes and removes the file, and returns the first error. It may be called more than once, and on a nil *File.
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
