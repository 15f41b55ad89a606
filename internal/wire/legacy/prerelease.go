package legacy

import (
	"slices"

	"github.com/ntconv/ntconv/internal/bin"
	"github.com/ntconv/ntconv/internal/wire"
)

// Files of .NET Core 3.0 previews call themselves version 4, but their compressed headers lack the processor number.
// Read by the released rules they yield nonsense: the thread id is taken for the processor, the stack id for the
// thread.

// noCPU is [wire.NoCPU] as a number in a compressed header.
var noCPU = [...]byte{0xff, 0xff, 0xff, 0xff, 0x0f}

// ParsePreRelease is [ParseCompressed] for files of previews. The CPU is [wire.NoCPU] where it would have been given.
func ParsePreRelease(b []byte, h *wire.EventHeader) int {
	if len(b) == 0 || b[0]&wire.HasCapture == 0 {
		return ParseCompressed(b, h)
	}
	i := cpuIndex(b)
	if i > len(b) {
		return 0
	}
	// Put the missing field in, and let the ordinary decoder do the rest.
	var whole [128]byte
	n := copy(whole[:], b[:i])
	n += copy(whole[n:], noCPU[:])
	n += copy(whole[n:], b[i:])
	return max(0, ParseCompressed(whole[:n], h)-len(noCPU))
}

// cpuIndex returns where the processor number stands, or would stand, in a header that has [wire.HasCapture]; beyond
// the end if the header is cut before it.
func cpuIndex(b []byte) int {
	i := 1
	if b[0]&wire.HasMetadataID != 0 {
		_, i = bin.Varuint32(b, i)
	}
	_, i = bin.Varuint32(b, i)
	_, i = bin.Varuint(b, i)
	return i
}

// AppendPreRelease is the inverse of [ParsePreRelease]: [AppendCompressedAs] without the processor number.
func AppendPreRelease(dst []byte, prev, h *wire.EventHeader, flags uint8) []byte {
	same := *h
	same.CPU = prev.CPU // so that it does not count as a change
	start := len(dst)
	dst = AppendCompressedAs(dst, prev, &same, flags)
	b := dst[start:]
	if b[0]&wire.HasCapture == 0 {
		return dst
	}
	i := cpuIndex(b)
	_, end := bin.Varuint32(b, i)
	return slices.Delete(dst, start+i, start+end)
}

// IsPreRelease reports whether the events of a compressed block, given with its header, are of a preview: whether they
// fit the block without the processor number and do not fit with it. Events fit if the last one ends with the block and
// all their times lie between the block's Min and Max, as is so for every event of every file that runtimes have
// written.
//
// sure reports whether that is certain: blocks without any processor number say nothing, and damaged ones fit neither
// way. Ask for each event block until one is sure, which the first one is in all known files. It reads the block twice
// and does not allocate.
func IsPreRelease(events []byte, h *wire.EventBlockHeader) (preview, sure bool) {
	released, preview := fits(events, h, false), fits(events, h, true)
	hasCapture := len(events) > 0 && events[0]&wire.HasCapture != 0
	return preview && !released, hasCapture && preview != released
}

func fits(b []byte, bounds *wire.EventBlockHeader, preRelease bool) bool {
	var h wire.EventHeader
	for len(b) > 0 {
		n := 0
		if preRelease {
			n = ParsePreRelease(b, &h)
		} else {
			n = ParseCompressed(b, &h)
		}
		if n <= 0 || int64(h.PayloadSize) > int64(len(b)-n) || h.Time < bounds.Min || h.Time > bounds.Max {
			return false
		}
		b = b[n+int(h.PayloadSize):]
	}
	return true
}
