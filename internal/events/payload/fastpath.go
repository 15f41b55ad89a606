package payload

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/data/jsonio"
	"github.com/ntconv/ntconv/internal/events/layout"
)

// A fastPath converts one payload to JSON by the nodes of a plan. It gives up if the payload ends inside a field, and
// in all unusual cases; the caller then converts the values of ntconv.DecodeFields instead. Until then dst has grown by
// text that the caller must discard.
type fastPath struct {
	dst     []byte
	b       []byte        // payload
	off     int           // offset of the next value in b
	inexact bool          // the JSON of a value does not restore its bytes
	limit   int           // maximum length of dst before an element of a list
	counts  layout.Counts // values of members that count elements, by Node.Slot
}

func (p *fastPath) object(members []node) bool {
	start := len(p.dst)
	for i := range members {
		n := &members[i]
		if n.Op == layout.Pad {
			if !p.pad(int(n.Size)) {
				return false
			}
			continue
		}
		p.dst = append(p.dst, n.Info.key...)
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
	rest := p.b[p.off:]
	if size := int(n.Size); size > 0 {
		if size > len(rest) {
			return false
		}
		p.off += size
		if n.Op <= layout.Int {
			p.integer(n, layout.Number(n.Op, rest[:size]))
		} else {
			p.leaf(n, rest[:size])
		}
		return true
	}
	switch n.Op {
	case layout.UTF16: // of the other values without a fixed size, the most frequent
		text, after, ok := bin.CutUTF16(rest)
		if !ok {
			return false
		}
		p.off = len(p.b) - len(after)
		var exact bool
		p.dst, exact = jsonio.AppendUTF16(p.dst, text)
		p.inexact = p.inexact || !exact
		return true
	case layout.VarInt, layout.VarUint:
		u, size := layout.Varint(n.Op, rest)
		if size <= 0 {
			return false
		}
		p.off += size
		p.inexact = p.inexact || size > 1 && rest[size-1] == 0 // not the shortest encoding of the number
		p.integer(n, u)
		return true
	case layout.Object:
		return p.object(n.Members)
	case layout.Array, layout.Fixed, layout.Counted:
		count, size, ok := n.Len(rest, &p.counts)
		p.off += size
		return ok && p.elems(n.Elem, count)
	}
	b, size, ok := n.Leaf(rest)
	if ok {
		p.off += size
		p.leaf(n, b)
	}
	return ok
}

// integer appends an integer, and stores it if a later member counts its elements with it.
func (p *fastPath) integer(n *node, u uint64) {
	if n.Slot >= 0 {
		p.counts[n.Slot] = u
	}
	if n.Op == layout.Int || n.Op == layout.VarInt {
		p.dst = jsonio.AppendInt(p.dst, int64(u))
	} else {
		p.dst = jsonio.AppendUint(p.dst, u)
	}
}

// leaf appends a value that is neither an integer of fixed size nor has elements.
func (p *fastPath) leaf(n *node, b []byte) {
	exact := true
	switch n.Op {
	case layout.Unit16:
		p.dst, exact = jsonio.AppendUTF16(p.dst, b)
	case layout.Latin1, layout.Unit8:
		p.dst = jsonio.AppendLatin1(p.dst, b)
	case layout.Float:
		p.float(b)
	case layout.Bool:
		u := layout.Number(n.Op, b)
		p.dst, exact = strconv.AppendBool(p.dst, u != 0), u <= 1
	case layout.Time:
		p.dst, exact = appendTime(p.dst, layout.Number(n.Op, b))
	case layout.GUID:
		p.dst = append(ntconv.GUID(b).Append(append(p.dst, '"')), '"')
	case layout.Rest, layout.Decimal:
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
	if elem.Op == layout.Unit16 || elem.Op == layout.Unit8 || elem.Op == layout.Uint && elem.Size == 1 {
		size := count * uint64(elem.Size)
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
		if len(p.dst) > p.limit || !p.value(elem) {
			return false
		}
	}
	p.dst = append(p.dst, ']')
	return true
}

// text appends the code units or bytes of an array.
func (p *fastPath) text(elem *node, b []byte) {
	exact := true
	switch elem.Op {
	case layout.Unit16:
		p.dst, exact = jsonio.AppendUTF16(p.dst, b)
	case layout.Unit8:
		p.dst, exact = jsonio.AppendString(p.dst, b)
	default:
		p.dst = appendHex(p.dst, b)
	}
	p.inexact = p.inexact || !exact
}

func appendHex(dst, b []byte) []byte {
	return append(hex.AppendEncode(append(dst, `"hex:`...), b), '"')
}
