package legacy

import (
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// ParseCompressed decodes the compressed header at the start of b into h and returns the length of the header. The
// payload follows. On entry h holds the previous header of the block, or the zero header before the first event.
// ParseCompressed returns 0 if b ends within the header or a number in it has too many bytes; h is then undefined, and
// [CompressedError] returns the cause.
//
// The rules are those of "Header compression". Where the specifications differ, ParseCompressed follows
// TraceEvent, where the sequence number increases by one, unless it is omitted and the metadata ID is 0. Times and
// sequence numbers wrap. The function runs once per event: BenchmarkCompressed measures it.
func ParseCompressed(b []byte, h *wire.EventHeader) int {
	if len(b) == 0 {
		return 0
	}
	flags := b[0]
	h.Flags = flags
	h.Sorted = flags&wire.IsSorted != 0
	i := 1
	if flags&wire.HasMetadataID != 0 {
		h.MetadataID, i = bin.Varuint32(b, i)
	}
	if flags&wire.HasCapture != 0 {
		var delta uint32
		delta, i = bin.Varuint32(b, i)
		h.Sequence += delta + 1
		h.CaptureThread, i = bin.Varuint(b, i)
		h.CPU, i = bin.Varuint32(b, i)
	} else if h.MetadataID != 0 {
		h.Sequence++
	}
	if flags&wire.HasThread != 0 {
		h.Thread, i = bin.Varuint(b, i)
	}
	if flags&wire.HasStackID != 0 {
		h.StackID, i = bin.Varuint32(b, i)
	}
	delta, i := bin.Varuint(b, i)
	h.Time += delta
	if flags&(wire.HasActivity|wire.HasRelated) != 0 {
		i = parseActivities(b, i, h)
	}
	if flags&wire.HasPayloadSize != 0 {
		h.PayloadSize, i = bin.Varuint32(b, i)
	}
	if i > len(b) {
		return 0
	}
	return i
}

// parseActivities reads the activity IDs at b[i:] for which h.Flags has a flag. It returns the index after them, or
// more than len(b) if b is too short.
func parseActivities(b []byte, i int, h *wire.EventHeader) int {
	if h.Flags&wire.HasActivity != 0 {
		if i > len(b)-16 {
			return len(b) + 1
		}
		i += copy(h.Activity[:], b[i:])
	}
	if h.Flags&wire.HasRelated != 0 {
		if i > len(b)-16 {
			return len(b) + 1
		}
		i += copy(h.Related[:], b[i:])
	}
	return i
}

// CompressedError returns why [ParseCompressed] could not decode the header at the start of b, which lies at the
// absolute offset base. It returns nil for a valid header.
func CompressedError(b []byte, base int64) error {
	c := bin.New(b, base)
	flags := c.At("Event/Flags").U8()
	for _, f := range compressedFields {
		if flags&f.flag != f.flag {
			continue
		}
		switch c.At(f.name); f.size {
		case 4:
			c.Varuint32()
		case 8:
			c.Varuint64()
		case 16:
			c.Skip(16)
		}
	}
	return c.Err()
}

// compressedFields lists the fields of a compressed header in order, with the flag of each. size is that of the decoded
// value in bytes.
var compressedFields = [...]struct {
	name string
	flag uint8
	size int
}{
	{"Event/MetadataId", wire.HasMetadataID, 4},
	{"Event/SequenceNumber", wire.HasCapture, 4},
	{"Event/CaptureThreadId", wire.HasCapture, 8},
	{"Event/ProcessorNumber", wire.HasCapture, 4},
	{"Event/ThreadId", wire.HasThread, 8},
	{"Event/StackId", wire.HasStackID, 4},
	{"Event/TimeStamp", 0, 8},
	{"Event/ActivityId", wire.HasActivity, 16},
	{"Event/RelatedActivityId", wire.HasRelated, 16},
	{"Event/PayloadSize", wire.HasPayloadSize, 4},
}

// AppendCompressedAs appends the compressed header of h, given that prev is the previous header of the block (the zero
// header before the first). It omits all fields that the reader derives from prev, except the optional fields in flags.
// The bit for a sorted event is taken from h. EventSize and Flags of h are ignored.
func AppendCompressedAs(dst []byte, prev, h *wire.EventHeader, flags uint8) []byte {
	flags = flags&^wire.IsSorted | changes(prev, h)
	dst = append(dst, flags)
	if flags&wire.HasMetadataID != 0 {
		dst = bin.AppendVaruint(dst, uint64(h.MetadataID))
	}
	if flags&wire.HasCapture != 0 {
		dst = bin.AppendVaruint(dst, uint64(h.Sequence-prev.Sequence-1))
		dst = bin.AppendVaruint(dst, h.CaptureThread)
		dst = bin.AppendVaruint(dst, uint64(h.CPU))
	}
	if flags&wire.HasThread != 0 {
		dst = bin.AppendVaruint(dst, h.Thread)
	}
	if flags&wire.HasStackID != 0 {
		dst = bin.AppendVaruint(dst, uint64(h.StackID))
	}
	dst = bin.AppendVaruint(dst, h.Time-prev.Time)
	if flags&wire.HasActivity != 0 {
		dst = append(dst, h.Activity[:]...)
	}
	if flags&wire.HasRelated != 0 {
		dst = append(dst, h.Related[:]...)
	}
	if flags&wire.HasPayloadSize != 0 {
		dst = bin.AppendVaruint(dst, uint64(h.PayloadSize))
	}
	return dst
}

// changes returns the flags byte of a header that contains only the fields that differ from prev.
func changes(prev, h *wire.EventHeader) (flags uint8) {
	derived := prev.Sequence
	if h.MetadataID != 0 {
		derived++
	}
	if h.MetadataID != prev.MetadataID {
		flags |= wire.HasMetadataID
	}
	if h.Sequence != derived || h.CaptureThread != prev.CaptureThread || h.CPU != prev.CPU {
		flags |= wire.HasCapture
	}
	if h.Thread != prev.Thread {
		flags |= wire.HasThread
	}
	if h.StackID != prev.StackID {
		flags |= wire.HasStackID
	}
	if h.Activity != prev.Activity {
		flags |= wire.HasActivity
	}
	if h.Related != prev.Related {
		flags |= wire.HasRelated
	}
	if h.Sorted {
		flags |= wire.IsSorted
	}
	if h.PayloadSize != prev.PayloadSize {
		flags |= wire.HasPayloadSize
	}
	return flags
}
