package wire

import (
	"encoding/binary"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// UncompressedSize is the length in bytes of an uncompressed event header of version 6.
const UncompressedSize = 52

// notSorted is the top bit of the metadata ID of an uncompressed header. The specification calls it IsSorted, but
// writers and readers use the opposite meaning: the bit marks events that are not sorted.
const notSorted = 1 << 31

// ParseUncompressed decodes the uncompressed header at the start of b ("Uncompressed events") and sets all members of
// h. It returns the length of the header, [UncompressedSize], or 0 if b is shorter. The payload follows without
// padding. EventSize is not validated.
func (h *EventHeader) ParseUncompressed(b []byte) int {
	if len(b) < UncompressedSize {
		return 0
	}
	le := binary.LittleEndian
	id := le.Uint32(b[4:])
	*h = EventHeader{
		EventSize:     le.Uint32(b),
		MetadataID:    id &^ notSorted,
		Sorted:        id&notSorted == 0,
		Sequence:      le.Uint32(b[8:]),
		Thread:        le.Uint64(b[12:]),
		CaptureThread: le.Uint64(b[20:]),
		CPU:           le.Uint32(b[28:]),
		StackID:       le.Uint32(b[32:]),
		Time:          le.Uint64(b[36:]),
		LabelList:     le.Uint32(b[44:]),
		PayloadSize:   le.Uint32(b[48:]),
	}
	return UncompressedSize
}

// AppendUncompressed is the inverse of [EventHeader.ParseUncompressed]. It writes EventSize unchanged.
func AppendUncompressed(dst []byte, h *EventHeader) []byte {
	dst = bin.AppendU32(dst, h.EventSize)
	dst = bin.AppendU32(dst, h.IDAndOrder())
	dst = bin.AppendU32(dst, h.Sequence)
	dst = bin.AppendU64(dst, h.Thread)
	dst = bin.AppendU64(dst, h.CaptureThread)
	dst = bin.AppendU32(dst, h.CPU)
	dst = bin.AppendU32(dst, h.StackID)
	dst = bin.AppendU64(dst, h.Time)
	dst = bin.AppendU32(dst, h.LabelList)
	return bin.AppendU32(dst, h.PayloadSize)
}

// IDAndOrder returns the MetadataId field of an uncompressed header: 31 bits of the ID, and the top bit if the event is
// not sorted.
func (h *EventHeader) IDAndOrder() uint32 {
	if h.Sorted {
		return h.MetadataID &^ notSorted
	}
	return h.MetadataID | notSorted
}

// SetIDAndOrder is the inverse of [EventHeader.IDAndOrder].
func (h *EventHeader) SetIDAndOrder(v uint32) {
	h.MetadataID, h.Sorted = v&^notSorted, v&notSorted == 0
}
