package assembly

import "github.com/ntconv/ntconv/internal/events/clr"

// Versions of the format that changed the encoding of debug information (readytorun.h).
const (
	packedMajor = 16 // the points of a method have a fixed number of bits
	fatMajor    = 17 // a header with more sizes, a third bit of the source
)

const (
	ilBias    = -3      // clr.Epilog is stored as 0
	maxPoints = 1 << 16 // of a method; events count them in 16 bits
)

// Points returns how the code of a method maps to its intermediate language, sorted. It returns nil if the image does
// not have this information.
func (img *NativeImage) Points(m NativeMethod) []clr.ILPoint {
	at, ok := img.debug.at(m.function)
	if !ok {
		return nil
	}
	b := img.debug.data
	back, next, ok := decode(b, at)
	if !ok || back > at {
		return nil
	}
	if back != 0 { // shared with an earlier method
		next = at - back
	}
	n := newNibbles(b, next)
	size := n.uint()
	if size == 0 && img.Major >= fatMajor {
		size = n.uint()
		for range 4 {
			n.uint()
		}
	}
	n.uint() // bytes of variables
	if start := n.align(); n.ok && size > 0 && uint64(start)+uint64(size) <= uint64(len(b)) {
		b = b[start : start+size]
		if img.Major >= packedMajor {
			return packedPoints(b, img.Major)
		}
		return nibblePoints(b)
	}
	return nil
}

// packedPoints reads points of fixed size: the bits of the source, the distance to the native offset before, and the
// offset in the intermediate language.
func packedPoints(b []byte, major uint16) []clr.ILPoint {
	n := newNibbles(b, 0)
	count, nativeBits, ilBits, sourceBits := n.uint(), n.uint()+1, n.uint()+1, uint32(2)
	if major >= fatMajor {
		sourceBits = 3
	}
	total := uint64(nativeBits) + uint64(ilBits) + uint64(sourceBits)
	first := 8 * uint64(n.align())
	if !n.ok || nativeBits > 32 || ilBits > 32 || count > maxPoints || first+uint64(count)*total > 8*uint64(len(b)) {
		return nil
	}
	points := make([]clr.ILPoint, 0, count)
	native := uint32(0)
	for at := first; len(points) < int(count); at += total {
		delta, _ := readBits(b, at+uint64(sourceBits), nativeBits)
		il, _ := readBits(b, at+uint64(sourceBits)+uint64(nativeBits), ilBits)
		native += uint32(delta)
		points = append(points, clr.ILPoint{Native: native, IL: signed(uint32(il), ilBias)})
	}
	clr.SortILMap(points)
	return points
}

// nibblePoints reads points that are numbers of half bytes.
func nibblePoints(b []byte) []clr.ILPoint {
	n := newNibbles(b, 0)
	count := n.uint()
	if !n.ok || count > maxPoints || uint64(count)*3 > 2*uint64(len(b)) { // a number takes at least half a byte
		return nil
	}
	points := make([]clr.ILPoint, 0, count)
	native := uint32(0)
	for range count {
		native += n.uint()
		il := signed(n.uint(), ilBias)
		n.uint() // source
		if !n.ok {
			return nil
		}
		points = append(points, clr.ILPoint{Native: native, IL: il})
	}
	clr.SortILMap(points)
	return points
}
