package profile

import (
	"hash/maphash"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/intern"
)

// A frameTable numbers frames by content from 0. A map of their contents would do, and makes a profile of a million
// stacks take 1.4 times as long. An intern.Table would compare the pointers in frames, and sources may make a Function
// more than once.
type frameTable struct {
	seed  maphash.Seed
	k     uint64       // secret of hash
	index intern.Index // numbers + 1
	list  []ntconv.Frame
}

func newFrameTable(k uint64) *frameTable { return &frameTable{seed: maphash.MakeSeed(), k: k} }

// number returns the number of a frame, a new one if it is not known.
func (t *frameTable) number(f *ntconv.Frame) uint32 {
	p := t.index.Probe(t.hash(f))
	for p.Next() {
		if sameFrame(t.list[p.ID-1], *f) {
			return p.ID - 1
		}
	}
	t.list = append(t.list, *f)
	t.index.Insert(&p, uint32(len(t.list)))
	return uint32(len(t.list)) - 1
}

// hash is of all that sameFrame compares: frames of equal hashes would make every search a long one.
func (t *frameTable) hash(f *ntconv.Frame) uint64 {
	h := fold(f.PC^t.k, t.k^uint64(uint32(f.Line))^uint64(uint32(f.Column))<<32)
	h = fold(h^uint64(f.Flags), t.k)
	if f.Func != nil {
		h = fold(h^maphash.String(t.seed, f.Func.Name), t.k^uint64(uint32(f.Func.StartLine)))
		h ^= maphash.String(t.seed, f.Func.File)
		h = fold(h^maphash.String(t.seed, f.Func.SystemName)<<1, t.k)
	}
	if m := f.Mapping; m != nil {
		h = fold(h^m.Start, t.k^m.Limit)
		h = fold(h^m.Offset^maphash.String(t.seed, m.BuildID), t.k^maphash.String(t.seed, m.File)^uint64(m.Flags))
	}
	return h
}

// sameFrame compares by content: sources may make a Function more than once.
func sameFrame(a, b ntconv.Frame) bool {
	return a.PC == b.PC && a.Line == b.Line && a.Column == b.Column && a.Flags == b.Flags &&
		same(a.Func, b.Func) && same(a.Mapping, b.Mapping)
}

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}
