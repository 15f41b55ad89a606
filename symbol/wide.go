package symbol

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// wideSymbols are the symbols of a process's mappings that have addresses outside of their mapping, as generated code
// does that was mapped piece by piece. They are found by address: a large program has hundreds of them, and an
// untrusted trace as many as it likes.
type wideSymbols struct {
	list  []wideEntry
	known map[*symbols]struct{}
	index rangeIndex // of the numbers in list
	dirty []uint32   // numbers of those that have symbols which are not in index
	full  bool       // index was given up, see maxIndexed
}

// A wideEntry is one of a process's wide symbols. The first done symbols of it are in the index.
type wideEntry struct {
	*symbols
	done int
}

// A wideUser is a process whose index has all of some symbols.
type wideUser struct {
	in     *wideSymbols
	number uint32
}

// maxWide bounds how many symbols are searched in order where the index cannot tell: the one that it found does not
// have the address any more, or there is no index.
const maxWide = 64

// maxIndexed bounds the symbols in the indexes of all processes, as a multiple of the symbols in the table and an
// absolute number. Processes that share their mappings could have a product of them otherwise.
const (
	maxIndexed      = 8
	maxIndexedAtAll = 1 << 16
)

// noWide is the number of no symbols.
const noWide = math.MaxUint32

// add adds symbols that became wide, or whose mapping came. Those that were added before stay where they are.
func (w *wideSymbols) add(s *symbols) {
	if _, ok := w.known[s]; ok {
		return
	}
	if w.known == nil {
		w.known = make(map[*symbols]struct{})
	}
	w.known[s] = struct{}{}
	w.dirty = append(w.dirty, uint32(len(w.list)))
	w.list = append(w.list, wideEntry{symbols: s})
}

// changed notes a symbol that the indexes of processes do not have yet.
func (s *symbols) changed() {
	for _, u := range s.indexed {
		u.in.dirty = append(u.in.dirty, u.number)
	}
	s.indexed = s.indexed[:0]
}

// update adds to the index what is not in it yet.
func (t *Table) update(w *wideSymbols) {
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
		e.symbols.indexed = append(e.symbols.indexed, wideUser{w, number})
	}
	w.dirty = w.dirty[:0]
}

// wideAt returns the number of the first wide symbols of a process that may have a symbol at an address, noWide if none
// does.
func (t *Table) wideAt(w *wideSymbols, pc uint64) uint32 {
	if len(w.list) == 0 {
		return noWide
	}
	if len(w.dirty) > 0 && !w.full {
		t.update(w)
	}
	if !w.full {
		return w.index.first(pc)
	}
	for i, e := range w.list[:min(len(w.list), maxWide)] {
		if e.when.now.find(pc) != nil || e.when.now.find(pc-1) != nil {
			return uint32(i)
		}
	}
	return noWide
}

// wideAround returns the wide symbols that decide about an address and about the address before it, nil where none do.
func (t *Table) wideAround(p *process, pc uint64) (around [2]*symbols) {
	w := &p.native.wide
	at, before := t.wideAt(w, pc), t.wideAt(w, pc-1)
	if int(at) < len(w.list) {
		around[0] = w.list[at].symbols
	}
	if before != at && int(before) < len(w.list) {
		around[1] = w.list[before].symbols
	}
	return around
}

// An indexedRange is a range of addresses, both ends included, with a number.
type indexedRange struct {
	start, last uint64
	number      uint32
}

// A rangeIndex returns the lowest number of all ranges with an address. It consists of levels, each of them disjoint
// ranges in order with the lowest numbers among those that were added to it. Levels of about the same size become one,
// so that there are few, and adding n ranges takes O(n log² n) steps however they overlap.
type rangeIndex struct {
	levels [][]indexedRange // the largest first
	recent []indexedRange   // not yet in a level
}

// maxRecent is how many ranges are searched one by one.
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

// first returns the lowest number of the ranges that have an address, noWide if none has it.
func (x *rangeIndex) first(addr uint64) uint32 {
	best := uint32(noWide)
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

// lowest returns disjoint ranges in order that have the lowest number of all given ranges with their addresses. It
// sorts the given ones.
func lowest(ranges []indexedRange) []indexedRange {
	slices.SortFunc(ranges, func(a, b indexedRange) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.number, b.number))
	})
	var out []indexedRange
	var open numberHeap // ranges that begin at or before at, the lowest number first
	for i, at := 0, uint64(0); i < len(ranges) || len(open) > 0; {
		if len(open) == 0 {
			at = ranges[i].start
		}
		for ; i < len(ranges) && ranges[i].start <= at; i++ {
			open.push(ranges[i])
		}
		top := open[0]
		if top.last < at {
			open.pop()
			continue
		}
		last := top.last
		if i < len(ranges) { // the next one may have a lower number
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

// A numberHeap is a binary heap by number.
type numberHeap []indexedRange

func (h *numberHeap) push(r indexedRange) {
	s := append(*h, r)
	for i := len(s) - 1; i > 0 && s[i].number < s[(i-1)/2].number; i = (i - 1) / 2 {
		s[i], s[(i-1)/2] = s[(i-1)/2], s[i]
	}
	*h = s
}

func (h *numberHeap) pop() {
	s := *h
	n := len(s) - 1
	s[0], s = s[n], s[:n]
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < n && s[child+1].number < s[child].number {
			child++
		}
		if child >= n || s[i].number <= s[child].number {
			break
		}
		s[i], s[child] = s[child], s[i]
		i = child
	}
	*h = s
}
