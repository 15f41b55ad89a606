package bin

// Varuint decodes the LEB128 number at b[i:] and returns it with the index behind it. It is [Cursor.Varuint64] for the one
// place where a cursor is too slow: compressed event headers. If the number is cut or has more than ten bytes, the index is
// len(b)+1, and an index beyond the end is handed on, so that a run of calls needs one check at the end.
//
// It fits the compiler's budget for inlining, which is what makes it fast.
func Varuint(b []byte, i int) (v uint64, end int) {
	if i < len(b) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	for n := uint(0); i < len(b) && n < 70; n += 7 {
		v |= uint64(b[i]&0x7f) << (n & 63)
		i++
		if b[i-1] < 0x80 {
			return v, i
		}
	}
	return 0, len(b) + 1
}

// Varuint32 is [Varuint] for numbers of at most five bytes, of which bits above the 32nd are dropped.
func Varuint32(b []byte, i int) (v uint32, end int) {
	if i < len(b) && b[i] < 0x80 {
		return uint32(b[i]), i + 1
	}
	for n := uint(0); i < len(b) && n < 35; n += 7 {
		v |= uint32(b[i]&0x7f) << (n & 63)
		i++
		if b[i-1] < 0x80 {
			return v, i
		}
	}
	return 0, len(b) + 1
}
