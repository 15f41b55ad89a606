package otlp

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// An upload sends spans to a receiver.
type upload struct {
	to    Uploader
	spend func(bytes int) error // Options.Spend; may be nil
}

// carry sends the rows as one request, after spend has accepted its size.
func (u upload) carry(ctx context.Context, rows []row) (int, error) {
	spans, size := assemble(rows)
	if u.spend != nil {
		if err := u.spend(size); err != nil {
			return 0, &unsentError{err}
		}
	}
	return size, u.to.UploadTraces(ctx, spans)
}

// A file writes spans to a writer, with one Write per batch. It is not safe for concurrent use.
type file struct {
	w    io.Writer
	form Form
	buf  []byte
}

// maxIdleBuffer is the maximum size of the buffer that a file keeps between batches.
const maxIdleBuffer = 8 << 20

// carry writes the rows with one call of Write.
func (f *file) carry(_ context.Context, rows []row) (int, error) {
	if cap(f.buf) > maxIdleBuffer {
		f.buf = nil
	}
	if err := f.encode(rows); err != nil {
		return 0, fmt.Errorf("encode spans: %w", err)
	}
	n, err := f.w.Write(f.buf)
	if err == nil && n < len(f.buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return n, &writeError{err}
	}
	return n, nil
}

// An unsentError is an error of Options.Spend. It wraps ErrNotReceived, because nothing of the batch was sent.
type unsentError struct{ err error }

func (e *unsentError) Error() string   { return e.err.Error() }
func (e *unsentError) Unwrap() []error { return []error{e.err, ErrNotReceived} }

// A writeError is an error of the io.Writer. It wraps ErrNotReceived: a partially written batch does not count as
// written.
type writeError struct{ err error }

func (e *writeError) Error() string   { return "write: " + e.err.Error() }
func (e *writeError) Unwrap() []error { return []error{e.err, ErrNotReceived} }

// encode encodes the batch into the buffer.
func (f *file) encode(rows []row) error {
	spans, size := assemble(rows)
	f.buf = f.buf[:0]
	switch f.form {
	case JSONLines:
		f.buf = append(appendJSON(f.buf, spans), '\n')
		return nil
	case Delimited:
		if size > math.MaxUint32 {
			return fmt.Errorf("batch of %d bytes: the length has 4 bytes", size)
		}
		f.buf = binary.BigEndian.AppendUint32(f.buf, uint32(size))
	}
	f.buf = appendProto(f.buf, spans)
	return nil
}
