package profile

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/ntconv/ntconv"
)

// arenaWords is the size of the pieces that addresses of stacks are copied to: 512 KiB.
const arenaWords = 1 << 16

// stackTable numbers stacks by content from 1; 0 is no stack. It copies what it keeps, because a kept *Stack pins the
// block that the reader cut it from.
type stackTable struct {
	seed  maphash.Seed
	k     uint64 // secret of hash: addresses come from untrusted files
	slots []uint32
	list  []stackEntry
	arena []uint64
	last  [memo]memoEntry
	next  int
}

type stackEntry struct {
	hash  uint64
	stack ntconv.Stack
}

// memo is how many of the last stacks are known by pointer: idle threads are sampled with the same stack of the same block
// over and over, in turns with others.
const memo = 4

type memoEntry struct {
	stack *ntconv.Stack
	id    uint32
}

func newStackTable() *stackTable {
	return &stackTable{
		seed:  maphash.MakeSeed(),
		k:     rand.Uint64() | 1,
		slots: make([]uint32, 64),
		list:  make([]stackEntry, 1),
	}
}

// id returns the number of a stack.
func (t *stackTable) id(s *ntconv.Stack) uint32 {
	if s == nil || len(s.PCs) == 0 && len(s.Frames) == 0 {
		return 0
	}
	for i := range t.last {
		if t.last[i].stack == s {
			return t.last[i].id
		}
	}
	id := t.find(s)
	t.last[t.next%memo] = memoEntry{s, id}
	t.next++
	return id
}

// at returns the stack with a number, owned by the table.
func (t *stackTable) at(id uint32) *ntconv.Stack { return &t.list[id].stack }

func (t *stackTable) find(s *ntconv.Stack) uint32 {
	h := t.hash(s)
	mask := uint64(len(t.slots) - 1)
	i := h & mask
	for ; t.slots[i] != 0; i = (i + 1) & mask {
		if e := &t.list[t.slots[i]]; e.hash == h && sameStack(&e.stack, s) {
			return t.slots[i]
		}
	}
	id := uint32(len(t.list))
	t.slots[i] = id
	t.list = append(t.list, stackEntry{h, ntconv.Stack{PCs: t.keep(s.PCs), Frames: slices.Clone(s.Frames)}})
	if len(t.list) > len(t.slots)/2 {
		t.grow()
	}
	return id
}

func (t *stackTable) grow() {
	t.slots = make([]uint32, 4*len(t.slots))
	mask := uint64(len(t.slots) - 1)
	for id := 1; id < len(t.list); id++ {
		i := t.list[id].hash & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(id)
	}
}

// keep copies addresses to the arena.
func (t *stackTable) keep(pcs []uint64) []uint64 {
	n := len(pcs)
	if n > len(t.arena) {
		if n > arenaWords/4 {
			return slices.Clone(pcs)
		}
		t.arena = make([]uint64, arenaWords)
	}
	dst := t.arena[:n:n]
	t.arena = t.arena[n:]
	copy(dst, pcs)
	return dst
}

// hash folds 128-bit products of pairs of words, which is about one multiplication a frame.
func (t *stackTable) hash(s *ntconv.Stack) uint64 {
	h := t.k ^ uint64(len(s.PCs))
	pcs := s.PCs
	for ; len(pcs) >= 2; pcs = pcs[2:] {
		h = fold(h^pcs[0], t.k^pcs[1])
	}
	if len(pcs) == 1 {
		h = fold(h^pcs[0], t.k)
	}
	for i := range s.Frames {
		f := &s.Frames[i]
		h = fold(h^f.PC, t.k^uint64(uint32(f.Line)))
		if f.Func != nil {
			h = fold(h^maphash.String(t.seed, f.Func.Name), t.k)
		}
	}
	return fold(h, t.k)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func sameStack(a, b *ntconv.Stack) bool {
	return slices.Equal(a.PCs, b.PCs) && slices.EqualFunc(a.Frames, b.Frames, sameFrame)
}

// sameFrame compares by content: sources may make a Function more than once.
func sameFrame(a, b ntconv.Frame) bool {
	return a.PC == b.PC && a.Line == b.Line && a.Column == b.Column && a.Flags == b.Flags &&
		same(a.Func, b.Func) && same(a.Mapping, b.Mapping)
}

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}
