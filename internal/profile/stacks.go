package profile

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
)

// arenaWords is the size of the blocks that hold the addresses of stacks: 512 KiB.
const arenaWords = 1 << 16

// Stacks numbers stacks by content from 1; 0 is the empty stack. It copies addresses, because a retained *Stack would
// pin the reader's block. It stores frames as numbers, so a stack of names takes at most 4 bytes per frame. It is not
// safe for concurrent use.
type Stacks struct {
	k       uint64 // secret key of hash: addresses come from untrusted input
	index   intern.Index
	list    []stackEntry // by number
	arena   []uint64
	frames  *frameTable
	numbers []uint32     // scratch: frames of the stack passed to find
	out     ntconv.Stack // result of At
	last    [memo]memoEntry
	next    int
}

type stackEntry struct {
	stack  ntconv.Stack // without frames
	frames []uint32
}

// memo is the number of recent stacks that are recognized by pointer: idle threads repeat the same stack of the same
// block, alternating with other threads.
const memo = 4

type memoEntry struct {
	stack *ntconv.Stack
	id    uint32
}

// NewStacks returns an empty table.
func NewStacks() *Stacks {
	t := &Stacks{
		k:    rand.Uint64() | 1,
		list: make([]stackEntry, 1),
	}
	t.frames = newFrameTable(t.k)
	return t
}

// ID returns the number of a stack. A new stack gets the next number; nil and empty stacks have 0. It borrows s.
func (t *Stacks) ID(s *ntconv.Stack) uint32 {
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

// At returns the stack with a number from ID, borrowed until the next call of At.
func (t *Stacks) At(id uint32) *ntconv.Stack {
	e := &t.list[id]
	if len(e.frames) == 0 {
		return &e.stack
	}
	t.out.PCs, t.out.Frames = e.stack.PCs, t.out.Frames[:0]
	for _, n := range e.frames {
		t.out.Frames = append(t.out.Frames, t.frames.list[n])
	}
	return &t.out
}

func (t *Stacks) find(s *ntconv.Stack) uint32 {
	t.numbers = t.numbers[:0]
	for i := range s.Frames {
		t.numbers = append(t.numbers, t.frames.number(&s.Frames[i]))
	}
	p := t.index.Probe(t.hash(s.PCs, t.numbers))
	for p.Next() {
		if e := &t.list[p.ID]; slices.Equal(e.stack.PCs, s.PCs) && slices.Equal(e.frames, t.numbers) {
			return p.ID
		}
	}
	id := uint32(len(t.list))
	t.index.Insert(&p, id)
	t.list = append(t.list, stackEntry{ntconv.Stack{PCs: t.keep(s.PCs)}, slices.Clone(t.numbers)})
	return id
}

// keep copies addresses to the arena.
func (t *Stacks) keep(pcs []uint64) []uint64 {
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

// hash folds 128-bit products of pairs of words, which takes about one multiplication per frame.
func (t *Stacks) hash(pcs []uint64, frames []uint32) uint64 {
	h := t.k ^ uint64(len(pcs))
	for ; len(pcs) >= 2; pcs = pcs[2:] {
		h = fold(h^pcs[0], t.k^pcs[1])
	}
	if len(pcs) == 1 {
		h = fold(h^pcs[0], t.k)
	}
	for _, n := range frames {
		h = fold(h^uint64(n), t.k)
	}
	return fold(h, t.k)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
