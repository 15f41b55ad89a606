package bin

import (
	"encoding/binary"
	"math"
)

// CutField returns the first field of a protobuf message that is not empty, and the rest of the message. number is that
// of the field, or 0 if the message is invalid; the other results are then zero. n is the value of a varint or of a
// number with a fixed size. text is that of a string, of bytes or of a nested message; it is not nil and aliases b.
// Groups, which are obsolete, are invalid.
func CutField(b []byte) (number int, n uint64, text, rest []byte) {
	const number64, nested = 1, 2
	if len(b) > 1 && b[0] >= 1<<3 && b[0] < 0x80 { // fast paths of fields with small numbers
		switch {
		case b[0]&7 == nested && b[1] < 0x80 && int(b[1]) <= len(b)-2:
			end := 2 + int(b[1])
			return int(b[0] >> 3), 0, b[2:end:end], b[end:]
		case b[0]&7 == number64 && len(b) > 8:
			return int(b[0] >> 3), binary.LittleEndian.Uint64(b[1:]), nil, b[9:]
		}
	}
	r := Reader{B: b}
	tag := r.Uvarint()
	switch tag & 7 {
	case 0:
		n = r.Uvarint()
	case number64:
		n = uint64(r.Uint32()) | uint64(r.Uint32())<<32
	case nested:
		text = r.Bytes(int(min(r.Uvarint(), math.MaxInt)))
	case 5:
		n = uint64(r.Uint32())
	default:
		r.fail()
	}
	const maxNumber = 1<<29 - 1
	if tag >>= 3; tag == 0 || tag > maxNumber || r.Failed {
		return 0, 0, nil, nil
	}
	return int(tag), n, text, r.B
}
