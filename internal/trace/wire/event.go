package wire

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/data/bin"
)

const (
	// FlagCompressed in [EventBlockHeader.Flags] means that event headers are compressed.
	FlagCompressed = 1
	// MinEventBlockHeaderSize is the length in bytes of an event block header without extra bytes.
	MinEventBlockHeaderSize = 20
	// NoCPU is the CPU number of an event whose CPU was not recorded.
	NoCPU = 0xFFFFFFFF
)

// An EventBlockHeader is the start of every event block, and of every metadata block of versions 4 and 5
// ("EventBlock").
type EventBlockHeader struct {
	HeaderSize uint16 // bytes, including this field; at least [MinEventBlockHeaderSize]
	Flags      uint16
	Min, Max   uint64 // times of the events, in ticks; zero in some files
	Extra      []byte // the rest of HeaderSize, borrowed
}

// Compressed reports whether the event headers of the block are compressed.
func (h *EventBlockHeader) Compressed() bool { return h.Flags&FlagCompressed != 0 }

// ParseEventBlockHeader reads the header of an event block. The events follow. A HeaderSize that is too small is
// ErrValue.
func ParseEventBlockHeader(c *bin.Cursor) (h EventBlockHeader, err error) {
	start := *c
	h.HeaderSize = c.At("EventBlock/HeaderSize").U16()
	if c.Err() == nil && h.HeaderSize < MinEventBlockHeaderSize {
		start.Fail("EventBlock/HeaderSize",
			fmt.Errorf("%w: %d, want %d or more", bin.ErrValue, h.HeaderSize, MinEventBlockHeaderSize))
		*c = start
	}
	h.Flags = c.At("EventBlock/Flags").U16()
	h.Min = c.At("EventBlock/MinTimestamp").U64()
	h.Max = c.At("EventBlock/MaxTimestamp").U64()
	if extra := c.At("EventBlock/Header").Bytes(int(h.HeaderSize) - MinEventBlockHeaderSize); len(extra) > 0 {
		h.Extra = extra
	}
	return h, c.Err()
}

// AppendEventBlockHeader is the inverse of [ParseEventBlockHeader]. If HeaderSize is 0, it is computed from Extra.
func AppendEventBlockHeader(dst []byte, h *EventBlockHeader) []byte {
	size := h.HeaderSize
	if size == 0 {
		size = uint16(MinEventBlockHeaderSize + len(h.Extra))
	}
	dst = bin.AppendU16(dst, size)
	dst = bin.AppendU16(dst, h.Flags)
	dst = bin.AppendU64(dst, h.Min)
	dst = bin.AppendU64(dst, h.Max)
	return append(dst, h.Extra...)
}

// An EventHeader is the header of an event in versions 4 to 6. It contains no pointers, so the garbage collector does
// not scan slices of it.
type EventHeader struct {
	Time          uint64 // ticks
	Thread        uint64 // thread of the event: a thread ID in versions 4 and 5, a thread index in version 6
	CaptureThread uint64 // thread that recorded the event; Sequence counts per capture thread
	MetadataID    uint32 // 31 bits in uncompressed headers
	Sequence      uint32
	CPU           uint32 // of the capture thread, or [NoCPU]
	StackID       uint32
	PayloadSize   uint32
	LabelList     uint32   // version 6
	EventSize     uint32   // uncompressed headers: size of the rest of the event after this field; often wrong
	Flags         uint8    // compressed headers: the flags byte; fields without a flag are omitted
	Sorted        bool     // no later event of the file is earlier
	Activity      [16]byte // versions 4 and 5
	Related       [16]byte // versions 4 and 5
}

// The bits of the flags byte of a compressed header ("Header compression"). Versions 4 and 5 have HasActivity and
// HasRelated instead of HasLabelList.
const (
	HasMetadataID  = 1
	HasCapture     = 2 // sequence number, capture thread and CPU
	HasThread      = 4
	HasStackID     = 8
	HasLabelList   = 16
	HasActivity    = 16
	HasRelated     = 32
	IsSorted       = 64
	HasPayloadSize = 128
)
