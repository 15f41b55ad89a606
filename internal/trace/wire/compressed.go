package wire

import "github.com/ntconv/ntconv/internal/data/bin"

// ParseCompressed decodes the compressed header at the start of b into h and returns the length of the header. The
// payload follows. On entry h holds the previous header of the block, or the zero header before the first event.
// ParseCompressed returns 0 if b ends within the header or a number in it has too many bytes; h is then undefined, and
// [CompressedError] returns the cause.
//
// The rules are those of "Header compression": an omitted field keeps its previous value; times and sequence numbers
// wrap. The function runs once per event: BenchmarkCompressed measures it.
func (h *EventHeader) ParseCompressed(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	flags := b[0]
	h.Flags = flags
	h.Sorted = flags&IsSorted != 0
	i := 1
	if flags&HasMetadataID != 0 {
		h.MetadataID, i = bin.Varuint32(b, i)
	}
	h.Sequence++
	if flags&HasCapture != 0 {
		var delta uint32
		delta, i = bin.Varuint32(b, i)
		h.Sequence += delta
		h.CaptureThread, i = bin.Varuint(b, i)
		h.CPU, i = bin.Varuint32(b, i)
	}
	if flags&HasThread != 0 {
		h.Thread, i = bin.Varuint(b, i)
	}
	if flags&HasStackID != 0 {
		h.StackID, i = bin.Varuint32(b, i)
	}
	delta, i := bin.Varuint(b, i)
	h.Time += delta
	if flags&HasLabelList != 0 {
		h.LabelList, i = bin.Varuint32(b, i)
	}
	if flags&HasPayloadSize != 0 {
		h.PayloadSize, i = bin.Varuint32(b, i)
	}
	if i > len(b) {
		return 0
	}
	return i
}

// CompressedError returns why [EventHeader.ParseCompressed] could not decode the header at the start of b, which lies
// at the absolute offset base. It returns nil for a valid header.
func CompressedError(b []byte, base int64) error {
	c := bin.New(b, base)
	flags := c.At("Event/Flags").U8()
	for _, f := range compressedFields {
		switch {
		case flags&f.flag != f.flag:
		case f.size == 4:
			c.At(f.name).Varuint32()
		default:
			c.At(f.name).Varuint64()
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
	{"Event/MetadataId", HasMetadataID, 4},
	{"Event/SequenceNumber", HasCapture, 4},
	{"Event/CaptureThreadIndex", HasCapture, 8},
	{"Event/ProcessorNumber", HasCapture, 4},
	{"Event/ThreadIndex", HasThread, 8},
	{"Event/StackId", HasStackID, 4},
	{"Event/TimeStamp", 0, 8},
	{"Event/LabelListId", HasLabelList, 4},
	{"Event/PayloadSize", HasPayloadSize, 4},
}

// AppendCompressed appends the compressed header of h to dst. prev is the previous header of the block, or the zero
// header before the first event. It omits all fields that readers derive from prev, and ignores EventSize and Flags.
func AppendCompressed(dst []byte, prev, h *EventHeader) []byte {
	return AppendCompressedAs(dst, prev, h, 0)
}

// AppendCompressedAs is [AppendCompressed], except that it also writes the optional fields in flags if they could be
// omitted: one-collect writes all of them. It ignores other bits of flags.
func AppendCompressedAs(dst []byte, prev, h *EventHeader, flags uint8) []byte {
	flags = flags&^IsSorted | h.changes(prev)
	dst = append(dst, flags)
	if flags&HasMetadataID != 0 {
		dst = bin.AppendVaruint(dst, uint64(h.MetadataID))
	}
	if flags&HasCapture != 0 {
		dst = bin.AppendVaruint(dst, uint64(h.Sequence-prev.Sequence-1))
		dst = bin.AppendVaruint(dst, h.CaptureThread)
		dst = bin.AppendVaruint(dst, uint64(h.CPU))
	}
	if flags&HasThread != 0 {
		dst = bin.AppendVaruint(dst, h.Thread)
	}
	if flags&HasStackID != 0 {
		dst = bin.AppendVaruint(dst, uint64(h.StackID))
	}
	dst = bin.AppendVaruint(dst, h.Time-prev.Time)
	if flags&HasLabelList != 0 {
		dst = bin.AppendVaruint(dst, uint64(h.LabelList))
	}
	if flags&HasPayloadSize != 0 {
		dst = bin.AppendVaruint(dst, uint64(h.PayloadSize))
	}
	return dst
}

// changes returns the flags byte of a header that contains only the fields that differ from prev.
func (h *EventHeader) changes(prev *EventHeader) (flags uint8) {
	if h.MetadataID != prev.MetadataID {
		flags |= HasMetadataID
	}
	if h.Sequence != prev.Sequence+1 || h.CaptureThread != prev.CaptureThread || h.CPU != prev.CPU {
		flags |= HasCapture
	}
	if h.Thread != prev.Thread {
		flags |= HasThread
	}
	if h.StackID != prev.StackID {
		flags |= HasStackID
	}
	if h.LabelList != prev.LabelList {
		flags |= HasLabelList
	}
	if h.Sorted {
		flags |= IsSorted
	}
	if h.PayloadSize != prev.PayloadSize {
		flags |= HasPayloadSize
	}
	return flags
}
