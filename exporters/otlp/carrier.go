package otlp

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// An upload sends batches to a receiver.
type upload struct {
	to    Uploader
	spend func(bytes int) error // Options.Spend; may be nil
}

// carry sends the rows as one request, after spend has accepted its size.
func (u upload) carry(ctx context.Context, b *batch, rows []row) (int, error) {
	request := b.request(rows)
	b.body = nil // not reused: net/http may read the body of a request after it has returned
	if u.spend != nil {
		if err := u.spend(len(request)); err != nil {
			return 0, &unsentError{err}
		}
	}
	return len(request), u.upload(ctx, b.signal, request, len(rows))
}

// upload calls the Uploader. It runs on a goroutine of the sink, where a panic would end the program of the caller.
func (u upload) upload(ctx context.Context, signal Signal, request []byte, items int) (err error) {
	if u.to == nil {
		return fmt.Errorf("%w: the uploader is nil", ErrNotReceived)
	}
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("the uploader panicked: %v", x)
		}
	}()
	return u.to.Upload(ctx, signal, request, items)
}

// A file writes batches to a writer, with one Write per batch. It is not safe for concurrent use.
type file struct {
	w    io.Writer
	form Form
}

// carry writes the rows with one call of Write.
func (f *file) carry(_ context.Context, b *batch, rows []row) (int, error) {
	data, err := f.encode(b, rows)
	if err != nil {
		return 0, fmt.Errorf("encode %s: %w", b.signal, err)
	}
	n, err := f.w.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return n, &unsentError{fmt.Errorf("write: %w", err)} // a partially written batch does not count as written
	}
	return n, nil
}

// encode returns what is written for the rows. A request has the encoding of the message for files, such as TracesData.
func (f *file) encode(b *batch, rows []row) ([]byte, error) {
	data := b.request(rows)
	switch f.form {
	case JSONLines:
		b.text = append(AppendJSON(b.text[:0], b.signal, data), '\n')
		return b.text, nil
	case Delimited:
		if uint64(len(data)) > math.MaxUint32 {
			return nil, fmt.Errorf("batch of %d bytes: the length has 4 bytes", len(data))
		}
		b.text = append(binary.BigEndian.AppendUint32(b.text[:0], uint32(len(data))), data...)
		return b.text, nil
	}
	return data, nil
}

// An unsentError is an error of Options.Spend or of the io.Writer that wraps ErrNotReceived.
type unsentError struct{ err error }

func (e *unsentError) Error() string   { return e.err.Error() }
func (e *unsentError) Unwrap() []error { return []error{e.err, ErrNotReceived} }
