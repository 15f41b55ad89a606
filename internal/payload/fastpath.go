package payload

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/bin"
	"github.com/ntconv/ntconv/internal/jsonio"
)

// A fastPath converts one payload to JSON by the nodes of a plan. It gives up if the payload ends inside a field, and
// in all unusual cases; the caller then converts the values of ntconv.DecodeFields instead. Until then dst has grown by
// text that the caller must discard.
type fastPath struct {
	dst     []byte
	b       []byte           // payload
	off     int              // offset of the next value in b
	inexact bool             // the JSON of a value does not restore its bytes
	counts  [maxSlots]uint64 // values of members that count elements, by node.slot
}

func (p *fastPath) object(members []node) bool {
	start := len(p.dst)
	for i := range members {
		n := &members[i]
		if n.op == opPad {
			if !p.pad(int(n.size)) {
				return false
			}
			continue
		}
		p.dst = append(p.dst, n.key...)
		if !p.value(n) {
			return false
		}
	}
	p.dst = endObject(p.dst, start)
	return true
}

// endObject closes an object whose members begin at dst[start]. Each member was appended with its comma or the opening
// brace.
func endObject(dst []byte, start int) []byte {
	if len(dst) == start {
		dst = append(dst, '{')
	}
	return append(dst, '}')
}

// pad skips padding. The Decoder restores it as zeros.
func (p *fastPath) pad(size int) bool {
	if size > len(p.b)-p.off {
		return false
	}
	for _, c := range p.b[p.off : p.off+size] {
		p.inexact = p.inexact || c != 0
	}
	p.off += size
	return true
}

func (p *fastPath) value(n *node) bool {
	if size := int(n.size); size > 0 {
		if size > len(p.b)-p.off {
			return false
		}
		b := p.b[p.off : p.off+size]
		p.off += size
		if n.op <= opInt {
			p.integer(n, number(n, b))
		} else {
			p.scalar(n, b)
		}
		return true
	}
	exact := true
	rest := p.b[p.off:]
	switch n.op {
	case opUTF16:
		text, after, ok := bin.CutUTF16(rest)
		if !ok {
			return false
		}
		p.off = len(p.b) - len(after)
		p.dst, exact = jsonio.AppendUTF16(p.dst, text)
	case opLatin1:
		end := bytes.IndexByte(rest, 0)
		if end < 0 {
			return false
		}
		p.off += end + 1
		p.dst = jsonio.AppendLatin1(p.dst, rest[:end])
	case opVarInt, opVarUint:
		return p.varint(n, rest)
	case opRest:
		p.off = len(p.b)
		p.dst = appendHex(p.dst, rest)
	case opObject:
		return p.object(n.members)
	case opArray:
		if len(rest) < 2 {
			return false
		}
		p.off += 2
		return p.elems(n.elem, uint64(binary.LittleEndian.Uint16(rest)))
	case opFixed:
		return p.elems(n.elem, uint64(n.count))
	case opCounted:
		return p.elems(n.elem, p.counts[n.count])
	default:
		return false
	}
	p.inexact = p.inexact || !exact
	return true
}

// number returns the little-endian number in b, sign-extended if the node is signed.
func number(n *node, b []byte) uint64 {
	switch len(b) {
	case 8:
		return binary.LittleEndian.Uint64(b)
	case 4:
		if n.op == opInt {
			return uint64(int32(binary.LittleEndian.Uint32(b)))
		}
		return uint64(binary.LittleEndian.Uint32(b))
	case 2:
		if n.op == opInt {
			return uint64(int16(binary.LittleEndian.Uint16(b)))
		}
		return uint64(binary.LittleEndian.Uint16(b))
	}
	if n.op == opInt {
		return uint64(int8(b[0]))
	}
	return uint64(b[0])
}

// integer appends an integer, and stores it if a later member counts its elements with it.
func (p *fastPath) integer(n *node, u uint64) {
	if n.slot >= 0 {
		p.counts[n.slot] = u
	}
	if n.op == opInt || n.op == opVarInt {
		p.dst = jsonio.AppendInt(p.dst, int64(u))
	} else {
		p.dst = jsonio.AppendUint(p.dst, u)
	}
}

func (p *fastPath) varint(n *node, rest []byte) bool {
	u, used := binary.Uvarint(rest)
	if used <= 0 {
		return false
	}
	p.off += used
	p.inexact = p.inexact || used > 1 && rest[used-1] == 0 // not the shortest encoding of the number
	if n.op == opVarInt {
		u = uint64(int64(u>>1) ^ -int64(u&1))
	}
	p.integer(n, u)
	return true
}

// scalar appends a value of fixed size that is not an integer.
func (p *fastPath) scalar(n *node, b []byte) {
	exact := true
	switch n.op {
	case opFloat:
		p.float(b)
	case opBool:
		u := number(n, b)
		p.dst, exact = strconv.AppendBool(p.dst, u != 0), u <= 1
	case opTime:
		p.dst, exact = appendTime(p.dst, binary.LittleEndian.Uint64(b))
	case opGUID:
		p.dst = append(ntconv.GUID(b).Append(append(p.dst, '"')), '"')
	case opUnit8:
		p.dst = jsonio.AppendLatin1(p.dst, b)
	case opUnit16:
		p.dst, exact = jsonio.AppendUTF16(p.dst, b)
	case opDecimal:
		p.dst = appendHex(p.dst, b)
	}
	p.inexact = p.inexact || !exact
}

func (p *fastPath) float(b []byte) {
	if len(b) == 4 {
		bits := binary.LittleEndian.Uint32(b)
		f := math.Float32frombits(bits)
		p.dst = jsonio.AppendFloat(p.dst, float64(f), 32)
		p.inexact = p.inexact || f != f && bits != nan32
		return
	}
	bits := binary.LittleEndian.Uint64(b)
	f := math.Float64frombits(bits)
	p.dst = jsonio.AppendFloat(p.dst, f, 64)
	p.inexact = p.inexact || f != f && bits != nan64
}

// elems appends elements: a string for code units, hexadecimal digits for unsigned bytes, and otherwise a list.
func (p *fastPath) elems(elem *node, count uint64) bool {
	left := uint64(len(p.b) - p.off)
	if count > left { // an element has at least one byte
		return false
	}
	if elem.op == opUnit16 || elem.op == opUnit8 || elem.op == opUint && elem.size == 1 {
		size := count * uint64(elem.size)
		if size > left {
			return false
		}
		p.text(elem, p.b[p.off:p.off+int(size)])
		p.off += int(size)
		return true
	}
	p.dst = append(p.dst, '[')
	for i := range count {
		if i > 0 {
			p.dst = append(p.dst, ',')
		}
		if !p.value(elem) {
			return false
		}
	}
	p.dst = append(p.dst, ']')
	return true
}

// text appends the code units or bytes of an array.
func (p *fastPath) text(elem *node, b []byte) {
	exact := true
	switch elem.op {
	case opUnit16:
		p.dst, exact = jsonio.AppendUTF16(p.dst, b)
	case opUnit8:
		p.dst, exact = jsonio.AppendString(p.dst, b)
	default:
		p.dst = appendHex(p.dst, b)
	}
	p.inexact = p.inexact || !exact
}

func appendHex(dst, b []byte) []byte {
	return append(hex.AppendEncode(append(dst, `"hex:`...), b), '"')
}
