package stored

import (
	"encoding/binary"
	"encoding/hex"
	"math"

	"github.com/ntconv/ntconv/internal/span"
)

// A Cursor reads a payload from pos. After the first error failed stays set, pos is at the end, every getter returns
// zero, and no list has elements.
type Cursor struct {
	s   string
	pos int
	// wide selects the encoding of the data of parts, in which lengths of lists and strings are varuints. Payloads of
	// events have 16-bit lengths.
	wide   bool
	failed bool
	// attributes of the lists of an item; see Attributes.
	attributes []span.Attribute
}

// done reports whether the payload is valid and has been read completely.
func (c *Cursor) done() bool { return !c.failed && c.pos == len(c.s) }

// Failed reports whether the payload is invalid, or an invalid value was read.
func (c *Cursor) Failed() bool { return c.failed }

// fail ends the payload, so that every loop over it ends.
func (c *Cursor) fail() { c.pos, c.failed = len(c.s), true }

// take returns the next n bytes, or "" if there are fewer.
func (c *Cursor) take(n int) (s string) {
	if n < 0 || n > len(c.s)-c.pos {
		c.fail()
		return ""
	}
	s = c.s[c.pos : c.pos+n]
	c.pos += n
	return s
}

func (c *Cursor) u16() uint16 {
	if b := c.take(2); b != "" {
		return uint16(b[0]) | uint16(b[1])<<8
	}
	return 0
}

// Uint32 reads a number of 4 bytes.
func (c *Cursor) Uint32() uint32 {
	if b := c.take(4); b != "" {
		return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
	}
	return 0
}

// Uint64 reads a number of 8 bytes.
func (c *Cursor) Uint64() uint64 {
	low := c.Uint32()
	return uint64(low) | uint64(c.Uint32())<<32
}

// Varuint reads an unsigned number of variable length.
func (c *Cursor) Varuint() (n uint64) {
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

// Varint reads a signed number of variable length.
func (c *Cursor) Varint() int64 {
	n := c.Varuint()
	return int64(n>>1) ^ -int64(n&1)
}

// Small reads a varuint of at most 32 bits.
func (c *Cursor) Small() uint32 {
	n := c.Varuint()
	if n > math.MaxUint32 {
		c.fail()
		return 0
	}
	return uint32(n)
}

// Enum reads a varint of at most 32 bits.
func (c *Cursor) Enum() int32 {
	n := c.Varint()
	if int64(int32(n)) != n {
		c.fail()
	}
	return int32(n)
}

// Count reads the number of elements of a list. Each element has at least one byte, so a count that exceeds the
// remaining payload is an error, and the caller may allocate that many elements.
func (c *Cursor) Count() int {
	n := uint64(0)
	if c.wide {
		n = c.Varuint()
	} else {
		n = uint64(c.u16())
	}
	if n > uint64(len(c.s)-c.pos) {
		c.fail()
		return 0
	}
	return int(n)
}

// Text reads a string, a substring of the payload.
func (c *Cursor) Text() string { return c.take(c.Count()) }

// ID reads an ID into dst, which has the size of the ID and is zero.
func (c *Cursor) ID(dst []byte) {
	s := c.Text()
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

// Attributes reads a list of attributes and the number of attributes that were dropped from it. All lists of an item
// share one array. When the array grows, earlier lists keep referring to the old array, which stays valid.
func (c *Cursor) Attributes() (list []span.Attribute, dropped uint32) {
	from := len(c.attributes)
	c.attributes = c.appendAttributes(c.attributes)
	return c.attributes[from:len(c.attributes):len(c.attributes)], c.Small()
}

// Value reads a value: its type and its text form.
func (c *Cursor) Value() span.Value {
	typ := c.Text()
	v, ok := span.ParseValue(typ, c.Text())
	if !ok {
		c.fail()
	}
	return v
}

// appendAttributes appends a list to dst.
func (c *Cursor) appendAttributes(dst []span.Attribute) []span.Attribute {
	for n := c.Count(); n > 0 && !c.failed; n-- {
		key := c.Text()
		v := c.Value()
		if c.failed {
			break
		}
		dst = append(dst, span.Attribute{Key: key, Value: v})
	}
	return dst
}

// skipAttributes skips a list of attributes without decoding it.
func (c *Cursor) skipAttributes() {
	for n := c.Count(); n > 0 && !c.failed; n-- {
		c.Text()
		c.Text()
		c.Text()
	}
}

func (c *Cursor) strings() (list []string) {
	for n := c.Count(); n > 0 && !c.failed; n-- {
		list = append(list, c.Text())
	}
	return list
}

// Flag reads a varuint of 0 or 1.
func (c *Cursor) Flag() bool {
	n := c.Varuint()
	if n > 1 {
		c.fail()
	}
	return n == 1
}

// skipScope skips a Scope.
func (c *Cursor) skipScope() {
	c.Varuint()
	c.Text()
	c.Text()
	c.Text()
	c.skipAttributes()
	c.Varuint()
}

func (c *Cursor) scope() *span.Scope {
	s := &span.Scope{Absent: c.Flag(), Name: c.Text(), Version: c.Text(), SchemaURL: c.Text()}
	s.Attributes = c.appendAttributes(nil)
	s.DroppedAttributes = c.Small()
	return s
}

// skipResource skips a Resource.
func (c *Cursor) skipResource() {
	c.Varuint()
	c.Text()
	c.skipAttributes()
	c.Varuint()
	for n := c.Count(); n > 0 && !c.failed; n-- {
		c.Text()
		c.Text()
		for range 2 {
			for n := c.Count(); n > 0 && !c.failed; n-- {
				c.Text()
			}
		}
	}
}

func (c *Cursor) resource() *span.Resource {
	r := &span.Resource{Absent: c.Flag(), SchemaURL: c.Text()}
	r.Attributes = c.appendAttributes(nil)
	r.DroppedAttributes = c.Small()
	for n := c.Count(); n > 0 && !c.failed; n-- {
		r.Entities = append(r.Entities, span.Entity{SchemaURL: c.Text(), Type: c.Text(), IDKeys: c.strings(), DescriptionKeys: c.strings()})
	}
	return r
}
