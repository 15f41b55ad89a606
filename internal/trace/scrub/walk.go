package scrub

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/clr"
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
	narrow  bool
	failed  bool
	wide    bool // lengths of arrays are variable-length numbers, as in the parts of spans
	off     int
	end     int
	state   []uint8 // by byte, for payloads with locations: unused, kept or replaced
	charge  int     // bytes that further locations may have
	starts  []int   // positions of the fields of the enclosing objects
	text    []byte  // the latest text
	pairKey []byte  // the latest key of a pair
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
	w.plan, w.in, w.dirty, w.narrow, w.class = p, payload, false, false, nil
	if p.open {
		w.narrow = !w.even(false) && w.even(true)
	}
	w.begin()
	w.charge = 16*len(payload) + 4096
	if p.located {
		w.state = append(w.state[:0], make([]uint8, len(payload))...)
	}
	w.members(p.fields, nil)
	if p.located {
		w.unused()
	} else if w.failed || w.off < len(payload) {
		w.zero(w.off, len(payload))
	}
	if w.dirty {
		return w.out
	}
	return payload
}

func (w *walker) begin() { w.off, w.end, w.failed, w.starts = 0, len(w.in), false, w.starts[:0] }

// even reports whether the fields consume the whole payload with the given sizes.
func (w *walker) even(narrow bool) bool {
	w.probe, w.narrow = true, narrow
	w.begin()
	missing := !w.members(w.plan.fields, nil)
	w.probe = false
	return !w.failed && !missing && w.off == len(w.in)
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
	if w.plan.located && !w.probe {
		for i := from; i < to; i++ {
			w.state[i] |= byteKept
		}
	}
}

