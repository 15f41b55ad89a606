package wirestream

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/internal/trace/wire/legacy"
)

// Headers is the encoding of the event headers of a block, of version 4 and later.
type Headers struct {
	Objects    bool // versions 4 and 5
	Compressed bool
	Preview    bool // without CPU numbers, as .NET Core 3.0 previews write them
}

// First returns the header that the first one of a block is relative to.
func (e Headers) First() (h wire.EventHeader) {
	if e.Preview {
		h.CPU = wire.NoCPU
	}
	return h
}

// Parse reads an event header and returns its length and, if the header states it, the length of the whole event,
// otherwise 0. On entry h is the previous header of the block. The length is not positive if b is too short.
func (e Headers) Parse(h *wire.EventHeader, b []byte) (size, whole int) {
	switch {
	case e.Preview:
		return legacy.ParsePreRelease(b, h), 0
	case e.Compressed && e.Objects:
		return legacy.ParseCompressed(b, h), 0
	case e.Compressed:
		return h.ParseCompressed(b), 0
	case e.Objects:
		size = legacy.ParseUncompressed(b, h)
		return size, int(min(legacy.RowSize(h, len(b)), int64(len(b))))
	}
	return h.ParseUncompressed(b), 0
}

// Append is the inverse of Parse. It writes the optional fields in flags even if they could be omitted.
func (e Headers) Append(dst []byte, prev, h *wire.EventHeader, flags uint8) []byte {
	switch {
	case e.Preview:
		return legacy.AppendPreRelease(dst, prev, h, flags)
	case e.Compressed && e.Objects:
		return legacy.AppendCompressedAs(dst, prev, h, flags)
	case e.Compressed:
		return wire.AppendCompressedAs(dst, prev, h, flags)
	case e.Objects:
		return legacy.AppendUncompressed(dst, h)
	}
	return wire.AppendUncompressed(dst, h)
}

// EventSize returns the EventSize of an uncompressed header: the number of bytes that follow this field.
func (e Headers) EventSize(payload int) uint32 {
	if e.Objects {
		return uint32(legacy.UncompressedSize - 4 + payload)
	}
	return uint32(wire.UncompressedSize - 4 + payload)
}

// An EventBlock collects the events of a block. Several blocks of a stream may be open at once.
type EventBlock struct {
	s       *Stream
	headers Headers
	begin   int // length of the block header
	body    []byte
	events  []legacy.EventV3 // version 3, whose padding depends on the offset of the block
	prev    wire.EventHeader
	// Pad is the number of additional bytes per number in the following headers, as far as the format permits. Version
	// 3 ignores it.
	Pad int
}

// Events starts an event block, with compressed event headers from version 4 on.
func (s *Stream) Events() *EventBlock {
	return s.EventBlock(&wire.EventBlockHeader{Flags: wire.FlagCompressed})
}

// EventBlock starts an event block with the given header, which version 3 omits. Event headers are compressed if its
// flags state it.
func (s *Stream) EventBlock(h *wire.EventBlockHeader) *EventBlock {
	e := &EventBlock{s: s, headers: Headers{Objects: s.header.Objects(), Compressed: h.Compressed()}}
	if s.header.Version != wire.V3 {
		e.body = wire.AppendEventBlockHeader(nil, h)
	}
	e.begin = len(e.body)
	return e
}

// Add appends an event. PayloadSize is the number of payload bytes in the header, which may be false; version 3 writes
// the actual number.
func (e *EventBlock) Add(h *wire.EventHeader, payload []byte) {
	if e.s.header.Version == wire.V3 {
		e.events = append(e.events, legacy.EventV3{Header: *h, Payload: bytes.Clone(payload), Stack: e.s.stacks[h.StackID]})
		return
	}
	start := len(e.body)
	e.body = e.headers.Append(e.body, &e.prev, h, 0)
	if e.Pad > 0 {
		e.body = append(e.body[:start], e.padded(e.body[start:])...)
	}
	e.prev = *h
	e.body = append(e.body, payload...)
}

// Raw appends bytes unchanged. It supports versions 4 and 6.
func (e *EventBlock) Raw(b []byte) { e.body = append(e.body, b...) }

// Len returns the current size of the block in bytes. It supports versions 4 and 6.
func (e *EventBlock) Len() int { return len(e.body) }

// Flush writes the block unless it is empty, and starts another one with the same block header.
func (e *EventBlock) Flush() {
	if len(e.body) > e.begin || len(e.events) > 0 {
		e.FlushAs(wire.KindEvent)
	}
}

// FlushAs is Flush for a block of the given kind, which is written even if it is empty. In version 4, metadata blocks
// have the form of event blocks.
func (e *EventBlock) FlushAs(kind wire.Kind) {
	if len(e.events) > 0 {
		f := NewFrame(e.s.header, kind)
		header, err := f.AppendHeader(nil, e.s.offset, 0)
		must(err)
		for i := range e.events {
			e.body = legacy.AppendEventV3(e.body, &e.events[i], e.s.offset+int64(len(header)+len(e.body)))
		}
	}
	e.s.Block(kind, e.body)
	e.body, e.events, e.prev = e.body[:e.begin], e.events[:0], wire.EventHeader{}
}

// numbers returns the numbers of a compressed header in order, each with its flag and its maximum length in bytes.
var numbers = [...]struct {
	flag uint8
	max  int
}{
	{wire.HasMetadataID, 5}, {wire.HasCapture, 5}, {wire.HasCapture, 10}, {wire.HasCapture, 5}, {wire.HasThread, 10}, {wire.HasStackID, 5},
	{0, 10}, {wire.HasLabelList, 5}, {wire.HasPayloadSize, 5},
}

// padded returns a compressed header whose numbers have Pad additional bytes.
func (e *EventBlock) padded(header []byte) []byte {
	flags := header[0]
	out, header := []byte{flags}, header[1:]
	for _, f := range numbers {
		switch {
		case f.flag == wire.HasLabelList && e.headers.Objects: // activity IDs instead
			n := 16 * bits.OnesCount8(flags&(wire.HasActivity|wire.HasRelated))
			out, header = append(out, header[:n]...), header[n:]
		case flags&f.flag == f.flag:
			n := 1 + slices.IndexFunc(header, func(b byte) bool { return b < 0x80 })
			out = append(out, header[:n]...)
			if more := min(e.Pad, f.max-n); more > 0 {
				out[len(out)-1] |= 0x80
				out = append(append(out, bytes.Repeat([]byte{0x80}, more-1)...), 0)
			}
			header = header[n:]
		}
	}
	return out
}
