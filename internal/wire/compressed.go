package wire

import "github.com/ntconv/ntconv/internal/bin"

// ParseCompressed decodes the compressed header at the beginning of b, given that h is the header before it in the block
// (the zero header before the first). It returns the header's length; the payload follows. Zero means that b ends within
// the header, a negative result that a number in it is too long; h is undefined then and [CompressedError] says where.
//
// The rules are those of "Header compression": what is left out stays as it was, times and sequence numbers wrap.
func (h *EventHeader) ParseCompressed(b []byte) int {
	var tail bin.Window // zeros end every number
	w := &tail
	if len(b) >= len(tail) {
		w = (*bin.Window)(b)
	} else {
		copy(tail[:], b)
	}
	n := h.parseWindow(w)
	if n > len(b) {
		return 0
	}
	return n
}

func (h *EventHeader) parseWindow(b *bin.Window) int {
	flags := b[0]
	h.Flags = flags
	h.Sorted = flags&IsSorted != 0
	i := 1
	if flags&HasMetadataID != 0 {
		h.MetadataID, i = b.Varuint32(i)
	}
	h.Sequence++
	if flags&HasCapture != 0 {
		var delta uint32
		delta, i = b.Varuint32(i)
		h.Sequence += delta
		h.CaptureThread, i = b.Varuint64(i)
		h.CPU, i = b.Varuint32(i)
	}
	if flags&HasThread != 0 {
		h.Thread, i = b.Varuint64(i)
	}
	if flags&HasStackID != 0 {
		h.StackID, i = b.Varuint32(i)
	}
	delta, i := b.Varuint64(i)
	h.Time += delta
	if flags&HasLabelList != 0 {
		h.LabelList, i = b.Varuint32(i)
	}
	if flags&HasPayloadSize != 0 {
		h.PayloadSize, i = b.Varuint32(i)
	}
	return i
}

// CompressedError explains why [EventHeader.ParseCompressed] did not decode the header at the beginning of b, whose
// absolute offset is base. It returns nil if nothing is wrong.
func CompressedError(b []byte, base int64) error {
	c := bin.New(b, base)
	flags := c.At("Flags").U8()
	fields := [...]struct {
		name string
		flag uint8
		long bool
	}{
		{"MetadataId", HasMetadataID, false},
		{"SequenceNumber", HasCapture, false},
		{"CaptureThreadIndex", HasCapture, true},
		{"ProcessorNumber", HasCapture, false},
		{"ThreadIndex", HasThread, true},
		{"StackId", HasStackID, false},
		{"TimeStamp", 0, true},
		{"LabelListId", HasLabelList, false},
		{"PayloadSize", HasPayloadSize, false},
	}
	for _, f := range fields {
		switch {
		case flags&f.flag != f.flag:
		case f.long:
			c.At(f.name).Varuint64()
		default:
			c.At(f.name).Varuint32()
		}
	}
	return c.Err()
}

// AppendCompressed appends the compressed header of h, given that prev is the header before it in the block (the zero
// header before the first). It leaves out everything that the reader derives from prev. EventSize and Flags play no part.
func AppendCompressed(dst []byte, prev, h *EventHeader) []byte {
	return AppendCompressedAs(dst, prev, h, 0)
}

// AppendCompressedAs is [AppendCompressed] with the optional fields in flags written even where they could be left out,
// as one-collect writes all of them. Other bits of flags are ignored.
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

// changes returns the flags byte of a version 6 header that holds only what differs from prev.
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
