package elfsym

import "encoding/binary"

// A cursor reads DWARF and Go tables. A read past the end yields 0 and sets failed.
type cursor struct {
	b      []byte
	order  binary.ByteOrder
	failed bool
}

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.b, c.failed = nil, true
		return nil
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

func (c *cursor) u8() uint8 {
	if b := c.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.bytes(2); b != nil {
		return c.order.Uint16(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.bytes(4); b != nil {
		return c.order.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.bytes(8); b != nil {
		return c.order.Uint64(b)
	}
	return 0
}

// uleb reads an unsigned LEB128 number. Bits beyond 64 are ignored, as by debug/dwarf.
func (c *cursor) uleb() (v uint64) {
	for shift := uint(0); ; shift += 7 {
		b := c.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 || c.failed {
			return v
		}
	}
}

// text skips a string that ends with NUL.
func (c *cursor) text() {
	for c.u8() != 0 && !c.failed {
	}
}

// length reads the initial length of a DWARF unit (DWARF 5, section 7.4) and returns its content.
func (c *cursor) length() (unit cursor, wide bool) {
	n := uint64(c.u32())
	if n == 0xffffffff {
		n, wide = c.u64(), true
	}
	return cursor{b: c.bytes(n), order: c.order}, wide
}

// offset reads an offset in a section.
func (c *cursor) offset(wide bool) uint64 {
	if wide {
		return c.u64()
	}
	return uint64(c.u32())
}
