package legacy

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

const (
	// HeaderSizeV3 is the length in bytes of a version 3 event header.
	HeaderSizeV3 = 56
	// MaxStackV3 is the size in bytes of the longest stack that TraceEvent accepts in a version 3 event.
	MaxStackV3 = math.MaxUint16 - 8
	// LimitStackV3 is the name of that limit.
	LimitStackV3 = "stack of netperf"
)

// An EventV3 is an event of version 3 (netperf). It contains its stack. An event with metadata ID 0 contains a metadata
// row as payload. There are no block headers, sequence numbers or CPU numbers.
type EventV3 struct {
	// Header has EventSize, MetadataID, Thread, CaptureThread (the same), Time, Activity, Related and PayloadSize. CPU
	// is [wire.NoCPU]; Sorted is set, because these files are in time order.
	Header  wire.EventHeader
	Payload []byte // borrowed, as are Stack and Padding
	Stack   []byte // addresses, leaf first
	Padding []byte // the rest of EventSize; not nil after parsing
}

// ParseEventV3 reads one event of a version 3 EventBlock. EventSize includes the padding. As in TraceEvent, a stack
// above 65,527 bytes is ErrLimit; then e has the complete event, and c is after it. After any other error c fails as
// well.
func ParseEventV3(c *bin.Cursor) (e EventV3, err error) {
	at := *c
	row := at.Sub(sizeV3(&at, "Event/EventSize", HeaderSizeV3-4))
	h := &e.Header
	h.EventSize = uint32(row.Len())
	h.MetadataID = row.At("Event/MetadataId").U32()
	h.Thread = uint64(row.At("Event/ThreadId").U32())
	h.CaptureThread = h.Thread
	h.CPU = wire.NoCPU
	h.Sorted = true
	h.Time = row.At("Event/TimeStamp").U64()
	h.Activity = row.At("Event/ActivityId").GUID()
	h.Related = row.At("Event/RelatedActivityId").GUID()
	e.Payload = row.Bytes(sizeV3(&row, "Event/PayloadSize", 0))
	h.PayloadSize = uint32(len(e.Payload))
	stack := row
	e.Stack = row.Bytes(sizeV3(&row, "Event/StackSize", 0))
	e.Padding = row.Bytes(row.Len())
	if row.Err() != nil {
		*c = row
		return e, c.Err()
	}
	*c = at
	if len(e.Stack) > MaxStackV3 {
		stack.Fail("Event/StackSize",
			&bin.LimitError{Limit: LimitStackV3, Value: MaxStackV3, Asked: int64(len(e.Stack)), Unit: "bytes"})
	}
	return e, stack.Err()
}

// sizeV3 reads the size of the part that follows. A size below least is ErrValue, a size beyond the end ErrShort.
func sizeV3(c *bin.Cursor, where string, least int32) int {
	at := *c
	n := c.At(where).I32()
	switch {
	case c.Err() != nil:
		return 0
	case n < least:
		at.Fail(where, fmt.Errorf("%w: %d, want %d or more", bin.ErrValue, n, least))
	case int(n) > c.Len():
		at.Fail(where, fmt.Errorf("%w: %d, with %d left", bin.ErrShort, n, c.Len()))
	default:
		return int(n)
	}
	*c = at
	return 0
}

// AppendEventV3 is the inverse of [ParseEventV3]. It computes PayloadSize and EventSize. offset is the absolute offset
// of dst[len(dst)]: if Padding is nil, it pads the event to a multiple of four.
func AppendEventV3(dst []byte, e *EventV3, offset int64) []byte {
	start := len(dst)
	dst = bin.AppendU32(dst, 0)
	dst = bin.AppendU32(dst, e.Header.MetadataID)
	dst = bin.AppendU32(dst, uint32(e.Header.Thread))
	dst = bin.AppendU64(dst, e.Header.Time)
	dst = append(dst, e.Header.Activity[:]...)
	dst = append(dst, e.Header.Related[:]...)
	dst = bin.AppendU32(dst, uint32(len(e.Payload)))
	dst = append(dst, e.Payload...)
	dst = bin.AppendU32(dst, uint32(len(e.Stack)))
	dst = append(dst, e.Stack...)
	padding := e.Padding
	if padding == nil {
		padding = make([]byte, Padding(offset+int64(len(dst)-start)))
	}
	dst = append(dst, padding...)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}
