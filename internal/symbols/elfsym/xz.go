package elfsym

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// errXZ means that data is not a valid xz stream, or one with filters other than LZMA2.
var errXZ = errors.New("invalid xz stream")

// Constants of the .xz file format, version 1.2, sections 2.1.1, 3.1 and 5.3.
const (
	xzMagic        = "\xfd7zXZ\x00"
	xzStreamHeader = 12
	xzFilterLZMA2  = 0x21
	xzHasSize      = 0x40 // the block header states the compressed size
	xzHasFullSize  = 0x80 // the block header states the uncompressed size
	xzOtherFlags   = 0x3f // number of further filters, and reserved bits
)

// decompressXZ returns the content of the first stream of b, at most limit bytes. The library's reader of the container
// would allocate the dictionary that the header asks for, up to 4 GiB, so only its LZMA2 decoder is used.
func decompressXZ(b []byte, limit int) ([]byte, error) {
	if len(b) < xzStreamHeader || string(b[:len(xzMagic)]) != xzMagic {
		return nil, fmt.Errorf("%w: no magic number", errXZ)
	}
	check, size := xzCheck(b[7])
	var out bytes.Buffer
	for rest := b[xzStreamHeader:]; ; {
		if len(rest) == 0 {
			return nil, fmt.Errorf("%w: no index", errXZ)
		}
		if rest[0] == 0 { // the index follows the last block
			return out.Bytes(), nil
		}
		header := (int(rest[0]) + 1) * 4
		if header > len(rest) {
			return nil, fmt.Errorf("%w: block header", errXZ)
		}
		dict, err := xzDictionary(rest[:header])
		if err != nil {
			return nil, err
		}
		in := bytes.NewReader(rest[header:])
		config := lzma.Reader2Config{DictCap: max(lzma.MinDictCap, min(dict, limit))}
		r, err := config.NewReader2(in)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errXZ, err)
		}
		before := out.Len()
		if _, err := io.Copy(&out, io.LimitReader(r, int64(limit-before)+1)); err != nil {
			return nil, fmt.Errorf("%w: %w", errXZ, err)
		}
		if out.Len() > limit {
			return nil, fmt.Errorf("%w: limit %d bytes", errTooLarge, limit)
		}
		used := len(rest) - header - in.Len()
		rest = rest[header+used:]
		padding := -used & 3
		if len(rest) < padding+size {
			return nil, fmt.Errorf("%w: block ends early", errXZ)
		}
		if check != nil {
			check.Reset()
			check.Write(out.Bytes()[before:])
			if !bytes.Equal(littleEndian(check.Sum(nil)), rest[padding:padding+size]) {
				return nil, fmt.Errorf("%w: wrong checksum", errXZ)
			}
		}
		rest = rest[padding+size:]
	}
}

// xzDictionary returns the size of the dictionary that a block header states.
func xzDictionary(header []byte) (int, error) {
	sum := len(header) - 4
	if crc32.ChecksumIEEE(header[:sum]) != binary.LittleEndian.Uint32(header[sum:]) {
		return 0, fmt.Errorf("%w: wrong checksum of a block header", errXZ)
	}
	flags, rest := header[1], header[2:sum]
	if flags&xzOtherFlags != 0 {
		return 0, fmt.Errorf("%w: filters other than LZMA2", errXZ)
	}
	for _, has := range []byte{xzHasSize, xzHasFullSize} {
		if flags&has != 0 {
			_, n := binary.Uvarint(rest)
			if n <= 0 {
				return 0, fmt.Errorf("%w: block header", errXZ)
			}
			rest = rest[n:]
		}
	}
	if len(rest) < 3 || rest[0] != xzFilterLZMA2 || rest[1] != 1 {
		return 0, fmt.Errorf("%w: filters other than LZMA2", errXZ)
	}
	dict, err := lzma.DecodeDictCap(rest[2])
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errXZ, err)
	}
	return int(dict), nil
}

// xzCheck returns the checksum of blocks and its size in bytes; nil if it is none or one that is not verified. The size
// follows from the type (section 2.1.1.2).
func xzCheck(typ byte) (hash.Hash, int) {
	switch typ & 0xf {
	case 1:
		return crc32.NewIEEE(), 4
	case 4:
		return crc64.New(crc64.MakeTable(crc64.ECMA)), 8
	}
	sizes := [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}
	return nil, sizes[typ&0xf]
}

// littleEndian reverses a checksum: hash.Hash returns big-endian bytes.
func littleEndian(b []byte) []byte {
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return b
}
