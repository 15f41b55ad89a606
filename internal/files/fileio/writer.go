package fileio

import (
	"fmt"
	"io"
	"sync/atomic"
)

// WriterOutputs returns a set of one output that writes to w, whose name is for errors. It does not close w. Commit and
// Abort leave what was written.
func WriterOutputs(w io.Writer, name string, quota *Quota) *Outputs {
	return &Outputs{name: name, to: &plainWriter{w: w, name: name}, quota: quota}
}

// A plainWriter is a set whose only member is a writer. It does not buffer.
type plainWriter struct {
	nothing
	w       io.Writer
	name    string
	created bool
	bytes   atomic.Int64
}

func (s *plainWriter) create(member string) (*Member, error) {
	if member != "" || s.created {
		err := fmt.Errorf("%q: the output is one stream and not a directory", member)
		return nil, &Error{Name: s.name, Op: "create member", Bytes: -1, Err: err}
	}
	s.created = true
	return &Member{name: s.name, to: s}, nil
}

func (s *plainWriter) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.bytes.Add(int64(n))
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, s.located("write", err)
}

func (s *plainWriter) located(op string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Name: s.name, Op: op, Bytes: s.bytes.Load(), Err: err}
}

func (s *plainWriter) Flush() error   { return nil }
func (s *plainWriter) Written() int64 { return s.bytes.Load() }
func (s *plainWriter) written() int64 { return s.bytes.Load() }
func (s *plainWriter) close() error   { return nil }
