package iox

import (
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"
)

// NewGzip returns a writer that compresses to w at a level of 1 (fast) to 9 (small); 0 stores, -1 is the
// default. Equal bytes give equal output however they are cut into writes: the header holds no time and no
// name. Close finishes the data and does not close w; Flush makes a live stream readable so far. A WriteBehind in
// front of it moves the compression to another core (BenchmarkOutput: a quarter more).
func NewGzip(w io.Writer, level int) (*gzip.Writer, error) {
	if level < gzip.DefaultCompression || level > gzip.BestCompression {
		return nil, fmt.Errorf("gzip level %d: must be -1 (default) or 0 to 9", level)
	}
	z, err := gzip.NewWriterLevel(w, level)
	if err != nil {
		return nil, err
	}
	z.ModTime = time.Unix(0, 0) // "no time" of RFC 1952; the library writes its zero value as a date in 2042
	return z, nil
}
