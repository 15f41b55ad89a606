// Package ilmap maps offsets in native code to offsets in the intermediate language (IL) of .NET that it was compiled
// from, as the just-in-time compiler records them in events and precompiled images.
package ilmap

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Offsets in IL that have another meaning (cordebuginfo.h of dotnet/runtime, MappingTypes).
const (
	NoMapping = -1 // code without a source
	Prolog    = -2
	Epilog    = -3
)

// A Point states that the code from a native offset up to the next point was compiled from the IL at an offset.
type Point struct {
	Native uint32 // byte offset from the first byte of the method's code
	IL     int32  // byte offset in the method's IL, or one of the constants
}

// Sort sorts points by native offset, as IL needs them. At equal native offsets a point with an IL offset comes last,
// and of several such points the one with the least offset: the statement begins there.
func Sort(points []Point) {
	slices.SortStableFunc(points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Native, b.Native), cmp.Compare(order(a.IL), order(b.IL)))
	})
}

func order(il int32) int64 {
	if il < 0 {
		return -1 << 32
	}
	return -int64(il)
}

// IL returns the IL offset of the instruction at a native offset. points must be sorted. Code without a mapping belongs
// to the last IL offset before it, and the prolog to offset 0. It returns false if no point covers the offset.
func IL(points []Point, native uint32) (int32, bool) {
	i, found := slices.BinarySearchFunc(points, native, func(p Point, at uint32) int { return cmp.Compare(p.Native, at) })
	if found {
		for i+1 < len(points) && points[i+1].Native == native {
			i++
		}
	} else {
		i--
	}
	for ; i >= 0; i-- {
		switch il := points[i].IL; {
		case il >= 0:
			return il, true
		case il == Prolog:
			return 0, true
		}
	}
	return 0, false
}

// Append appends sorted points to dst in a compact form, most of them in 2 bytes, with their number first.
func Append(dst []byte, points []Point) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(points)))
	var last Point
	for _, p := range points {
		dst = binary.AppendUvarint(dst, uint64(p.Native-last.Native))
		dst = binary.AppendVarint(dst, int64(p.IL)-int64(last.IL))
		last = p
	}
	return dst
}

// Decode appends the points that Append wrote at the beginning of b to dst.
func Decode(dst []Point, b []byte) []Point {
	n, size := binary.Uvarint(b)
	var last Point
	for ; n > 0 && size > 0; n-- {
		b = b[size:]
		native, used := binary.Uvarint(b)
		il, more := binary.Varint(b[max(used, 0):])
		if used <= 0 || more <= 0 {
			break
		}
		size = used + more
		last = Point{last.Native + uint32(native), last.IL + int32(il)}
		dst = append(dst, last)
	}
	return dst
}
