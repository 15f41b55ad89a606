package clr

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Offsets in IL that have another meaning (cordebuginfo.h of dotnet/runtime, MappingTypes).
const (
	NoILOffset = -1 // code without a source
	Prolog     = -2
	Epilog     = -3
)

// A Point states that the code from a native offset up to the next point was compiled from the IL at an offset.
type ILPoint struct {
	Native uint32 // byte offset from the first byte of the method's code
	IL     int32  // byte offset in the method's IL, or one of the constants
}

// SortILMap sorts points by native offset, as IL needs them. At equal native offsets a point with an IL offset comes last,
// and of several such points the one with the least offset: the statement begins there.
func SortILMap(points []ILPoint) {
	slices.SortStableFunc(points, func(a, b ILPoint) int {
		return cmp.Or(cmp.Compare(a.Native, b.Native), cmp.Compare(order(a.IL), order(b.IL)))
	})
}

func order(il int32) int64 {
	if il < 0 {
		return -1 << 32
	}
	return -int64(il)
}

// ILOffset returns the IL offset of the instruction at a native offset. points must be sorted. Code without a mapping belongs
// to the last IL offset before it, and the prolog to offset 0. It returns false if no point covers the offset.
func ILOffset(points []ILPoint, native uint32) (int32, bool) {
	i, found := slices.BinarySearchFunc(points, native, func(p ILPoint, at uint32) int { return cmp.Compare(p.Native, at) })
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

// AppendILMap appends sorted points to dst in a compact form, most of them in 2 bytes, with their number first.
func AppendILMap(dst []byte, points []ILPoint) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(points)))
	var last ILPoint
	for _, p := range points {
		dst = binary.AppendUvarint(dst, uint64(p.Native-last.Native))
		dst = binary.AppendVarint(dst, int64(p.IL)-int64(last.IL))
		last = p
	}
	return dst
}

// DecodeILMap appends the points that Append wrote at the beginning of b to dst.
func DecodeILMap(dst []ILPoint, b []byte) []ILPoint {
	n, size := binary.Uvarint(b)
	var last ILPoint
	for ; n > 0 && size > 0; n-- {
		b = b[size:]
		native, used := binary.Uvarint(b)
		il, more := binary.Varint(b[max(used, 0):])
		if used <= 0 || more <= 0 {
			break
		}
		size = used + more
		last = ILPoint{last.Native + uint32(native), last.IL + int32(il)}
		dst = append(dst, last)
	}
	return dst
}
