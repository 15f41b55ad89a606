package wire

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/data/bin"
)

const (
	// Magic is the start of every nettrace file. Netperf files do not have it.
	Magic = "Nettrace"
	// FastSerialization, after its length, follows the magic in versions 4 and 5, and is the start of a netperf file.
	FastSerialization = "!FastSerialization.1"
	// BlockHeaderSize is the length of a version 6 block header in bytes.
	BlockHeaderSize = 4
	// MaxBlockSize is the largest size in bytes that a version 6 block header can represent.
	MaxBlockSize = 1<<24 - 1
)

// A StreamHeader is the start of a file of any version.
type StreamHeader struct {
	// Version is V6 or above for blocks, V4 for objects after the magic, and V3 for objects without the magic. For
	// objects, the version of the Trace object decides; see package legacy.
	Version Version
	Minor   uint32
}

// Objects reports whether FastSerialization objects follow instead of blocks.
func (h StreamHeader) Objects() bool { return h.Version < V6 }

// ParseStreamHeader reads the start of a file, up to the first block or object. The cursor should hold the whole header
// unless the file is shorter; afterwards its offset is the length of the header. A major version above 6 is ErrUnknown,
// and the header is valid. Input that is not a nettrace or netperf file is ErrValue. A file that ends within a valid
// header is ErrShort.
func ParseStreamHeader(c *bin.Cursor) (h StreamHeader, err error) {
	h.Version = V3
	if magic := *c; string(magic.Bytes(min(len(Magic), c.Len()))) == Magic[:min(len(Magic), c.Len())] {
		h.Version = V4
		c.At("magic").Skip(len(Magic))
	}
	switch n := c.At("stream header").U32(); {
	case c.Err() != nil:
	case n == 0 && h.Version == V4:
		return parseVersion(c)
	case n != uint32(len(FastSerialization)):
		c.Fail("", fmt.Errorf("%w: %d, want %d, or 0 from version 6 on", bin.ErrValue, n, len(FastSerialization)))
	default:
		at := *c
		have := c.Bytes(min(len(FastSerialization), c.Len()))
		if string(have) != FastSerialization[:len(have)] {
			// Fail at the same offset regardless of how many bytes have arrived.
			at.Fail("", fmt.Errorf("%w: want %q", bin.ErrValue, FastSerialization))
			*c = at
		}
		c.Skip(len(FastSerialization) - len(have))
	}
	return h, c.Err()
}

// parseVersion reads the rest of a header of version 6 or above. A major version above 255 becomes 255.
func parseVersion(c *bin.Cursor) (h StreamHeader, err error) {
	major := c.At("major version").U32()
	h.Version = Version(min(major, 255))
	h.Minor = c.At("minor version").U32()
	switch {
	case c.Err() != nil:
	case h.Version < V6:
		c.Fail("major version", fmt.Errorf("%w: %d, want 6", bin.ErrValue, major))
	case h.Version > V6:
		c.Fail("major version", fmt.Errorf("%w: %d", bin.ErrUnknown, major))
	}
	return h, c.Err()
}

// AppendStreamHeader is the inverse of [ParseStreamHeader].
func AppendStreamHeader(dst []byte, h StreamHeader) []byte {
	if h.Version > V3 {
		dst = append(dst, Magic...)
	}
	if h.Objects() {
		dst = bin.AppendU32(dst, uint32(len(FastSerialization)))
		return append(dst, FastSerialization...)
	}
	dst = bin.AppendU32(dst, 0)
	dst = bin.AppendU32(dst, uint32(h.Version))
	return bin.AppendU32(dst, h.Minor)
}

// A BlockHeader precedes every block of version 6.
type BlockHeader struct {
	Kind Kind // may be unknown; readers skip such blocks
	Size int  // of the block after the header, in bytes
}

// ParseBlockHeader reads a block header from the first [BlockHeaderSize] bytes of b. It panics if b is shorter.
func ParseBlockHeader(b []byte) BlockHeader {
	_ = b[3]
	return BlockHeader{Kind: Kind(b[3]), Size: int(b[0]) | int(b[1])<<8 | int(b[2])<<16}
}

// AppendBlockHeader is the inverse of [ParseBlockHeader]. A size that 24 bits cannot hold is ErrLimit: one-collect ORs
// it into the kind, which turns the block into another kind.
func AppendBlockHeader(dst []byte, h BlockHeader) ([]byte, error) {
	if h.Size < 0 || h.Size > MaxBlockSize {
		return dst, fmt.Errorf("%v block: %w", h.Kind,
			&bin.LimitError{Limit: LimitBlock, Value: MaxBlockSize, Asked: int64(h.Size), Unit: "bytes"})
	}
	return append(dst, byte(h.Size), byte(h.Size>>8), byte(h.Size>>16), byte(h.Kind)), nil
}
