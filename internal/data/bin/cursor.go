package bin

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A Cursor reads little-endian values from a byte slice. The zero value is an empty cursor.
//
// After the first error every getter returns zero, [Cursor.Len] is 0 and [Cursor.Err] returns that error. Byte slices
// that a Cursor returns are borrowed: they alias the slice given to [New]. A Cursor may be copied; the copies advance
// independently. It is not safe for concurrent use.
type Cursor struct {
	b     []byte
	i     int
	base  int64 // absolute offset of b[0]
	where string
	err   error
}

// New returns a cursor over b. base is the offset of b[0] in the decompressed input. Only [Cursor.Offset] and errors
// use it.
func New(b []byte, base int64) Cursor { return Cursor{b: b, base: base} }

// Len returns the number of unread bytes.
func (c *Cursor) Len() int { return len(c.b) - c.i }

// Offset returns the absolute offset of the next byte or, after an error, of the field that failed.
func (c *Cursor) Offset() int64 { return c.base + int64(c.i) }

// Err returns the first error, an [*Error], or nil.
func (c *Cursor) Err() error { return c.err }

// At sets the name of the next field for errors and returns c. The name is in effect until the next call of At, so a
// field of several reads needs one call.
func (c *Cursor) At(where string) *Cursor {
	c.where = where
	return c
}

// Fail records an error at the current offset and empties the cursor, unless the cursor has an error already. An empty
// where selects the name given to the last call of [Cursor.At].
func (c *Cursor) Fail(where string, err error) {
	if c.err != nil {
		return
	}
	if where == "" {
		where = c.where
	}
	c.err = &Error{Offset: c.Offset(), Where: where, Err: err}
	c.b = c.b[:c.i]
}

// take returns the next n bytes, or fails and returns nil. A negative n fails like one that is too large.
func (c *Cursor) take(n int) []byte {
	if uint(n) > uint(len(c.b)-c.i) {
		c.Fail("", ErrShort)
		return nil
	}
	p := c.b[c.i : c.i+n : c.i+n]
	c.i += n
	return p
}

// U8 reads one byte.
func (c *Cursor) U8() uint8 {
	if c.i >= len(c.b) {
		c.Fail("", ErrShort)
		return 0
	}
	v := c.b[c.i]
	c.i++
	return v
}

// U16 reads a uint16.
func (c *Cursor) U16() uint16 {
	if p := c.take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

// U32 reads a uint32.
func (c *Cursor) U32() uint32 {
	if p := c.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

// U64 reads a uint64.
func (c *Cursor) U64() uint64 {
	if p := c.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// I16 reads an int16.
func (c *Cursor) I16() int16 { return int16(c.U16()) }

// I32 reads an int32.
func (c *Cursor) I32() int32 { return int32(c.U32()) }

// I64 reads an int64.
func (c *Cursor) I64() int64 { return int64(c.U64()) }

// Varuint32 reads an LEB128 number of at most five bytes. Like TraceEvent, it drops bits above the 32nd and accepts
// encodings with redundant bytes. A sixth byte is [ErrOverflow].
func (c *Cursor) Varuint32() uint32 { return uint32(c.varuint(5)) }

// Varuint64 reads an LEB128 number of at most ten bytes. It drops bits above the 64th and accepts encodings with
// redundant bytes. An eleventh byte is [ErrOverflow].
func (c *Cursor) Varuint64() uint64 { return c.varuint(10) }

// Varint64 reads a zigzag-encoded number of at most ten bytes.
func (c *Cursor) Varint64() int64 {
	u := c.varuint(10)
	return int64(u>>1) ^ -int64(u&1)
}

func (c *Cursor) varuint(limit int) uint64 {
	var v uint64
	for i, b := range c.b[c.i:] {
		if i == limit {
			c.Fail("", overflow(limit))
			return 0
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			c.i += i + 1
			return v
		}
	}
	// Five or ten continuation bytes at the end of the input are an overflow, regardless of the next byte.
	if c.Len() >= limit {
		c.Fail("", overflow(limit))
	} else {
		c.Fail("", ErrShort)
	}
	return 0
}

// overflow returns the error of a number with more than limit bytes.
func overflow(limit int) error { return fmt.Errorf("%w: want at most %d bytes", ErrOverflow, limit) }

// GUID reads 16 bytes in file order. In a .NET Guid the first three groups are little-endian.
func (c *Cursor) GUID() (id [16]byte) {
	copy(id[:], c.take(16))
	return id
}

// Bytes returns the next n bytes, borrowed. A negative n is [ErrShort].
func (c *Cursor) Bytes(n int) []byte { return c.take(n) }

// Skip skips n bytes.
func (c *Cursor) Skip(n int) { c.take(n) }

// Rest returns all unread bytes, borrowed; nil if there are none.
func (c *Cursor) Rest() []byte {
	if c.Len() == 0 {
		return nil
	}
	return c.take(c.Len())
}

// Sub returns a cursor over the next n bytes and skips them. If they are missing, c fails and the returned cursor has
// the same error. A later error of the returned cursor does not affect c: the caller decides whether a corrupt row ends
// the block.
func (c *Cursor) Sub(n int) Cursor {
	start := c.Offset()
	p := c.take(n)
	return Cursor{b: p, base: start, where: c.where, err: c.err}
}

// lengthPrefix reads a varuint32 that is the number of the bytes that follow. If they are missing, it fails at the
// offset of the prefix.
func (c *Cursor) lengthPrefix() int {
	start := c.i
	n := c.Varuint32()
	if n > math.MaxInt32 || int(n) > c.Len() {
		c.i = start
		c.Fail("", ErrShort)
		return 0
	}
	return int(n)
}
