package reader

import (
	"bytes"
	"io"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/files/fileio"
)

const (
	// firstBuffer is the size of the buffer for headers and small blocks.
	firstBuffer = 64 << 10
	// firstRead is the minimum size of a read for a header.
	firstRead = 8 << 10
	// largeBlock is the size from which blocks are read into memory of their own. Through the buffer they would be
	// copied.
	largeBlock = 16 << 10
	// minLarge is the minimum allocation for a large block, so that most later blocks fit as well.
	minLarge = 128 << 10
	// growth bounds the memory that is allocated ahead of the bytes that have arrived, because a length in the input
	// may be wrong.
	growth = 1 << 20
)

// An input returns the bytes of a stream in pieces. A piece is valid until the next call. If fewer bytes are buffered
// than needed, input calls Read, once at a time, so it never waits for bytes that are not needed.
type input struct {
	r      io.Reader
	buf    []byte // buf[i:j] is read but not taken
	i, j   int
	large  []byte // memory of the last large block
	lent   bool   // the last take returned large
	memory bool   // buf is the whole input, which does not change
	offset int64  // of buf[i], in bytes of the decompressed stream
	err    error  // error of r, returned once the buffer is empty
}

func newInput(r io.Reader) *input {
	return &input{r: r, buf: make([]byte, firstBuffer)}
}

// newMemory returns an input whose pieces are slices of data.
func newMemory(data []byte) *input {
	return &input{r: bytes.NewReader(nil), buf: data, j: len(data), err: io.EOF, memory: true}
}

// more calls Read once. It grows the buffer for want bytes in all, but by no more than growth, or half of the buffer,
// at a time.
func (in *input) more(want int) error {
	if in.err != nil {
		return in.err
	}
	if in.i > 0 && (in.i == in.j || len(in.buf)-in.i < want) {
		in.j = copy(in.buf, in.buf[in.i:in.j])
		in.i = 0
	}
	if in.j == len(in.buf) {
		grown := make([]byte, min(max(want, 2*len(in.buf)), len(in.buf)+max(growth, len(in.buf)/2)))
		copy(grown, in.buf[:in.j])
		in.buf = grown
	}
	// Bytes of a large block that are read here must be copied later, so a header is read with few bytes after it.
	end := min(len(in.buf), max(in.i+want, in.j+firstRead))
	n, err := in.read(in.buf[in.j:end])
	in.j += n
	return err
}

// read calls Read once, and again while Read returns neither bytes nor an error. It returns an error only if no bytes
// were read; the error of the stream is kept for later calls.
func (in *input) read(b []byte) (int, error) {
	for tries := 0; in.err == nil; tries++ {
		var n int
		if n, in.err = in.r.Read(b); n > 0 {
			return n, nil
		}
		if in.err == nil && tries == 100 {
			in.err = io.ErrNoProgress
		}
	}
	return 0, in.err
}

// peek returns all bytes that are buffered and not taken: at least n bytes, unless the stream ends.
func (in *input) peek(n int) []byte {
	for in.j-in.i < n {
		if in.more(n) != nil {
			break
		}
	}
	return in.buf[in.i:in.j]
}

// take returns the next n bytes. If the stream ends before, it returns the remaining bytes and the error of the stream.
func (in *input) take(n int) ([]byte, error) {
	if in.lent = n >= largeBlock && n > in.j-in.i && !in.memory; in.lent {
		return in.takeLarge(n)
	}
	b := in.peek(n)
	if len(b) < n {
		in.skip(len(b))
		return b, in.err
	}
	in.skip(n)
	return b[:n:n], nil
}

// takeLarge is take for large blocks. It reads into in.large, which grows as bytes arrive.
func (in *input) takeLarge(n int) ([]byte, error) {
	b := append(in.large[:0], in.buf[in.i:in.j]...)
	in.skip(in.j - in.i)
	var err error
	for len(b) < n && err == nil {
		if len(b) == cap(b) {
			b = slices.Grow(b, max(min(n-len(b), max(growth, len(b)/2)), minLarge-len(b)))
		}
		var m int
		m, err = in.read(b[len(b):min(cap(b), n)])
		b = b[:len(b)+m]
		in.offset += int64(m)
	}
	in.large = b
	return b[:len(b):len(b)], err
}

// keep returns the memory of the last take, so that the caller may keep it, and uses instead for the next large block.
// It returns nil if the last take returned a part of the buffer.
func (in *input) keep(instead []byte) []byte {
	if !in.lent {
		return nil
	}
	b := in.large
	in.large, in.lent = instead, false
	return b
}

func (in *input) skip(n int) {
	in.i += n
	in.offset += int64(n)
}

// decompress replaces the stream by its decompressed content if it starts as gzip or zstd data do.
func (in *input) decompress(limits ntconv.DecompressionLimits) error {
	b := in.peek(4)
	compressed := len(b) >= 3 && b[0] == 0x1f && b[1] == 0x8b && b[2] == 8 ||
		len(b) >= 4 && (string(b[:4]) == "\x28\xb5\x2f\xfd" || b[0]&0xf0 == 0x50 && string(b[1:4]) == "\x2a\x4d\x18")
	if !compressed {
		return nil
	}
	head := b
	if !in.memory { // buf is reused
		head = bytes.Clone(b)
	}
	src, err := fileio.FromReader("input", &replay{head: head, r: in.r, err: in.err},
		fileio.InputOptions{Limits: fileio.LimitsOf(limits)})
	if err != nil {
		return err
	}
	stream, err := src.Stream()
	if err != nil {
		return err
	}
	if in.memory {
		*in = *newInput(stream)
	} else {
		*in = input{r: stream, buf: in.buf}
	}
	return nil
}

// replay returns head first, which was read before, and then the rest of r.
type replay struct {
	head []byte
	r    io.Reader
	err  error // the error of r, if it has ended
}

// Layer implements fileio.Layered.
func (p *replay) Layer() *fileio.Layer { return fileio.LayerOf(p.r) }

func (p *replay) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	if p.err != nil {
		return 0, p.err
	}
	return p.r.Read(b)
}
