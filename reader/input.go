package reader

import (
	"bytes"
	"io"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/iox"
)

const (
	// firstBuffer is the size of the buffer for headers and small blocks.
	firstBuffer = 64 << 10
	// firstRead is how much is asked for where a header is needed.
	firstRead = 8 << 10
	// largeBlock is the size from which blocks are read into memory of their own: through the buffer they would be
	// copied.
	largeBlock = 16 << 10
	// smallMemory is the least that is allocated for a large block, so that it does for most blocks that come later.
	smallMemory = 128 << 10
	// growth bounds how much memory a length in the input can cost beyond what has arrived.
	growth = 1 << 20
)

// input hands out the bytes of a stream in pieces that stay valid until the next call. It asks the stream for more only
// when it has fewer bytes than needed, with one Read at a time.
type input struct {
	r      io.Reader
	buf    []byte // buf[i:j] has arrived and is not taken
	i, j   int
	large  []byte // memory of the last large block
	lent   bool   // the last take returned large
	memory bool   // buf is the whole input, which does not change
	offset int64  // of buf[i] in the decompressed stream
	err    error  // of r, to be returned once the buffer is used up
}

func newInput(r io.Reader) *input {
	return &input{r: r, buf: make([]byte, firstBuffer)}
}

// newMemory returns an input that hands out data itself.
func newMemory(data []byte) *input {
	return &input{r: bytes.NewReader(nil), buf: data, j: len(data), err: io.EOF, memory: true}
}

// more reads once. It makes room for want bytes in all, but for no more than growth at a time.
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
	// What is read here of a large block has to be copied, so headers are read with little behind them.
	end := min(len(in.buf), max(in.i+want, in.j+firstRead))
	n, err := in.read(in.buf[in.j:end])
	in.j += n
	return err
}

// read reads once into b. It returns an error only if nothing was read; the stream's error is kept for later.
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

// peek returns what has arrived and was not taken, at least n bytes unless the stream ends.
func (in *input) peek(n int) []byte {
	for in.j-in.i < n {
		if in.more(n) != nil {
			break
		}
	}
	return in.buf[in.i:in.j]
}

// take returns the next n bytes, or fewer and the stream's error if it ends before.
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

// takeLarge is take with memory of its own, which grows as the bytes arrive.
func (in *input) takeLarge(n int) ([]byte, error) {
	b := append(in.large[:0], in.buf[in.i:in.j]...)
	in.skip(in.j - in.i)
	var err error
	for len(b) < n && err == nil {
		if len(b) == cap(b) {
			b = slices.Grow(b, max(min(n-len(b), max(growth, len(b)/2)), smallMemory-len(b)))
		}
		var m int
		m, err = in.read(b[len(b):min(cap(b), n)])
		b = b[:len(b)+m]
		in.offset += int64(m)
	}
	in.large = b
	return b[:len(b):len(b)], err
}

// keep returns the memory of the last take if it may be kept, in exchange for other memory; nil if it may not.
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

// unpack replaces the stream by its decompressed content if it begins as gzip or zstd data do.
func (in *input) unpack(limits ntconv.DecompressionLimits) error {
	b := in.peek(4)
	packed := len(b) >= 3 && b[0] == 0x1f && b[1] == 0x8b && b[2] == 8 ||
		len(b) >= 4 && (string(b[:4]) == "\x28\xb5\x2f\xfd" || b[0]&0xf0 == 0x50 && string(b[1:4]) == "\x2a\x4d\x18")
	if !packed {
		return nil
	}
	head := b
	if !in.memory { // buf is used again
		head = bytes.Clone(b)
	}
	src, err := iox.FromReader("input", &replay{head: head, r: in.r, err: in.err}, iox.InputOptions{Limits: iox.LimitsOf(limits)})
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

// replay yields bytes that were read before, then the rest of a reader.
type replay struct {
	head []byte
	r    io.Reader
	err  error // the reader's, if it has ended
}

// Layer implements iox.Layered.
func (p *replay) Layer() *iox.Layer { return iox.LayerOf(p.r) }

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
