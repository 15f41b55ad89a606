package iox

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A Compressor compresses what is written to it. Flush makes everything that was written so far readable. Close
// completes the data; it does not close the writer below.
type Compressor interface {
	io.WriteCloser
	Flush() error
}

// NewCompressor returns a Compressor that writes to w in the format of an extension: ".gz" or ".zst". It uses the
// default level of the format. Equal writes and flushes give equal output. If w is a *Member, what is written to the
// Compressor spends its quota.
func NewCompressor(w io.Writer, ext string) (Compressor, error) {
	z, err := newCompressor(w, ext)
	if m, ok := w.(*Member); ok && err == nil {
		return &spendingCompressor{z, Spending(m, z)}, nil
	}
	return z, err
}

// A spendingCompressor spends the quota of a member before it compresses.
type spendingCompressor struct {
	Compressor
	spending io.Writer
}

// Write implements io.Writer.
func (s *spendingCompressor) Write(p []byte) (int, error) { return s.spending.Write(p) }

// Spending returns a writer for an encoder that writes to w. If w is a *Member, what is written to the encoder spends
// the quota of its set, and what the encoder writes to w does not. Otherwise it returns the encoder.
func Spending(w, encoder io.Writer) io.Writer {
	m, ok := w.(*Member)
	if !ok {
		return encoder
	}
	m.packed = true
	return &spending{encoder, m}
}

type spending struct {
	encoder io.Writer
	member  *Member
}

// Write implements io.Writer.
func (s *spending) Write(p []byte) (int, error) {
	if err := s.member.Spend(len(p)); err != nil {
		return 0, err
	}
	return s.encoder.Write(p)
}

func newCompressor(w io.Writer, ext string) (Compressor, error) {
	switch ext {
	case ".gz":
		return NewGzip(w, -1)
	case ".zst":
		// One goroutine: the memory stays small, and the bytes do not depend on the number of processors.
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	}
	return nil, fmt.Errorf("%s: no compression has this extension", ext)
}
