package reader

import (
	"encoding/binary"
	"unsafe"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// A stackTable maps the stack IDs of one window to stacks. Slot 0 is the empty stack (nil).
type stackTable struct {
	slots slotTable
	list  []*ntconv.Stack
	bytes int // estimated memory of the table
	// interned maps the content of stacks to slots in version 3, whose events contain their stack.
	interned map[string]uint32
}

// flush removes all stacks. The caller has delivered all rows.
func (t *stackTable) flush() {
	t.slots.reset()
	clear(t.list)
	t.list = append(t.list[:0], nil)
	t.interned, t.bytes = nil, 0
}

// stackBlock reads a stack block. It allocates one array for the addresses and one for the stacks.
func (r *Reader) stackBlock(b *block) error {
	c := b.cursor()
	head, err := wire.ParseStackHeader(&c)
	if err != nil {
		return r.blockError(b, err)
	}
	t := &r.stacks
	rows := c.Len() / (4 + r.info.PointerSize)
	pcs := make([]uint64, 0, (c.Len()+r.info.PointerSize-1)/r.info.PointerSize)
	stacks := make([]ntconv.Stack, 0, min(int64(head.Count), int64(rows)))
	for id := head.First; c.Len() > 0; id++ {
		at := c.Offset()
		raw := wire.NextStack(&c)
		if c.Err() != nil {
			return r.blockError(b, c.Err())
		}
		first := len(pcs)
		pcs = r.appendPCs(pcs, raw, at)
		if !t.slots.set(uint64(id), uint32(len(t.list))) {
			if err := r.tolerate(ntconv.CodeRedefined, at, "stack ID", errStackAgain); err != nil {
				return err
			}
		}
		if first == len(pcs) {
			t.slots.set(uint64(id), 0) // the runtime writes an empty stack as ID 1
			continue
		}
		stacks = append(stacks, ntconv.Stack{PCs: pcs[first:len(pcs):len(pcs)]})
		t.list = append(t.list, &stacks[len(stacks)-1])
	}
	t.bytes += 8*cap(pcs) + stackBytes*len(stacks)
	return nil
}

// appendPCs appends the addresses of a stack row, at most Limits.StackDepth. dst has the capacity for them.
func (r *Reader) appendPCs(dst []uint64, raw []byte, offset int64) []uint64 {
	size := r.info.PointerSize
	n := len(raw) / size
	if n > r.limits.StackDepth {
		r.report.Add(ntconv.CodeStackCut, 1, offset)
		n = r.limits.StackDepth
	}
	if n == 0 {
		return dst
	}
	if size == 8 {
		return appendWords(dst, raw[:8*n])
	}
	for i := range n {
		dst = append(dst, uint64(binary.LittleEndian.Uint32(raw[4*i:])))
	}
	return dst
}

// littleEndian reports whether this machine stores the low byte first.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// appendWords appends 8-byte little-endian words. On a little-endian machine it copies them as bytes.
func appendWords(dst []uint64, raw []byte) []uint64 {
	n := len(raw) / 8
	if !littleEndian || cap(dst)-len(dst) < n {
		for i := range n {
			dst = append(dst, binary.LittleEndian.Uint64(raw[8*i:]))
		}
		return dst
	}
	dst = dst[:len(dst)+n]
	// The added part of dst is aligned and as long as raw; raw need not be aligned.
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&dst[len(dst)-n])), 8*n), raw)
	return dst
}

// inlineStack returns the slot of a stack that is stored in a version 3 event.
func (r *Reader) inlineStack(raw []byte, offset int64) uint32 {
	t := &r.stacks
	if len(raw) < r.info.PointerSize {
		return 0
	}
	if slot, ok := t.interned[string(raw)]; ok {
		return slot
	}
	if t.interned == nil || len(t.interned) >= maxInterned || t.bytes >= maxInternedBytes {
		t.flush()
		t.interned = map[string]uint32{}
	}
	slot := uint32(len(t.list))
	pcs := r.appendPCs(make([]uint64, 0, len(raw)/r.info.PointerSize), raw, offset)
	t.list = append(t.list, &ntconv.Stack{PCs: pcs})
	t.interned[string(raw)] = slot
	t.bytes += stackBytes + 2*len(raw)
	return slot
}

// maxInterned is the maximum number of interned stacks (version 3) and of interned label lists.
const maxInterned = 1 << 16

// maxInternedBytes bounds the memory of their content.
const maxInternedBytes = 64 << 20

// A labelTable maps the label list IDs of one window to labels. Slot 0 is the empty list (nil).
type labelTable struct {
	slots slotTable
	list  []*ntconv.Labels
	bytes int // estimated memory of the table
	// interned maps the content of lists to labels, across windows: recorders repeat a few lists.
	interned      map[string]*ntconv.Labels
	internedBytes int
	// activities maps the two activity IDs of versions 3 to 5 to the slot of their labels, within this window.
	activities map[[32]byte]uint32

	activity, parent [16]byte // activity IDs of the previous event
	lastSlot         uint32   // slot of their labels
}

