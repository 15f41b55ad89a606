package formats

import (
	"io"
	"sync"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
)

// A Verbatim is a sink whose output has the bytes of its input, unchanged. It counts the events; who reads the input also
// writes its bytes to the Verbatim's Writer, before Close.
type Verbatim struct {
	// Rest, if not nil, is called by Close, to write what follows the last event.
	Rest func() error

	events int64
	finish func() error

	mu    sync.Mutex // of the writers, because the input may be read ahead
	w     io.Writer
	flush interface{ Flush() error } // of a compression, or nil
}

// NewVerbatim creates the file of an output.
func NewVerbatim(out *fileio.Outputs) (*Verbatim, error) {
	w, finish, err := createCompressed(out)
	if err != nil {
		return nil, err
	}
	v := &Verbatim{w: w, finish: finish}
	v.flush, _ = w.(interface{ Flush() error })
	return v, nil
}

// Write implements ntconv.Sink.
func (v *Verbatim) Write(e *ntconv.Event) error {
	if e.Kind == ntconv.KindEvent {
		v.events++
	}
	return nil
}

// Writer returns the writer that receives the bytes. It compresses if the name of the output ends with the extension of a
// compression, and may be used by any goroutine until Close.
func (v *Verbatim) Writer() io.Writer { return (*verbatimWriter)(v) }

type verbatimWriter Verbatim

// Write implements io.Writer.
func (v *verbatimWriter) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.w.Write(p)
}

// Flush writes what a compression has buffered.
func (v *Verbatim) Flush() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.flush == nil {
		return nil
	}
	return v.flush.Flush()
}

// Close implements ntconv.Sink.
func (v *Verbatim) Close() error {
	if v.Rest != nil {
		if err := v.Rest(); err != nil {
			return err
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.finish()
}

// Result implements Sink.
func (v *Verbatim) Result() Result { return newEventsResult(v.events, "") }
