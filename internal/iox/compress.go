package iox

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A Compressor compresses what is written to it. Flush makes everything that was written so far readable. Close completes the data; it
// does not close the writer below.
type Compressor interface {
	io.WriteCloser
	Flush() error
}

// NewCompressor returns a Compressor that writes to w in the format of an extension: ".gz" or ".zst". It uses the default level of
// the format. Equal writes and flushes give equal output.
func NewCompressor(w io.Writer, ext string) (Compressor, error) {
	switch ext {
	case ".gz":
		return NewGzip(w, -1)
	case ".zst":
		// One goroutine: the memory stays small, and the bytes do not depend on the number of processors.
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	}
	return nil, fmt.Errorf("%s: no compression has this extension", ext)
}
