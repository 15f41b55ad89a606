package reader

import (
	"io"

	"github.com/ntconv/ntconv/internal/iox"
)

const (
	firstBuffer = 256 << 10
	// growth bounds how much memory a length in the input can cost beyond what has arrived.
	growth = 1 << 20
)

// input hands out the bytes of a stream in pieces that stay valid until the next call. It asks the stream for more only
// when it has fewer bytes than needed, with one Read at a time.
type input struct {
	r      io.Reader
	buf    []byte // buf[i:j] has arrived and is not taken
	i, j   int
	offset int64 // of buf[i] in the decompressed stream
	err    error // of r, to be returned once the buffer is used up
}

func newInput(r io.Reader) *input {
	return &input{r: r, buf: make([]byte, firstBuffer)}
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
	for range 100 {
		n, err := in.r.Read(in.buf[in.j:])
		in.j += n
		if in.err = err; n > 0 || err != nil {
			if n > 0 {
				return nil
			}
			return err
		}
	}
	in.err = io.ErrNoProgress
	return in.err
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
	b := in.peek(n)
	if len(b) < n {
		in.skip(len(b))
		return b, in.err
	}
	in.skip(n)
	return b[:n:n], nil
}

func (in *input) skip(n int) {
	in.i += n
	in.offset += int64(n)
}

// unpack replaces the stream by its decompressed content if it begins as gzip or zstd data do.
func (in *input) unpack() error {
	b := in.peek(4)
	packed := len(b) >= 3 && b[0] == 0x1f && b[1] == 0x8b && b[2] == 8 ||
		len(b) >= 4 && (string(b[:4]) == "\x28\xb5\x2f\xfd" || b[0]&0xf0 == 0x50 && string(b[1:4]) == "\x2a\x4d\x18")
	if !packed {
		return nil
	}
	head := append([]byte(nil), b...)
	src, err := iox.FromReader("input", &replay{head: head, r: in.r, err: in.err}, iox.InputOptions{})
	if err != nil {
		return err
	}
	stream, err := src.Stream()
	if err != nil {
		return err
	}
	*in = input{r: stream, buf: in.buf}
	return nil
}

// replay yields bytes that were read before, then the rest of a reader.
type replay struct {
	head []byte
	r    io.Reader
	err  error // the reader's, if it has ended
}

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
