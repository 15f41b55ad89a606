package wire

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/bin"
)

const (
	// Magic is how every nettrace file begins; netperf files do not.
	Magic = "Nettrace"
	// FastSerialization follows the magic, with its length, in versions 4 and 5, and begins a netperf file.
	FastSerialization = "!FastSerialization.1"
	// BlockHeaderSize is the length of a version 6 block header.
	BlockHeaderSize = 4
	// MaxBlockSize is the largest block that a version 6 header can express.
	MaxBlockSize = 1<<24 - 1
)

// A StreamHeader is the beginning of a file, of any version.
type StreamHeader struct {
	// Version is V6 and above for blocks, V4 for objects behind the magic, V3 for objects without it. What really
	// counts for objects is the version of the Trace object; see package legacy.
	Version Version
	Minor   uint32
}

// Objects reports whether FastSerialization objects follow, rather than blocks.
func (h StreamHeader) Objects() bool { return h.Version < V6 }

// ParseStreamHeader reads the beginning of a file, up to the first block or object. The cursor should hold the whole
// header unless the file is shorter; afterwards its offset is the length of the header. A major version above 6 is
// ErrUnknown, with the header returned; anything that is not a nettrace or netperf file is ErrValue. A file that ends
// within a valid header is ErrShort.
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
			at.Fail(
				"",
				fmt.Errorf("%w: want %q", bin.ErrValue, FastSerialization),
			) // in the same place however much has arrived
			*c = at
		}
		c.Skip(len(FastSerialization) - len(have))
	}
	return h, c.Err()
}

// parseVersion reads the rest of a header of version 6 and above. The low eight bits of the major version are kept.
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

// A BlockHeader stands before every block of version 6.
type BlockHeader struct {
	Kind Kind // may be unknown: such blocks are to be passed over
	Size int  // of what follows, in bytes
}

// ParseBlockHeader reads a block header from the first [BlockHeaderSize] bytes of b, which must hold as many.
func ParseBlockHeader(b []byte) BlockHeader {
	_ = b[3]
	return BlockHeader{Kind: Kind(b[3]), Size: int(b[0]) | int(b[1])<<8 | int(b[2])<<16}
}

// AppendBlockHeader is the inverse of [ParseBlockHeader]. It refuses, with ErrLimit, a size that 24 bits cannot hold:
// or'ed into the kind, as one-collect does, it would turn the block into another kind.
func AppendBlockHeader(dst []byte, h BlockHeader) ([]byte, error) {
	if h.Size < 0 || h.Size > MaxBlockSize {
		return dst, fmt.Errorf(
			"%v block: %w",
			h.Kind,
			&bin.LimitError{Limit: LimitBlock, Value: MaxBlockSize, Asked: int64(h.Size), Unit: "bytes"},
		)
	}
	return append(dst, byte(h.Size), byte(h.Size>>8), byte(h.Size>>16), byte(h.Kind)), nil
}
