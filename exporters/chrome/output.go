package chrome

import (
	"errors"
	"fmt"
	"io"
)

// flushBytes is the size from which drain writes the buffer.
const flushBytes = 256 << 10

// An output is the destination of events: one file, or parts of limited size.
type output struct {
	create func(part int) (io.WriteCloser, error) // from 1
	limit  int64                                  // bytes per part; 0 means no limit
	w      io.WriteCloser                         // nil if no part is open
	parts  int
	buf    []byte
	size   int64 // bytes of the part written to w
	head   int64 // bytes of the part before its first item
	events bool  // the part has an event
}

// A nopCloser is a writer whose owner closes it.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// open begins a part. The buffer is empty then.
func (o *output) open() error {
	w, err := o.create(o.parts + 1)
	if err != nil {
		return err
	}
	o.parts++
	o.w, o.size, o.events = w, 0, false
	return nil
}

// full reports whether the part has reached its size. At least half of the limit is left for items, even if names and
// continued slices take more; otherwise each item could start a new part.
func (o *output) full() bool { return o.limit > 0 && o.bytes() >= max(o.limit, o.head+o.limit/2) }

// bytes returns the size of the part so far.
func (o *output) bytes() int64 { return o.size + int64(len(o.buf)) }

// next returns the buffer, ready to append an event.
func (o *output) next() []byte {
	if !o.events {
		o.events = true
		return append(o.buf, '\n')
	}
	return append(o.buf, ',', '\n')
}

// drain writes the buffer if it has at least flushBytes.
func (o *output) drain() error {
	if len(o.buf) < flushBytes {
		return nil
	}
	return o.flush()
}

// flush writes the buffer to the part. The size of the part includes only bytes that w has accepted.
func (o *output) flush() error {
	n, err := o.w.Write(o.buf)
	o.size += int64(n)
	o.buf = o.buf[:0]
	if err != nil {
		return fmt.Errorf("chrome: write: %w", err)
	}
	return nil
}

// close writes the rest of the part and closes it.
func (o *output) close() error {
	if o.w == nil {
		return nil
	}
	err := errors.Join(o.flush(), o.w.Close())
	o.w = nil
	return err
}

// abort closes the open part without completing it.
func (o *output) abort() error {
	if o.w == nil {
		return nil
	}
	err := o.w.Close()
	o.w = nil
	return err
}
