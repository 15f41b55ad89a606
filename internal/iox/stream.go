package iox

import (
	"bufio"
	"io"
	"io/fs"
)

// rawBuffer is the size of reads from the input below. bufio asks for more only when it is empty and then takes
// what one Read gives, so a large buffer delays nothing.
const rawBuffer = 256 << 10

// A compression is how the content of an input is packed.
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

// maxMagic is the longest prefix sniff needs.
const maxMagic = 4

// sniff tells the compression from the first bytes of the input. It is sure as soon as no longer prefix could
// change the answer; until then, more bytes are needed.
//
// Sources: RFC 1952 section 2.3.1 (ID1, ID2, CM = deflate); RFC 8878 sections 3.1.1 and 3.1.2 (Magic_Number of
// a frame; of a skippable frame, which may come first).
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

// hasPrefix reports whether p begins with magic, or is the beginning of it.
func hasPrefix(p []byte, magic ...byte) bool {
	n := min(len(p), len(magic))
	return string(p[:n]) == string(magic[:n])
}

// sniffAt tells the compression of a file. What cannot be read is plain: reading it will tell the error.
func sniffAt(r io.ReaderAt) compression {
	var head [maxMagic]byte
	n, _ := r.ReadAt(head[:], 0)
	if c, sure := sniff(head[:n]); sure {
		return c
	}
	return plain
}

// sniffFrom tells the compression of what r is about to deliver. It waits only for bytes that decide.
func sniffFrom(r *bufio.Reader) compression {
	for n := 1; ; n++ {
		head, err := r.Peek(n)
		c, sure := sniff(head)
		switch {
		case sure:
			return c
		case err != nil:
			return plain // ends inside the magic
		}
	}
}

// A stream is the content of an input: the raw bytes, or what their decompressor makes of them. Which one is
// decided by the first Read, so that opening a pipe never waits.
type stream struct {
	src    *source
	br     *bufio.Reader
	limits Limits
	stored func() int64 // of the level below if it is compressed, else nil: see Layer
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
	if _, packed := s.r.(*decoder); !packed {
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
