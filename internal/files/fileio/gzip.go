package fileio

import (
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"
)

// NewGzip returns a writer that compresses to w at a level of 1 (fast) to 9 (small); 0 stores, -1 is the default; other
// levels are an error. Equal bytes give equal output regardless of the sizes of writes, because the header has no time
// and no name. Close completes the data and does not close w; Flush makes all bytes so far readable. A WriteBehind that
// writes to the result moves the compression to another core (25% faster).
func NewGzip(w io.Writer, level int) (*gzip.Writer, error) {
	if level < gzip.DefaultCompression || level > gzip.BestCompression {
		return nil, fmt.Errorf("gzip level %d: want -1 (default) or 0 to 9", level)
	}
	z, err := gzip.NewWriterLevel(w, level)
	if err != nil {
		return nil, err
	}
	z.ModTime = time.Unix(0, 0) // "no time" of RFC 1952; the library writes its zero value as a date in 2042
	return z, nil
}
