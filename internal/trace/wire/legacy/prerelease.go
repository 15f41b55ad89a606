package legacy

import (
	"slices"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// Files of .NET Core 3.0 previews contain the version number 4, but their compressed headers lack the CPU number. The
// rules of the release read wrong values from them: the thread ID as the CPU, the stack ID as the thread.

// noCPU is the encoding of [wire.NoCPU] in a compressed header.
var noCPU = [...]byte{0xff, 0xff, 0xff, 0xff, 0x0f}

// ParsePreRelease is [ParseCompressed] for files of previews. It sets CPU to [wire.NoCPU] if a header of the release
// would contain the CPU.
func ParsePreRelease(b []byte, h *wire.EventHeader) int {
	if len(b) == 0 || b[0]&wire.HasCapture == 0 {
		return ParseCompressed(b, h)
	}
	i := cpuIndex(b)
	if i > len(b) {
		return 0
	}
	// Insert the missing field and call the decoder of the release.
	var whole [128]byte
	n := copy(whole[:], b[:i])
	n += copy(whole[n:], noCPU[:])
	n += copy(whole[n:], b[i:])
	return max(0, ParseCompressed(whole[:n], h)-len(noCPU))
}

// cpuIndex returns the position of the CPU number in a header that has [wire.HasCapture], or the position where it is
// missing. The result is beyond the end if b ends before it.
func cpuIndex(b []byte) int {
	i := 1
	if b[0]&wire.HasMetadataID != 0 {
		_, i = bin.Varuint32(b, i)
	}
	_, i = bin.Varuint32(b, i)
	_, i = bin.Varuint(b, i)
	return i
}

// AppendPreRelease is the inverse of [ParsePreRelease]: [AppendCompressedAs] without the CPU number.
func AppendPreRelease(dst []byte, prev, h *wire.EventHeader, flags uint8) []byte {
	same := *h
	same.CPU = prev.CPU // so that it is not a change
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

// IsPreRelease reports whether a preview wrote the events of a compressed block, given with its header: they fit the
// block without the CPU number and do not fit with it. Events fit if the last one ends with the block and all their
// times are between Min and Max of the block, as in every known file of a runtime.
//
// sure reports whether preview is certain. A block without any CPU number fits both ways, and a corrupt block fits
// neither way. Call IsPreRelease for each event block until it is sure; in all known files the first block suffices. It
// reads the block twice and does not allocate.
func IsPreRelease(events []byte, h *wire.EventBlockHeader) (preview, sure bool) {
	released, preview := fits(events, h, false), fits(events, h, true)
	hasCapture := len(events) > 0 && events[0]&wire.HasCapture != 0
	return preview && !released, hasCapture && preview != released
}

// fits reports whether the events of a block fit it, with the headers of a preview or of the release.
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
