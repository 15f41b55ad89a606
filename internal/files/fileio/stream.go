package fileio

import (
	"bufio"
	"io"
	"io/fs"
)

// rawBuffer is the size of reads from the input. bufio reads only if its buffer is empty and then accepts the result of
// one Read, so a large buffer causes no delay.
const rawBuffer = 256 << 10

// A compression is the compression of the content of an input.
type compression uint8

const (
	plain compression = iota
	gzipped
	zstandard
	deflated // a member of a zip archive; never found by sniff
)

func (c compression) String() string {
	return [...]string{"plain", "gzip", "zstd", "deflate"}[c]
}

// maxMagic is the maximum number of bytes that sniff needs.
const maxMagic = 4

// sniff returns the compression that the first bytes of the input state. sure is false if more bytes could change the
// result.
//
// The layouts are those of RFC 1952 section 2.3.1 (ID1, ID2, CM = deflate); RFC 8878 sections 3.1.1 and 3.1.2
// (Magic_Number of a frame; of a skippable frame, which may come first).
func sniff(p []byte) (c compression, sure bool) {
	switch {
	case hasPrefix(p, 0x1f, 0x8b, 0x08):
		return gzipped, len(p) >= 3
	case hasPrefix(p, 0x28, 0xb5, 0x2f, 0xfd):
		return zstandard, len(p) >= 4
	case len(p) > 0 && p[0]&0xf0 == 0x50 && hasPrefix(p[1:], 0x2a, 0x4d, 0x18):
		return zstandard, len(p) >= 4
	}
	return plain, true
}

// hasPrefix reports whether p begins with magic, or magic with p.
func hasPrefix(p []byte, magic ...byte) bool {
	n := min(len(p), len(magic))
	return string(p[:n]) == string(magic[:n])
}

// sniffAt returns the compression of a file. A file that cannot be read is plain: reading it returns the error.
func sniffAt(r io.ReaderAt) compression {
	var head [maxMagic]byte
	n, _ := r.ReadAt(head[:], 0)
	if c, sure := sniff(head[:n]); sure {
		return c
	}
	return plain
}

// sniffFrom returns the compression of the bytes in r. It waits only for bytes that can change the result.
func sniffFrom(r *bufio.Reader) compression {
	for n := 1; ; n++ {
		head, err := r.Peek(n)
		c, sure := sniff(head)
		switch {
		case sure:
			return c
		case err != nil:
			return plain // ends within a magic number
		}
	}
}

// A stream is the content of an input, decompressed if necessary. The first Read detects the compression, so that
// opening a pipe does not wait.
type stream struct {
	src    *source
	br     *bufio.Reader
	limits Limits
	stored func() int64 // stored bytes of the level below if that is compressed, else nil (see Layer)
	meter  *meter       // nil if the input is not a member
	r      io.Reader    // nil before the first Read
	close  func()       // releases the decompressor; may be nil
}

func newStream(src *source, limits Limits) *stream {
	return &stream{src: src, br: bufio.NewReaderSize(src, rawBuffer), limits: limits, stored: src.stored}
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if s.r == nil {
		s.r = s.open()
	}
	return s.r.Read(p)
}

func (s *stream) open() io.Reader {
	c := sniffFrom(s.br)
	d := &decoder{src: s.src, br: s.br, format: c, limits: s.limits, stored: s.stored, meter: s.meter}
	switch c {
	case gzipped:
		d.r = &gzipReader{br: s.br}
	case zstandard:
		z, err := newZstdReader(s.br, s.limits.Window)
		if err != nil {
			return errorReader{&Error{Name: s.src.name, Op: "decompress zstd", Bytes: -1, Err: err}}
		}
		d.r, s.close = z, z.dec.Close
	default:
		return s.br
	}
	return d
}

// Finish implements [Finisher].
func (s *stream) Finish() error {
	if _, compressed := s.r.(*decoder); !compressed {
		return nil
	}
	_, err := io.Copy(io.Discard, s)
	return err
}

// Close releases the decompressor. It does not close the input.
func (s *stream) Close() error {
	if s.close != nil {
		s.close()
		s.close = nil
	}
	s.r = errorReader{&Error{Name: s.src.name, Op: "read", Bytes: s.src.n.Load(), Err: fs.ErrClosed}}
	return nil
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }
