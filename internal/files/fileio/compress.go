package fileio

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A Compressor compresses what is written to it. Flush makes all bytes written so far readable. Close completes the
// data and does not close the underlying writer. It is not safe for concurrent use.
type Compressor interface {
	io.WriteCloser
	Flush() error
}

// NewCompressor returns a Compressor that writes to w in the format of an extension, ".gz" or ".zst", with the default
// level of the format; other extensions are an error. Equal writes and flushes give equal output. If w is a *Member,
// its quota counts the bytes before compression.
func NewCompressor(w io.Writer, ext string) (Compressor, error) {
	z, err := newCompressor(w, ext)
	if m, ok := w.(*Member); ok && err == nil {
		return &spendingCompressor{z, Spending(m, z)}, nil
	}
	return z, err
}

// A spendingCompressor counts bytes in the quota of a member before it compresses them.
type spendingCompressor struct {
	Compressor
	spending io.Writer
}

// Write implements io.Writer.
func (s *spendingCompressor) Write(p []byte) (int, error) { return s.spending.Write(p) }

// Spending returns a writer that passes bytes to encoder, which writes to w. If w is a *Member, its quota counts the
// bytes that are written to the result, and no longer those that reach w. Otherwise Spending returns encoder.
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
		// With one goroutine the memory stays small, and the output does not depend on the number of cores.
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	}
	return nil, fmt.Errorf("%s: no compression has this extension", ext)
}
