package symbol

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/ntconv/ntconv/internal/data/intern"
)

// outsideSymbols holds the symbols of a process that lie outside their mapping, as in generated code that was mapped
// piece by piece. They are found by address: a large program has hundreds of them, and untrusted input may have any
// number.
//
// A symbol is in index, or its entry is in dirty. symbols.changed adds to dirty when a symbol arrives; Table.update
// moves all of them to index.
type outsideSymbols struct {
	list  []outsideEntry
	known map[*symbols]struct{}
	index rangeIndex // maps an address to a position in list
	dirty []uint32   // positions of entries with symbols that are not yet in index
	full  bool       // index was given up, see maxIndexed
}

// An outsideEntry is an element of outsideSymbols. Its first done symbols are in the index.
type outsideEntry struct {
	*symbols
	done int
}

// An outsideUser is a process whose index contains all symbols of some mapping.
type outsideUser struct {
	in     *outsideSymbols
	number uint32
}

// maxOutside bounds how many entries are searched linearly if the index does not decide: the entry that it found no
// longer owns the address, or there is no index.
const maxOutside = 64

// maxIndexed and maxIndexedAtAll bound the symbols in the indexes of all processes, as a multiple of the symbols in the
// table plus a constant. Without the bounds, processes that share their mappings could need the product of both counts.
const (
	maxIndexed      = 8
	maxIndexedAtAll = 1 << 16
)

// noOutside means that no entry matches.
const noOutside = math.MaxUint32

// add adds an entry for s, unless it has one.
func (w *outsideSymbols) add(s *symbols) {
	if _, ok := w.known[s]; ok {
		return
	}
	if w.known == nil {
		w.known = make(map[*symbols]struct{})
	}
	w.known[s] = struct{}{}
	w.dirty = append(w.dirty, uint32(len(w.list)))
	w.list = append(w.list, outsideEntry{symbols: s})
}

// changed marks the indexes with s as incomplete, because s got a further symbol.
func (s *symbols) changed() {
	for _, u := range s.indexed {
		u.in.dirty = append(u.in.dirty, u.number)
	}
	s.indexed = s.indexed[:0]
}

// update adds all missing symbols to the index, or gives the index up if it would grow too large.
func (t *Table) update(w *outsideSymbols) {
	for _, number := range w.dirty {
		e := &w.list[number]
		if t.indexed += len(e.symbols.list) - e.done; t.indexed > maxIndexedAtAll+maxIndexed*t.entries {
			w.full, w.dirty, w.index = true, nil, rangeIndex{}
			return
		}
		for _, n := range e.symbols.list[e.done:] {
			w.index.add(indexedRange{n.start, n.end, number})
		}
		e.done = len(e.symbols.list)
		e.symbols.indexed = append(e.symbols.indexed, outsideUser{w, number})
	}
	w.dirty = w.dirty[:0]
}

// outsideAt returns the position of the first entry that may have a symbol at pc, or noOutside.
func (t *Table) outsideAt(w *outsideSymbols, pc uint64) uint32 {
	if len(w.list) == 0 {
		return noOutside
	}
	if len(w.dirty) > 0 && !w.full {
		t.update(w)
	}
	if !w.full {
		return w.index.first(pc)
	}
	for i, e := range w.list[:min(len(w.list), maxOutside)] {
		if e.when.now.find(pc) != nil || e.when.now.find(pc-1) != nil {
			return uint32(i)
		}
	}
	return noOutside
}

// outsideAround returns the symbols outside their mapping that decide how pc and pc-1 are resolved; both may be nil.
func (t *Table) outsideAround(p *process, pc uint64) (around [2]*symbols) {
	w := &p.native.outside
	at, before := t.outsideAt(w, pc), t.outsideAt(w, pc-1)
	if int(at) < len(w.list) {
		around[0] = w.list[at].symbols
	}
	if before != at && int(before) < len(w.list) {
		around[1] = w.list[before].symbols
	}
	return around
}

// An indexedRange is a range of addresses, both ends included, with a position in a list.
type indexedRange struct {
	start, last uint64
	number      uint32
}

// A rangeIndex returns the lowest number among the ranges that contain an address. It consists of levels; each is a
// sorted list of disjoint ranges with the lowest numbers of the ranges added to it. Levels of similar size are merged,
// so there are few, and adding n ranges takes O(n log² n) steps even if all overlap.
type rangeIndex struct {
	levels [][]indexedRange // the largest first
	recent []indexedRange   // not yet in a level
}

// maxRecent is the number of ranges that are searched linearly before they form a level.
const maxRecent = 32

func (x *rangeIndex) add(r indexedRange) {
	if x.recent = append(x.recent, r); len(x.recent) < maxRecent {
		return
	}
	level := lowest(x.recent)
	x.recent = x.recent[:0]
	for n := len(x.levels); n > 0 && len(x.levels[n-1]) < 2*len(level); n-- {
		level = lowest(append(level, x.levels[n-1]...))
		x.levels = x.levels[:n-1]
	}
	x.levels = append(x.levels, level)
}

// first returns the lowest number of the ranges that contain addr, or noOutside.
func (x *rangeIndex) first(addr uint64) uint32 {
	best := uint32(noOutside)
	for _, level := range x.levels {
		i := sort.Search(len(level), func(i int) bool { return level[i].last >= addr })
		if i < len(level) && level[i].start <= addr {
			best = min(best, level[i].number)
		}
	}
	for i := range x.recent {
		if r := &x.recent[i]; r.start <= addr && addr <= r.last {
			best = min(best, r.number)
		}
	}
	return best
}

// lowest returns sorted disjoint ranges with the lowest number of the given ranges at each address. It sorts the given
// ranges in place.
func lowest(ranges []indexedRange) []indexedRange {
	slices.SortFunc(ranges, func(a, b indexedRange) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.number, b.number))
	})
	var out []indexedRange
	var open intern.Heap[indexedRange, *indexedRange] // ranges that begin at or before at, the lowest number first
	for i, at := 0, uint64(0); i < len(ranges) || len(open) > 0; {
		if len(open) == 0 {
			at = ranges[i].start
		}
		for ; i < len(ranges) && ranges[i].start <= at; i++ {
			open.Push(ranges[i])
		}
		top := open[0]
		if top.last < at {
			open.Pop()
			continue
		}
		last := top.last
		if i < len(ranges) { // the next range may have a lower number
			last = min(last, ranges[i].start-1)
		}
		if n := len(out); n > 0 && out[n-1].number == top.number && out[n-1].last == at-1 {
			out[n-1].last = last
		} else {
			out = append(out, indexedRange{at, last, top.number})
		}
		if last == math.MaxUint64 {
			break
		}
		at = last + 1
	}
	return slices.Clip(out)
}

// Before compares by number. It implements intern.Heap.
func (a *indexedRange) Before(b *indexedRange) bool { return a.number < b.number }
