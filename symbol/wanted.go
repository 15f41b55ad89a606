package symbol

import (
	"math/bits"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// wanted holds the addresses of one process that a consumer announced with Want. A rundown at the end of most traces
// describes every method of the process, but few of them were ever on a stack; the others need not be kept.
//
//	field       set by                invalidated by
//	pcs         Want appends          sort, which sorts and removes duplicates
//	recent      Want                  growRecent empties it; it is only a filter for duplicates
//	asked       begin                 never: nameAhead runs once
//	on          Want                  drops and countSkipped, after maxSorts sorts
//	dropped     drops appends         countSkipped moves full into it and sorts it
//	ordered     countSkipped          drops
type wanted struct {
	pcs     []uint64 // the first sorted ones are sorted and distinct
	recent  []uint64 // cache of announced addresses by hash, as stacks share most of them; 2^n entries
	shift   int      // of a hash, to an index of recent
	asked   bool     // addresses have been resolved
	sorted  int
	on      bool
	sorts   int
	dropped []extent   // skipped methods
	full    [][]extent // full chunks of dropped
	ordered bool       // dropped holds all skipped methods and is sorted
}

// chunkExtents is the size of the chunks of dropped, so that a long rundown copies nothing.
const chunkExtents = 4096

// An extent is a range of addresses, both ends included.
type extent struct{ first, last uint64 }

// maxSorts bounds how often the addresses are sorted. If a rundown continues while new stacks arrive, all its further
// methods are kept.
const maxSorts = 64

// Want announces that the addresses of s will be resolved at the end of the trace. Call it for every distinct stack:
// from the first call on, the table skips methods that only the final rundown describes and that contain no announced
// address. Missed reports announcements that came too late. p may be nil; s is borrowed.
func (t *Table) Want(p *ntconv.Process, s *ntconv.Stack) {
	w := &t.process(p).wanted
	w.on = w.on || w.sorts < maxSorts
	if len(w.dropped) > 0 {
		t.missed += w.countSkipped(s.PCs)
	}
	if len(w.pcs)+len(s.PCs) > cap(w.pcs) && w.sorted < len(w.pcs)/2 {
		w.sort()
	}
	if len(w.recent) < cacheSize && len(w.pcs)+len(s.PCs) > len(w.recent)/2 {
		w.growRecent(len(w.pcs) + len(s.PCs))
	}
	for _, pc := range s.PCs {
		if r := &w.recent[pc*hashFactor>>w.shift]; *r != pc || pc == 0 {
			*r = pc
			w.pcs = append(w.pcs, pc)
		}
	}
}

// growRecent resizes the cache for n addresses. Most processes of a machine-wide trace have few samples and need little
// memory.
func (w *wanted) growRecent(n int) {
	bits := min(cacheBits, bits.Len(uint(n))+3)
	w.recent, w.shift = make([]uint64, 1<<bits), 64-bits
}

// begin reports, once, whether there are announced addresses. AppendFrames calls it before it resolves an address.
func (w *wanted) begin() bool {
	first := !w.asked && len(w.pcs) > 0
	w.asked = w.asked || first
	return first
}

// Missed returns how many addresses were announced after their methods had been skipped. If it is not 0, read the trace
// into a new table before calling Want.
func (t *Table) Missed() int { return t.missed }

// sort sorts all addresses and removes duplicates.
func (w *wanted) sort() {
	slices.Sort(w.pcs)
	w.pcs = slices.Compact(w.pcs)
	w.sorted = len(w.pcs)
}

// drops reports whether a method can be skipped, and records it as skipped. Only methods of a final rundown without an
// announced address can.
func (w *wanted) drops(m *clr.Method) bool {
	if !w.on || m.Action != clr.MethodRundownEnd || m.Size == 0 || m.Start > ^uint64(0)-uint64(m.Size) {
		return false
	}
	if w.sorted < len(w.pcs) {
		if w.sorts++; w.sorts >= maxSorts {
			w.on = false
			return false
		}
		w.sort()
	}
	e := extent{m.Start, m.Start + uint64(m.Size)} // a return address may lie just after the code
	if i, _ := slices.BinarySearch(w.pcs, e.first); i < len(w.pcs) && w.pcs[i] <= e.last {
		return false
	}
	if len(w.dropped) == cap(w.dropped) {
		w.full = append(w.full, w.dropped)
		w.dropped = make([]extent, 0, chunkExtents)
	}
	w.dropped = append(w.dropped, e)
	w.ordered = false
	return true
}

// countSkipped returns how many of the addresses lie in skipped methods.
func (w *wanted) countSkipped(pcs []uint64) (n int) {
	if !w.ordered {
		w.sorts++
		w.on = w.on && w.sorts < maxSorts
		w.dropped = slices.Concat(append(w.full, w.dropped)...)
		w.full = nil
		slices.SortFunc(w.dropped, func(a, b extent) int {
			if a.first < b.first {
				return -1
			}
			return int(min(a.first-b.first, 1))
		})
		w.ordered = true
	}
	for _, pc := range pcs {
		i, found := slices.BinarySearchFunc(w.dropped, pc, func(e extent, pc uint64) int {
			if e.first < pc {
				return -1
			}
			return int(min(e.first-pc, 1))
		})
		if found || i > 0 && pc <= w.dropped[i-1].last {
			n++
		}
	}
	return n
}
