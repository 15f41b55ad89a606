package span

import (
	"encoding/binary"
	"encoding/hex"
	"math"
)

// A cursor reads a payload from pos. After the first error failed stays set, pos is at the end, every getter returns
// zero, and no list has elements.
type cursor struct {
	s   string
	pos int
	// wide selects the encoding of SpanPart data, in which lengths of lists and strings are varuints. Payloads of
	// events have 16-bit lengths.
	wide   bool
	failed bool
}

// fail ends the payload, so that every loop over it ends.
func (c *cursor) fail() { c.pos, c.failed = len(c.s), true }

// take returns the next n bytes, or "" if there are fewer.
func (c *cursor) take(n int) (s string) {
	if n < 0 || n > len(c.s)-c.pos {
		c.fail()
		return ""
	}
	s = c.s[c.pos : c.pos+n]
	c.pos += n
	return s
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != "" {
		return uint16(b[0]) | uint16(b[1])<<8
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != "" {
		return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
	}
	return 0
}

func (c *cursor) u64() uint64 {
	low := c.u32()
	return uint64(low) | uint64(c.u32())<<32
}

func (c *cursor) varuint() (n uint64) {
	for i := range len(c.s) - c.pos {
		b := c.s[c.pos+i]
		if i == binary.MaxVarintLen64-1 && b > 1 {
			break
		}
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			c.pos += i + 1
			return n
		}
	}
	c.fail()
	return 0
}

func (c *cursor) varint() int64 {
	n := c.varuint()
	return int64(n>>1) ^ -int64(n&1)
}

// small reads a varuint of at most 32 bits.
func (c *cursor) small() uint32 {
	n := c.varuint()
	if n > math.MaxUint32 {
		c.fail()
		return 0
	}
	return uint32(n)
}

// enum reads a varint of at most 32 bits.
func (c *cursor) enum() int32 {
	n := c.varint()
	if int64(int32(n)) != n {
		c.fail()
	}
	return int32(n)
}

// count reads the number of elements of a list. Each element has at least one byte, so a count that exceeds the
// remaining payload is an error, and the caller may allocate that many elements.
func (c *cursor) count() int {
	n := uint64(0)
	if c.wide {
		n = c.varuint()
	} else {
		n = uint64(c.u16())
	}
	if n > uint64(len(c.s)-c.pos) {
		c.fail()
		return 0
	}
	return int(n)
}

func (c *cursor) text() string { return c.take(c.count()) }

// id reads an ID into dst, which has the size of the ID and is zero.
func (c *cursor) id(dst []byte) {
	s := c.text()
	if s == "" {
		return
	}
	if len(s) != 2*len(dst) {
		c.fail()
		return
	}
	var digits [32]byte
	if _, err := hex.Decode(dst, digits[:copy(digits[:], s)]); err != nil {
		c.fail()
	}
}

// attributes appends a list to dst.
func (c *cursor) attributes(dst []Attribute) []Attribute {
	for n := c.count(); n > 0 && !c.failed; n-- {
		key, typ := c.text(), c.text()
		v, ok := parseValue(typ, c.text())
		if !ok {
			c.fail()
			break
		}
		dst = append(dst, Attribute{key, v})
	}
	return dst
}

// skipAttributes skips a list of attributes without decoding it.
func (c *cursor) skipAttributes() {
	for n := c.count(); n > 0 && !c.failed; n-- {
		c.text()
		c.text()
		c.text()
	}
}

func (c *cursor) strings() (list []string) {
	for n := c.count(); n > 0 && !c.failed; n-- {
		list = append(list, c.text())
	}
	return list
}

// flag reads a varuint of 0 or 1.
func (c *cursor) flag() bool {
	n := c.varuint()
	if n > 1 {
		c.fail()
	}
	return n == 1
}

// skipScope skips a Scope.
func (c *cursor) skipScope() {
	c.varuint()
	c.text()
	c.text()
	c.text()
	c.skipAttributes()
	c.varuint()
}

func (c *cursor) scope() *Scope {
	s := &Scope{Absent: c.flag(), Name: c.text(), Version: c.text(), SchemaURL: c.text()}
	s.Attributes = c.attributes(nil)
	s.DroppedAttributes = c.small()
	return s
}

// skipResource skips a Resource.
func (c *cursor) skipResource() {
	c.varuint()
	c.text()
	c.skipAttributes()
	c.varuint()
	for n := c.count(); n > 0 && !c.failed; n-- {
		c.text()
		c.text()
		for range 2 {
			for n := c.count(); n > 0 && !c.failed; n-- {
				c.text()
			}
		}
	}
}

func (c *cursor) resource() *Resource {
	r := &Resource{Absent: c.flag(), SchemaURL: c.text()}
	r.Attributes = c.attributes(nil)
	r.DroppedAttributes = c.small()
	for n := c.count(); n > 0 && !c.failed; n-- {
		r.Entities = append(r.Entities, Entity{c.text(), c.text(), c.strings(), c.strings()})
	}
	return r
}
