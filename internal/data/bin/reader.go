package bin

import (
	"encoding/binary"
	"math"
)

// A Reader reads a record or payload. Unlike a [Cursor] it has no error: after the first failure, Failed stays set, B
// is empty and all getters return zero. Byte slices that it returns alias B.
type Reader struct {
	B      []byte // what is unread
	Failed bool
}

func (r *Reader) fail() { r.B, r.Failed = nil, true }

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if len(r.B) == 0 {
		r.fail()
		return 0
	}
	v := r.B[0]
	r.B = r.B[1:]
	return v
}

// Uvarint reads an LEB128 number as encoding/binary does. Numbers of one byte, the usual case, take a fast path.
func (r *Reader) Uvarint() uint64 {
	if len(r.B) > 0 && r.B[0] < 0x80 {
		v := r.B[0]
		r.B = r.B[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Uvarint32 reads an LEB128 number that must fit into 32 bits.
func (r *Reader) Uvarint32() uint32 {
	v := r.Uvarint()
	if v > math.MaxUint32 {
		r.fail()
		return 0
	}
	return uint32(v)
}

// Varint reads a zigzag-encoded number.
func (r *Reader) Varint() int64 {
	v := r.Uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// Bytes returns the next n bytes. It fails and returns nil if there are fewer, or if n is negative.
func (r *Reader) Bytes(n int) []byte {
	if uint(n) > uint(len(r.B)) {
		r.fail()
		return nil
	}
	b := r.B[:n:n]
	r.B = r.B[n:]
	return b
}

// Uint16 reads a number of 2 bytes, little-endian.
func (r *Reader) Uint16() uint16 {
	if b := r.Bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// Uint32 reads a number of 4 bytes, little-endian.
func (r *Reader) Uint32() uint32 {
	if b := r.Bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// Text returns the bytes after their number in 16 bits. It fails and returns nil if there are fewer.
func (r *Reader) Text() []byte {
	return r.Bytes(int(r.Uint16()))
}

// Rest returns the unread bytes without reading them, or nil if there are none.
func (r *Reader) Rest() []byte {
	if len(r.B) == 0 {
		return nil
	}
	return r.B
}
