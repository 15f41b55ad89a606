package scrub

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/layout"
)

// A walker replaces the text of one payload after the other. Its output has the size of its input.
//
// The walker decodes as Event.Fields does. Bytes that it does not decode become zero: those after the last field, after
// the first field that cannot be decoded, and between the elements of locations. If locations overlap, a byte that is
// part of a text is replaced even if it is also part of a number.
type walker struct {
	*rewriter
	tally *tally

	plan    *plan
	in      []byte
	out     []byte
	dirty   bool // out is in use
	probe   bool // only measure
	failed  bool
	wide    bool // lengths of arrays are variable-length numbers, as in the parts of spans
	off     int
	end     int
	state   []uint8 // by byte, for payloads with locations: unused, kept or replaced
	charge  int     // bytes that further locations may have
	counts  layout.Counts
	text    []byte // the latest text
	pairKey []byte // the latest key of a pair
	buf     []byte
	class   *class // replaces the class of texts, in the value of a pair
}

const (
	byteUnused = iota
	byteKept
	byteReplaced
)

// payload returns the payload of an event with its texts replaced. It is payload itself if nothing changes, and
// otherwise valid until the next call.
func (w *walker) payload(p *plan, payload []byte) []byte {
	if p.fixed == len(payload) {
		return payload
	}
	w.plan, w.in, w.dirty, w.class = p, payload, false, nil
	l := p.layout
	if p.short != nil && !w.even(l) && w.even(p.short) {
		l = p.short
	}
	w.begin()
	w.charge = bin.MaxLocated(len(payload))
	if l.Located {
		w.state = append(w.state[:0], make([]uint8, len(payload))...)
	}
	w.members(l.Members, nil)
	if l.Located {
		w.unused()
	} else if w.failed || w.off < len(payload) {
		w.zero(w.off, len(payload))
	}
	if w.dirty {
		return w.out
	}
	return payload
}

func (w *walker) begin() { w.off, w.end, w.failed = 0, len(w.in), false }

// even reports whether the fields consume the whole payload with the sizes of a layout.
func (w *walker) even(l *layout.Layout[treatment]) bool {
	w.probe = true
	w.begin()
	complete := w.members(l.Members, nil)
	w.probe = false
	return complete && !w.failed && w.off == len(w.in)
}

// unused zeroes the bytes that no field and no location has.
func (w *walker) unused() {
	for i := 0; i < len(w.state); {
		if w.state[i] != byteUnused {
			i++
			continue
		}
		k := i
		for k < len(w.state) && w.state[k] == byteUnused {
			k++
		}
		w.zero(i, k)
		i = k
	}
}

// zero zeroes bytes that are not decoded, unless they are zero already.
func (w *walker) zero(from, to int) {
	c := w.policy.class(classUndecoded)
	if c.action == actionKeep || len(bytes.Trim(w.in[from:to], "\x00")) == 0 {
		return
	}
	w.write()
	clear(w.out[from:to])
	w.tally.count(w.plan.tail, c, true)
}

// write makes out a copy of the payload.
func (w *walker) write() {
	if !w.dirty {
		w.out, w.dirty = append(w.out[:0], w.in...), true
	}
}

// keep marks bytes as decoded and unchanged.
func (w *walker) keep(from, to int) {
	if w.plan.layout.Located && !w.probe {
		for i := from; i < to; i++ {
			w.state[i] |= byteKept
		}
	}
}

// replace writes the replacement of the bytes from a position on.
func (w *walker) replace(from int, b []byte) {
	w.write()
	copy(w.out[from:], b)
	if w.plan.layout.Located {
		for i := from; i < from+len(b); i++ {
			w.state[i] |= byteReplaced
		}
	}
}

func (w *walker) fail() {
	w.failed = true
}

// take returns the position of the next n bytes. It fails if there are fewer.
func (w *walker) take(n int) (from int, ok bool) {
	if n < 0 || n > w.end-w.off {
		w.fail()
		return 0, false
	}
	w.off += n
	return w.off - n, true
}

