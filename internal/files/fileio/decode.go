package fileio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A decoder is a decompressor that enforces the limits and locates errors.
type decoder struct {
	src    *source
	br     *bufio.Reader // buffers src for r
	format compression
	r      io.Reader // the decompressor
	limits Limits
	stored func() int64 // the number of compressed bytes for limits.Ratio; nil means consumed
	meter  *meter       // nil if the input is not a member
	out    int64        // bytes delivered
	err    error        // sticky
}

// Read implements io.Reader. It delivers exactly the bytes that the limits allow before it returns a limit error.
func (d *decoder) Read(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.r.Read(p)
	d.out += int64(n)
	if err != nil {
		d.err = d.locate(err)
	}
	if most, limit := d.limits.allowed(d.basis()); most >= 0 && d.out > most {
		n -= int(d.out - most)
		d.err = d.failed(d.limits.exceeded(limit, d.basis(), d.out))
		d.out = most
	}
	if d.meter != nil {
		n = d.charge(n)
	}
	return n, d.err
}

// consumed returns how many compressed bytes the decompressor has consumed.
func (d *decoder) consumed() int64 { return d.src.n.Load() - int64(d.br.Buffered()) }

// basis returns the number of stored bytes that the output was decompressed from.
func (d *decoder) basis() int64 {
	if d.stored != nil {
		return d.stored()
	}
	return d.consumed()
}

// failed returns err with the name of the input and the number of bytes consumed.
func (d *decoder) failed(err error) error {
	return &Error{Name: d.src.name, Op: "decompress " + d.format.String(), Bytes: d.consumed(), Err: err}
}

// locate replaces an error of a decompressor by its cause. It checks the state of the source first, because
// decompressors use io.EOF and io.ErrUnexpectedEOF also for corrupt data and for read errors.
func (d *decoder) locate(err error) error {
	var window *windowError
	ended := d.src.err == io.EOF && d.br.Buffered() == 0
	switch {
	case d.src.err != nil && d.src.err != io.EOF:
		return d.src.err
	case err == io.EOF:
		return io.EOF
	case errors.As(err, &window):
		err = d.limits.windowExceeded(window.asked)
	case ended && errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("compressed data is truncated: %w", io.ErrUnexpectedEOF)
	default:
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return d.failed(err)
}

// A gzipReader reads concatenated members one at a time. The library's multistream mode reads the header of the next
// member before it returns the end of this one: on a pipe, the last events of a member would wait for the next one.
type gzipReader struct {
	br     *bufio.Reader
	z      *gzip.Reader
	inside bool // a member
}

// Read implements io.Reader.
func (g *gzipReader) Read(p []byte) (int, error) {
	for {
		if !g.inside {
			if err := g.next(); err != nil {
				return 0, err
			}
		}
		n, err := g.z.Read(p)
		if err == io.EOF {
			g.inside = false
			err = nil
			if n == 0 {
				continue
			}
		}
		return n, err
	}
}

// next reads the header of the next member. It returns io.EOF if there is none.
func (g *gzipReader) next() error {
	first := g.z == nil
	if _, err := g.br.Peek(1); err != nil {
		return err
	}
	if !first {
		if err := g.skipPadding(); err != nil {
			return err
		}
	}
	var err error
	if first {
		g.z, err = gzip.NewReader(g.br)
	} else {
		err = g.z.Reset(g.br)
	}
	switch {
	case err == io.EOF: // the library returns io.EOF for a header truncated in its file name
		return io.ErrUnexpectedEOF
	case err == gzip.ErrHeader && !first:
		return fmt.Errorf("the data after the last member is not another member: %w", err)
	case err != nil:
		return err
	}
	g.z.Multistream(false)
	g.inside = true
	return nil
}

// skipPadding skips zeros after a member, which tapes and block devices append. It returns io.EOF if nothing else
// follows.
func (g *gzipReader) skipPadding() error {
	for {
		b, err := g.br.Peek(1)
		if err != nil || b[0] != 0 {
			return err
		}
		_, _ = g.br.Discard(1) // cannot fail: the byte is buffered
	}
}

// maxWindow is the largest window that the reference implementation writes (--ultra --long=31). Larger windows are
// rejected even without a limit, because a failed allocation would end the process.
const maxWindow = 2 << 30

// A windowError marks a frame whose window exceeds the limit.
type windowError struct{ asked int64 } // bytes

func (e *windowError) Error() string { return "window exceeds the limit" }

// frameHeader is the maximum length of a frame header: magic number, descriptor, window, dictionary ID, content size.
const frameHeader = 4 + 1 + 1 + 4 + 8

// A zstdReader reads concatenated and skippable frames in the calling goroutine.
type zstdReader struct {
	br   *bufio.Reader
	dec  *zstd.Decoder
	last int               // length of the decoder's last request
	head [frameHeader]byte // the last bytes of short requests
	err  error
}

func newZstdReader(br *bufio.Reader, window int64) (*zstdReader, error) {
	z := &zstdReader{br: br}
	most := uint64(maxWindow)
	if window > 0 {
		most = min(most, max(uint64(window), zstd.MinWindowSize))
	}
	dec, err := zstd.NewReader(zstdInput{z},
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(most),
		zstd.WithDecoderMaxWindow(most))
	if err != nil {
		return nil, err
	}
	z.dec = dec
	return z, nil
}

// Read implements io.Reader. When the checksum of a frame is missing or wrong, the decoder returns the error but still
// holds the last block: a second Read returns it, so a file truncated in its last four bytes loses no content.
func (z *zstdReader) Read(p []byte) (int, error) {
	n, err := z.dec.Read(p)
	if err != nil && z.err == nil {
		z.err = z.window(err)
		if n == 0 {
			n, _ = z.dec.Read(p)
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, z.err
}

// window separates a frame that needs too much memory from a block that is too large for its frame. The decoder returns
// the same error for both, but it reads a block header as 3 bytes, and never ends a frame header with a read of 3
// bytes.
func (z *zstdReader) window(err error) error {
	if err == zstd.ErrDecoderSizeExceeded || err == zstd.ErrWindowSizeExceeded && z.last != 3 {
		return &windowError{z.asked()}
	}
	return err
}

// asked returns the window size in the frame header that was read last, 0 if it is not known. The decoder has read all
// of it.
func (z *zstdReader) asked() int64 {
	var head [2 * frameHeader]byte // Decode also needs bytes after the header
	copy(head[:], z.head[max(0, bytes.Index(z.head[:], []byte{0x28, 0xb5, 0x2f, 0xfd})):])
	var h zstd.Header
	if err := h.Decode(head[:]); err != nil {
		return 0 // bytes before the frame look like a magic number
	}
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	return int64(min(window, math.MaxInt64))
}

// zstdInput is the input of the decoder. It fills short requests completely, for which the decoder would wait anyway,
// so that the length of the last request identifies what the decoder was reading.
type zstdInput struct{ z *zstdReader }

func (in zstdInput) Read(p []byte) (int, error) {
	in.z.last = len(p)
	if len(p) <= 8 {
		n, err := io.ReadFull(in.z.br, p)
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		head := in.z.head[:]
		copy(head, head[n:])
		copy(head[len(head)-n:], p[:n])
		return n, err
	}
	return in.z.br.Read(p)
}
