package wire

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/bin"
)

const (
	// FlagCompressed in [EventBlockHeader.Flags] says that event headers are compressed.
	FlagCompressed = 1
	// MinEventBlockHeaderSize is the length of an event block header without extra bytes.
	MinEventBlockHeaderSize = 20
	// NoCPU is the processor number of an event whose processor was not recorded.
	NoCPU = 0xFFFFFFFF
)

// An EventBlockHeader begins every event block, and every metadata block of versions 4 and 5 ("EventBlock").
type EventBlockHeader struct {
	HeaderSize uint16 // counts itself; at least [MinEventBlockHeaderSize]
	Flags      uint16
	Min, Max   uint64 // times of the events, in ticks; zero in some files
	Extra      []byte // the rest of HeaderSize, borrowed
}

// Compressed reports whether the event headers of the block are compressed.
func (h *EventBlockHeader) Compressed() bool { return h.Flags&FlagCompressed != 0 }

// ParseEventBlockHeader reads the header of an event block. The events follow.
func ParseEventBlockHeader(c *bin.Cursor) (h EventBlockHeader, err error) {
	start := *c
	h.HeaderSize = c.At("EventBlock/HeaderSize").U16()
	if c.Err() == nil && h.HeaderSize < MinEventBlockHeaderSize {
		start.Fail(
			"EventBlock/HeaderSize",
			fmt.Errorf("%w: %d, want %d or more", bin.ErrValue, h.HeaderSize, MinEventBlockHeaderSize),
		)
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

// AppendEventBlockHeader is the inverse of [ParseEventBlockHeader]. A HeaderSize of zero is computed from Extra.
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

// An EventHeader is what stands before the payload of an event, in versions 4 to 6. It holds no pointers, so that rows
// of it cost the garbage collector nothing.
type EventHeader struct {
	Time          uint64 // ticks
	Thread        uint64 // whom the event is about: a thread id in versions 4 and 5, a thread index in version 6
	CaptureThread uint64 // who recorded it; Sequence counts per capture thread
	MetadataID    uint32 // 31 bits in uncompressed headers
	Sequence      uint32
	CPU           uint32 // of the capture thread, or [NoCPU]
	StackID       uint32
	PayloadSize   uint32
	LabelList     uint32   // version 6
	EventSize     uint32   // uncompressed headers: claimed size of what follows this field; often wrong
	Flags         uint8    // compressed headers: the flags byte, which also says what was left out
	Sorted        bool     // no later event of the file is older
	Activity      [16]byte // versions 4 and 5
	Related       [16]byte // versions 4 and 5
}

// The bits of the flags byte of a compressed header ("Header compression"). HasActivity and HasRelated are what
// versions 4 and 5 have in place of HasLabelList.
const (
	HasMetadataID  = 1
	HasCapture     = 2 // sequence number, capture thread and processor
	HasThread      = 4
	HasStackID     = 8
	HasLabelList   = 16
	HasActivity    = 16
	HasRelated     = 32
	IsSorted       = 64
	HasPayloadSize = 128
)
