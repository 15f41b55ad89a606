package elfsym

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxRatio bounds how often a compressed section may be larger than its bytes in the file. Debug information compresses
// by a factor of 2 to 4, its string tables by 10.
const maxRatio = 256

// errTooLarge means that decompressed data exceeds its limit.
var errTooLarge = errors.New("decompressed data exceeds its limit")

// data returns the content of a section by name, decompressed, or nil if there is none or it cannot be read.
func (f *File) data(name string, limit uint64) []byte {
	s := f.named(name)
	if s == nil {
		return nil
	}
	b, err := f.content(s, limit)
	if err != nil {
		return nil
	}
	return b
}

// content returns the bytes of a section, decompressed.
func (f *File) content(s *section, limit uint64) ([]byte, error) {
	if s.typ == elf.SHT_NOBITS {
		return nil, nil
	}
	b, err := f.read(s.off, s.size, limit)
	if err != nil {
		return nil, fmt.Errorf("section %s: %w", s.name, err)
	}
	if s.flags&elf.SHF_COMPRESSED == 0 {
		return b, nil
	}
	c := &fields{b: b, f: f}
	typ := elf.CompressionType(c.u32())
	if f.is64 {
		c.u32() // reserved
	}
	size := c.word()
	c.word() // alignment
	if b, err = decompress(typ, c.b, size, limit); err != nil {
		return nil, fmt.Errorf("section %s: %w", s.name, err)
	}
	return b, nil
}

// decompress returns the content of a compressed section that states its size.
func decompress(typ elf.CompressionType, b []byte, size, limit uint64) ([]byte, error) {
	limit = min(limit, maxRatio*uint64(len(b)))
	if size > limit {
		return nil, fmt.Errorf("%w: %d bytes, limit %d", errTooLarge, size, limit)
	}
	switch typ {
	case elf.COMPRESS_ZLIB:
		r, err := zlib.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		return readExactly(r, size)
	case elf.COMPRESS_ZSTD:
		r, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(max(size, 1<<20)),
			zstd.WithDecoderMaxWindow(1<<27))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return readExactly(r, size)
	}
	return nil, fmt.Errorf("compression type %d is not supported", typ)
}

// readExactly reads size bytes. The buffer grows as bytes arrive.
func readExactly(r io.Reader, size uint64) ([]byte, error) {
	var out bytes.Buffer
	n, err := io.CopyN(&out, r, int64(size))
	if err != nil {
		return nil, fmt.Errorf("decompressed data ends at byte %d of %d: %w", n, size, err)
	}
	return out.Bytes(), nil
}

// maxMiniDebug bounds the embedded file of MiniDebugInfo in bytes. It holds a symbol table only: that of a library with
// 100,000 functions has 5 MB.
const maxMiniDebug = 256 << 20

// miniDebug returns the ELF file that .gnu_debugdata contains, or nil. The section is compressed with xz.
func (f *File) miniDebug() (*File, error) {
	b := f.data(".gnu_debugdata", maxSection)
	if len(b) == 0 {
		return nil, nil
	}
	out, err := decompressXZ(b, min(maxMiniDebug, maxRatio*len(b)))
	if err != nil {
		return nil, fmt.Errorf(".gnu_debugdata: %w", err)
	}
	return New(bytes.NewReader(out), int64(len(out)))
}