// members replaces the texts of the members of an object, which may be a pair. It returns false if the payload ended
// before a member.
func (w *walker) members(fields []node, pair *node) (complete bool) {
	outer := w.class
	for i := range fields {
		n := &fields[i]
		if w.off == w.end && (n.Info.plain > 0 || n.Op != layout.Object && sizeOrOne(n) > 0) {
			return false // what follows is missing, too
		}
		inPair := pair != nil && i+1 == pair.Info.value
		if inPair {
			w.class = w.valueClass(pair, outer)
		}
		start := w.off
		w.value(n)
		if inPair {
			w.class = outer
		}
		if w.failed {
			w.off = start
			break
		}
	}
	return true
}

// sizeOrOne returns 0 only for types whose values may have no bytes.
func sizeOrOne(n *node) int {
	switch n.Op {
	case layout.Fixed:
		return n.Count
	case layout.Pad:
		return int(n.Size)
	case layout.Counted, layout.Rest:
		return 0
	}
	return 1
}

// valueClass returns the class of the value of a pair, whose key has been walked.
func (w *walker) valueClass(pair *node, outer *class) *class {
	if c := w.policy.key(pair.Info.class.name, w.pairKey); c != nil {
		return c
	}
	return outer
}

func (w *walker) value(n *node) {
	size := n.Info.plain
	if size > 0 && n.Slot < 0 && (n.Op != layout.Object || size <= w.end-w.off) { // otherwise members are missing
		if from, ok := w.take(size); ok {
			w.keep(from, w.off)
		}
		return
	}
	switch n.Op {
	case layout.Object:
		if n.Info.key > 0 {
			w.members(n.Members, n)
		} else {
			w.members(n.Members, nil)
		}
		return
	case layout.Array, layout.Fixed, layout.Counted:
		if count, ok := w.count(n); ok {
			w.array(n, count)
		}
		return
	}
	value, size, ok := n.Leaf(w.in[w.off:w.end])
	if !ok {
		w.fail()
		return
	}
	from, to := w.off, w.off+len(value)
	w.off += size
	switch n.Op {
	case layout.UTF16, layout.Unit16:
		w.string(n, from, to, encUTF16)
	case layout.Latin1, layout.Unit8:
		w.string(n, from, to, encLatin1)
	case layout.Location:
		w.keep(from, to)
		w.located(n, from)
	case layout.Rest:
		w.bytes(n, from, to)
	case layout.Pad:
		w.keep(from, to)
	default:
		w.numeric(n, from, to)
	}
	w.keep(to, w.off) // the terminator of a string
}

// numeric keeps a number, or replaces it if it is secret: floats by zero, others by a number of the same size.
func (w *walker) numeric(n *node, from, to int) {
	isVarint := n.Op == layout.VarInt || n.Op == layout.VarUint
	switch {
	case n.Slot >= 0 && isVarint:
		w.counts[n.Slot], _ = layout.Varint(n.Op, w.in[from:to])
	case n.Slot >= 0:
		w.counts[n.Slot] = layout.Number(n.Op, w.in[from:to])
	}
	if !n.Info.secret || w.probe {
		w.keep(from, to)
		return
	}
	w.buf = append(w.buf[:0], w.in[from:to]...)
	switch n.Op {
	case layout.Float, layout.Decimal, layout.Bool, layout.Time:
		clear(w.buf)
	default:
		w.dict.bytes(w.buf, "number", w.in[from:to])
	}
	if isVarint {
		for i := range w.buf {
			w.buf[i] = w.buf[i]&0x3f | w.in[from+i]&0x80 // 64 bits are enough
		}
	}
	w.replace(from, w.buf)
	w.tally.count(n.Info.site, n.Info.class, true)
}

// count returns the number of elements of an array.
func (w *walker) count(n *node) (int, bool) {
	b := w.in[w.off:w.end]
	count, size, ok := n.Len(b, &w.counts)
	if w.wide && n.Op == layout.Array {
		count, size = layout.Varint(layout.VarUint, b)
		ok = size > 0
	}
	if !ok || count > math.MaxInt32 {
		w.fail()
		return 0, false
	}
	w.keep(w.off, w.off+size)
	w.off += size
	return int(count), true
}

