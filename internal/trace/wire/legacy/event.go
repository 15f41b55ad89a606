package legacy

import (
	"encoding/binary"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// UncompressedSize is the length in bytes of an uncompressed event header of versions 4 and 5.
const UncompressedSize = 80

// ParseUncompressed decodes the uncompressed header at the start of b ("Uncompressed events") and sets all members of
// h. It returns the length of the header, [UncompressedSize], or 0 if b is shorter. The payload follows; [RowSize]
// returns the offset of the next event.
func ParseUncompressed(b []byte, h *wire.EventHeader) int {
	if len(b) < UncompressedSize {
		return 0
	}
	le := binary.LittleEndian
	*h = wire.EventHeader{
		EventSize:     le.Uint32(b),
		Sequence:      le.Uint32(b[8:]),
		Thread:        le.Uint64(b[12:]),
		CaptureThread: le.Uint64(b[20:]),
		CPU:           le.Uint32(b[28:]),
		StackID:       le.Uint32(b[32:]),
		Time:          le.Uint64(b[36:]),
		Activity:      [16]byte(b[44:60]),
		Related:       [16]byte(b[60:76]),
		PayloadSize:   le.Uint32(b[76:]),
	}
	h.SetIDAndOrder(le.Uint32(b[4:]))
	return UncompressedSize
}

// RowSize returns the length in bytes of the uncompressed event with header h. avail is the length of the rest of the
// block, from the first byte of the event. The specification pads events to four bytes and includes the padding in
// EventSize, but some writers do not pad, and EventSize may be wrong. So RowSize uses EventSize only if it covers the
// payload and lies inside the block.
func RowSize(h *wire.EventHeader, avail int) int64 {
	row := UncompressedSize + int64(h.PayloadSize)
	if claimed := int64(h.EventSize) + 4; claimed >= row && claimed <= int64(avail) {
		return claimed
	}
	return row
}

// AppendUncompressed is the inverse of [ParseUncompressed]. It writes EventSize unchanged.
func AppendUncompressed(dst []byte, h *wire.EventHeader) []byte {
	dst = bin.AppendU32(dst, h.EventSize)
	dst = bin.AppendU32(dst, h.IDAndOrder())
	dst = bin.AppendU32(dst, h.Sequence)
	dst = bin.AppendU64(dst, h.Thread)
	dst = bin.AppendU64(dst, h.CaptureThread)
	dst = bin.AppendU32(dst, h.CPU)
	dst = bin.AppendU32(dst, h.StackID)
	dst = bin.AppendU64(dst, h.Time)
	dst = append(dst, h.Activity[:]...)
	dst = append(dst, h.Related[:]...)
	return bin.AppendU32(dst, h.PayloadSize)
}