// replace writes the replacement of the bytes from a position on.
func (w *walker) replace(from int, b []byte) {
	w.write()
	copy(w.out[from:], b)
	if w.plan.located {
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
	base := len(w.starts)
	complete = true
	outer := w.class
	for i := range fields {
		n := &fields[i]
		w.starts = append(w.starts, w.off)
		if w.off == w.end && (n.size > 0 || n.code != ntconv.TypeObject && w.sizeOrOne(n) > 0) {
			complete = false
			break // what follows is missing, too
		}
		if pair != nil && i+1 == pair.value {
			w.class = w.valueClass(pair, outer)
		}
		start := w.off
		w.value(n, fields[:i], base)
		if pair != nil && i+1 == pair.value {
			w.class = outer
		}
		if w.failed {
			w.off = start
			break
		}
	}
	w.starts = w.starts[:base]
	return complete
}

// sizeOrOne returns 0 only for types whose values may have no bytes.
func (w *walker) sizeOrOne(n *node) int {
	switch n.code {
	case ntconv.TypeFixedArray:
		return n.count
	case ntconv.TypePad64:
		return w.plan.ptr - 4
	case ntconv.TypeCounted, ntconv.TypeRest:
		return 0
	}
	return 1
}

// valueClass returns the class of the value of a pair, whose key has been walked.
func (w *walker) valueClass(pair *node, outer *class) *class {
	if c := w.policy.key(pair.class.name, w.pairKey); c != nil {
		return c
	}
	return outer
}

func (w *walker) value(n *node, before []node, base int) {
	if n.size > 0 && !w.narrow && (n.code != ntconv.TypeObject || n.size <= w.end-w.off) { // or members are missing
		if from, ok := w.take(n.size); ok {
			w.keep(from, w.off)
		}
		return
	}
	if size := scalarSize(n.code, w.plan.ptr, w.narrow); size > 0 {
		w.scalar(n, size)
		return
	}
	switch n.code {
	case ntconv.TypeObject:
		if n.key > 0 {
			w.members(n.fields, n)
		} else {
			w.members(n.fields, nil)
		}
	case ntconv.TypeUTF16String, ntconv.TypeANSIString:
		w.terminated(n)
	case ntconv.TypeVarInt, ntconv.TypeVarUint:
		_, used := binary.Uvarint(w.in[w.off:w.end])
		if used <= 0 {
			w.fail()
			return
		}
		w.off += used
		w.numeric(n, w.off-used, w.off)
	case ntconv.TypePad64:
		if from, ok := w.take(w.plan.ptr - 4); ok {
			w.keep(from, w.off)
		}
	case ntconv.TypeRest:
		from := w.off
		w.off = w.end
		w.bytes(n, from, w.end)
	case ntconv.TypeArray, ntconv.TypeFixedArray, ntconv.TypeCounted:
		if count, ok := w.count(n, before, base); ok {
			w.array(n, count)
		}
	default:
		w.fail()
	}
}

func (w *walker) scalar(n *node, size int) {
	from, ok := w.take(size)
	if !ok {
		return
	}
	switch n.code {
	case ntconv.TypeUTF8Unit:
		w.string(n, from, w.off, encLatin1)
	case ntconv.TypeUTF16Unit:
		w.string(n, from, w.off, encUTF16)
	case ntconv.TypeRelLoc, ntconv.TypeDataLoc:
		w.keep(from, w.off)
		w.located(n, from)
	default:
		w.numeric(n, from, w.off)
	}
}

// numeric keeps a number, or replaces it if it is secret: floats by zero, others by a number of the same size.
func (w *walker) numeric(n *node, from, to int) {
	if !n.secret || w.probe {
		w.keep(from, to)
		return
	}
	w.buf = append(w.buf[:0], w.in[from:to]...)
	switch n.code {
	case ntconv.TypeFloat32, ntconv.TypeFloat64, ntconv.TypeDecimal, ntconv.TypeBool8, ntconv.TypeBool32, ntconv.TypeDateTime:
		clear(w.buf)
	default:
		w.dict.bytes(w.buf, "number", w.in[from:to])
	}
	if n.code == ntconv.TypeVarInt || n.code == ntconv.TypeVarUint {
		for i := range w.buf {
			w.buf[i] = w.buf[i]&0x3f | w.in[from+i]&0x80 // 64 bits are enough
		}
	}
	w.replace(from, w.buf)
	w.tally.count(n.site, n.class, true)
}

func (w *walker) terminated(n *node) {
	from, enc, unit := w.off, encUTF16, 2
	var text []byte
	ok := false
	if n.code == ntconv.TypeUTF16String {
		text, _, ok = bin.CutUTF16(w.in[w.off:w.end])
	} else if i := bytes.IndexByte(w.in[w.off:w.end], 0); i >= 0 {
		text, ok, enc, unit = w.in[w.off:w.off+i], true, encLatin1, 1
	}
	if !ok {
		w.fail()
		return
	}
	w.off += len(text) + unit
	w.string(n, from, from+len(text), enc)
	w.keep(w.off-unit, w.off)
}

// count returns the number of elements of an array.
func (w *walker) count(n *node, before []node, base int) (int, bool) {
	switch n.code {
	case ntconv.TypeFixedArray:
		return n.count, true
	case ntconv.TypeArray:
		if w.wide {
			v, used := binary.Uvarint(w.in[w.off:w.end])
			if used <= 0 || v > math.MaxInt32 {
				w.fail()
				return 0, false
			}
			w.keep(w.off, w.off+used)
			w.off += used
			return int(v), true
		}
		from, ok := w.take(2)
		if !ok {
			return 0, false
		}
		w.keep(from, w.off)
		return int(binary.LittleEndian.Uint16(w.in[from:])), true
	}
	if n.count >= len(before) || base+n.count >= len(w.starts) {
		w.fail()
		return 0, false
	}
	count, ok := w.number(&before[n.count], w.starts[base+n.count])
	if !ok || count > math.MaxInt32 {
		w.fail()
		return 0, false
	}
	return int(count), true
}

// number decodes the integer at a position that has been walked.
func (w *walker) number(n *node, at int) (uint64, bool) {
	b := w.in[at:w.end]
	switch n.code {
	case ntconv.TypeVarUint, ntconv.TypeVarInt:
		v, used := binary.Uvarint(b)
		if n.code == ntconv.TypeVarInt {
			v = v>>1 ^ -(v & 1)
		}
		return v, used > 0
	case ntconv.TypeInt8, ntconv.TypeUint8, ntconv.TypeInt16, ntconv.TypeUint16, ntconv.TypeInt32, ntconv.TypeUint32,
		ntconv.TypeInt64, ntconv.TypeUint64, ntconv.TypePointer:
		size := scalarSize(n.code, w.plan.ptr, false)
		if len(b) < size {
			return 0, false
		}
		var buf [8]byte
		copy(buf[:], b[:size])
		return binary.LittleEndian.Uint64(buf[:]), true
	}
	return 0, false
}

// array replaces the texts of count elements at the position.
func (w *walker) array(n *node, count int) {
	elem := n.elem
	if elem == nil {
		w.fail()
		return
	}
	size := elem.size
	if size == 0 || w.narrow {
		size = scalarSize(elem.code, w.plan.ptr, w.narrow)
	}
	if size > 0 && !elem.secret {
		if count < 0 || count > (w.end-w.off)/size {
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
		w.value(elem, nil, len(w.starts))
		if w.failed {
			return
		}
		if w.off == before {
			w.fail()
			return
		}
	}
}

// elements replaces the texts of adjacent elements of fixed size.
func (w *walker) elements(n *node, from, to int) {
	switch code := n.elem.code; {
	case code == ntconv.TypeUTF16Unit && (to-from)%2 == 0:
		w.string(n, from, to, encUTF16)
	case code == ntconv.TypeUTF8Unit:
		w.string(n, from, to, encUTF8)
	case n.isBytes():
		w.bytes(n, from, to)
	case code == ntconv.TypeRelLoc, code == ntconv.TypeDataLoc, w.narrow, n.elem.secret, n.elem.size == 0 && isNested(code):
		w.each(n.elem, from, to)
	case n.elem.size > 0 && (to-from)%n.elem.size == 0:
		w.keep(from, to)
	}
}

// isNested reports whether values of a code without text of their own may contain some.
func isNested(c ntconv.TypeCode) bool { return c == ntconv.TypeObject || c == ntconv.TypeFixedArray }

// each walks adjacent elements, and continues at the position before.
func (w *walker) each(elem *node, from, to int) {
	off, end := w.off, w.end
	w.off, w.end = from, to
	for w.off < to && !w.failed {
		before := w.off
		if w.value(elem, nil, len(w.starts)); w.off == before {
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
	if n.code == ntconv.TypeRelLoc {
		start += at + 4
	}
	w.charge -= size + 1
	if n.elem == nil || start+size > len(w.in) || w.charge < 0 {
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
	c := n.class
	if w.class != nil {
		c = w.class
	}
	w.text = append(w.text[:0], raw...)
	if enc == encUTF16 {
		w.text = bin.DecodeUTF16(w.text[:0], raw)
	}
	if n.context != "" {
		w.pairKey = append(w.pairKey[:0], w.text...)
		if w.policy.key(n.context, w.text) != nil {
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
	w.tally.text(n.site, c, raw, out, changed, enc)
}

// bytes replaces bytes that are not text.
func (w *walker) bytes(n *node, from, to int) {
	if w.probe || from == to {
		return
	}
	c := n.class
	if n.dynamic && w.isDynamic(to-from) || c.action == actionKeep || c.action == actionNumber {
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
	w.tally.count(n.site, c, true)
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
