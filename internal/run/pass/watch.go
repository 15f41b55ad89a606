package pass

import (
	"io"

	"github.com/ntconv/ntconv"
)

// checkInterval is the number of events between two checks. Reading as many events takes about a millisecond.
const checkInterval = 8192

// A watchedSource is a source that ends with an error when the limit is exceeded.
type watchedSource struct {
	ntconv.Source
	limit *MemoryLimit
	next  int // events until the next check
}

// Watch returns a source with the events of src. It calls Check before the first event and every checkInterval events,
// and returns the error of Check from Next.
func (l *MemoryLimit) Watch(src ntconv.Source) ntconv.Source {
	return &watchedSource{Source: src, limit: l}
}

// Next implements ntconv.Source.
func (w *watchedSource) Next() (*ntconv.Event, error) {
	if w.next--; w.next < 0 {
		if err := w.limit.Check(); err != nil {
			return nil, err
		}
		w.next = checkInterval
	}
	return w.Source.Next()
}

// bytesInterval is the number of bytes written between two checks.
const bytesInterval = 256 << 10

// A watchedWriter is a writer that fails when the limit is exceeded.
type watchedWriter struct {
	w     io.Writer
	limit *MemoryLimit
	next  int // bytes until the next check
}

// Writer returns a writer that writes to w. It calls Check before the first byte and every bytesInterval bytes, and
// returns the error of Check from Write.
func (l *MemoryLimit) Writer(w io.Writer) io.Writer { return &watchedWriter{w: w, limit: l} }

// Write implements io.Writer.
func (w *watchedWriter) Write(p []byte) (int, error) {
	if w.next -= len(p); w.next < 0 {
		if err := w.limit.Check(); err != nil {
			return 0, err
		}
		w.next = bytesInterval
	}
	return w.w.Write(p)
}