// flush removes all label lists. The caller has delivered all rows.
func (t *labelTable) flush() {
	t.slots.reset()
	clear(t.list)
	t.list = append(t.list[:0], nil)
	t.activities = nil
	t.activity, t.parent = [16]byte{}, [16]byte{}
	t.lastSlot, t.bytes = 0, 0
}

// labelBlock reads a label list block.
func (r *Reader) labelBlock(b *block) error {
	c := b.cursor()
	head, err := wire.ParseLabelHeader(&c)
	if err != nil {
		return r.blockError(b, err)
	}
	t := &r.labels
	for i := uint32(0); i < head.Count && c.Len() > 0; i++ {
		at := c.Offset()
		rest := c
		raw := wire.NextLabels(&c)
		if c.Err() != nil {
			if b.partial {
				return nil
			}
			if err := r.rowError(c.Err()); err != nil {
				return err
			}
			raw = rest.Rest() // the length of the list is unknown, so it is the last one of the block
		}
		if len(t.list) > r.limits.LabelLists {
			return r.exceeded(at, "label list", // the list starts with the empty one, so Asked is one more
				ntconv.LimitError{Limit: LimitLabelLists, Value: int64(r.limits.LabelLists), Asked: int64(len(t.list))})
		}
		labels, ok := t.interned[string(raw)]
		if !ok {
			labels = r.newLabels(raw, at)
		}
		if !t.slots.set(uint64(head.First+i), uint32(len(t.list))) {
			r.report.Add(ntconv.CodeRedefined, 1, at)
		}
		t.list = append(t.list, labels)
		t.bytes += 16
	}
	return nil
}

// newLabels decodes a label list and interns it. raw is borrowed.
func (r *Reader) newLabels(raw []byte, offset int64) *ntconv.Labels {
	c := bin.New(raw, offset)
	parsed, _ := wire.ParseLabels(&c, nil, r.unsigned) // labelBlock has reported an unknown kind at the end
	list := make([]ntconv.Label, 0, len(parsed))
	unit := false // the previous label was a unit, so this one is not, even if that unit was empty
	for i := range parsed {
		l := &parsed[i]
		if n := len(list); r.byNtconv && n > 0 && !unit && isUnit(&list[n-1], l) {
			list[n-1].Unit, unit = l.Str, true
			continue
		}
		unit = false
		list = append(list, ntconv.Label{Kind: ntconv.LabelKind(l.Kind), Key: l.Key, Str: l.Str, Num: l.Num, ID: l.ID})
	}
	labels := ntconv.NewLabels(list)
	t := &r.labels
	if t.interned == nil || len(t.interned) >= maxInterned || t.internedBytes >= maxInternedBytes {
		t.interned, t.internedBytes = map[string]*ntconv.Labels{}, 0
	}
	t.interned[string(raw)] = labels
	size := labelBytes*(1+len(list)) + 2*len(raw)
	t.internedBytes += size
	t.bytes += size
	return labels
}

// unitSuffix is appended to the key of a number label to form the key of the string label in which package writer
// stores its unit.
const unitSuffix = "#unit"

// isUnit reports whether l, the label after before, holds the unit of before.
func isUnit(before *ntconv.Label, l *wire.Label) bool {
	return before.Kind == ntconv.LabelInt && before.Unit == "" && l.Kind == wire.LabelString &&
		l.Key == before.Key+unitSuffix
}

// activityLabels returns the slot of the labels for the activity IDs in an event header of versions 3 to 5.
func (r *Reader) activityLabels(h *wire.EventHeader) uint32 {
	t := &r.labels
	if h.Activity == t.activity && h.Related == t.parent {
		return t.lastSlot
	}
	t.activity, t.parent, t.lastSlot = h.Activity, h.Related, 0
	var list []ntconv.Label
	var key [32]byte
	copy(key[:], h.Activity[:])
	copy(key[16:], h.Related[:])
	if key == [32]byte{} {
		return 0
	}
	if slot, ok := t.activities[key]; ok {
		t.lastSlot = slot
		return slot
	}
	if h.Activity != [16]byte{} {
		list = append(list, ntconv.Label{Kind: ntconv.LabelActivityID, ID: h.Activity})
	}
	if h.Related != [16]byte{} {
		list = append(list, ntconv.Label{Kind: ntconv.LabelRelatedActivityID, ID: h.Related})
	}
	if t.activities == nil {
		t.activities = map[[32]byte]uint32{}
	}
	t.lastSlot = uint32(len(t.list))
	t.list = append(t.list, ntconv.NewLabels(list))
	t.bytes += 4 * labelBytes
	t.activities[key] = t.lastSlot
	return t.lastSlot
}