// array replaces the texts of count elements at the position.
func (w *walker) array(n *node, count int) {
	elem := n.Elem
	if elem == nil {
		w.fail()
		return
	}
	size := elem.Info.plain
	switch {
	case size > 0:
	case elem.Op == layout.Location:
		size = 4
	case elem.Op <= layout.GUID:
		size = int(elem.Size)
	}
	if size > 0 && !elem.Info.secret {
		if count > (w.end-w.off)/size {
			w.fail()
			return
		}
		from := w.off
		w.off += count * size
		w.elements(n, from, w.off)
		return
	}
	for range count {
		before := w.off
		if w.value(elem); w.off == before {
			w.fail()
		}
		if w.failed {
			return
		}
	}
}

// elements replaces the texts of adjacent elements of fixed size.
func (w *walker) elements(n *node, from, to int) {
	switch elem := n.Elem; {
	case elem.Op == layout.Unit16 && (to-from)%2 == 0:
		w.string(n, from, to, encUTF16)
	case elem.Op == layout.Unit8:
		w.string(n, from, to, encUTF8)
	case isBytes(n):
		w.bytes(n, from, to)
	case elem.Op == layout.Location, elem.Info.secret, elem.Info.plain == 0 && isNested(elem.Op):
		w.each(elem, from, to)
	case elem.Info.plain > 0 && (to-from)%elem.Info.plain == 0:
		w.keep(from, to)
	}
}

// isNested reports whether values without text of their own may contain some.
func isNested(op layout.Op) bool { return op == layout.Object || op == layout.Fixed }

// each walks adjacent elements, and continues at the position before.
func (w *walker) each(elem *node, from, to int) {
	off, end := w.off, w.end
	w.off, w.end = from, to
	for w.off < to && !w.failed {
		before := w.off
		if w.value(elem); w.off == before {
			w.fail()
		}
	}
	w.off, w.end = off, end
}

// located replaces the texts of the elements of a location, whose reference is at a position. Elements that the
// payload does not contain are not an error of the fields that follow.
func (w *walker) located(n *node, at int) {
	if w.probe {
		return
	}
	ref := binary.LittleEndian.Uint32(w.in[at:])
	start, size := int(ref&0xffff), int(ref>>16)
	if n.Type.Code == ntconv.TypeRelLoc {
		start += at + 4
	}
	w.charge -= size + 1
	if n.Elem == nil || start+size > len(w.in) || w.charge < 0 {
		return
	}
	failed, end := w.failed, w.end
	w.end = len(w.in)
	w.elements(n, start, start+size)
	w.failed, w.end = failed, end
}

// string replaces a text.
func (w *walker) string(n *node, from, to int, enc encoding) {
	if w.probe {
		return
	}
	raw := w.in[from:to]
	c := n.Info.class
	if w.class != nil {
		c = w.class
	}
	w.text = append(w.text[:0], raw...)
	if enc == encUTF16 {
		w.text = bin.DecodeUTF16(w.text[:0], raw)
	}
	if n.Info.context != "" {
		w.pairKey = append(w.pairKey[:0], w.text...)
		if w.policy.key(n.Info.context, w.text) != nil {
			c = w.policy.class(className)
		}
	}
	out := w.rewriter.replace(raw, enc, c)
	changed := len(raw) > 0 && &out[0] != &raw[0]
	if changed {
		w.replace(from, out)
	} else {
		w.keep(from, to)
	}
	w.tally.text(n.Info.site, c, raw, out, changed, enc)
}

// bytes replaces bytes that are not text.
func (w *walker) bytes(n *node, from, to int) {
	if w.probe || from == to {
		return
	}
	c := n.Info.class
	if n.Info.dynamic && w.isDynamic(to-from) || c.action == actionKeep || c.action == actionNumber {
		w.keep(from, to)
		return
	}
	if c.action == actionZero {
		w.replace(from, make([]byte, to-from))
	} else {
		w.buf = append(w.buf[:0], w.in[from:to]...)
		w.dict.bytes(w.buf, "bytes", w.in[from:to])
		w.replace(from, w.buf)
	}
	w.tally.count(n.Info.site, c, true)
}

// isDynamic reports whether the data of a GCDynamicEvent has the layout that belongs to its name, the latest text.
func (w *walker) isDynamic(size int) bool {
	l := clr.DynamicLayout(w.text)
	if l == nil {
		return false
	}
	total := 0
	for i := range l.Fields {
		n, ok := l.Fields[i].Type.Size(w.plan.ptr)
		if !ok {
			return false
		}
		total += n
	}
	return total == size
}
