package symbol

import (
	"math/bits"
	"slices"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
)

var (
	_ ntconv.AddressWanter   = (*Table)(nil)
	_ ntconv.EpochSettler    = (*Table)(nil)
	_ ntconv.RundownReporter = (*Table)(nil)
)

// wanted is what a consumer has told about the addresses that it will ask for, of one process. A rundown, which comes
// at the end of most traces, describes every method of the process, and few of them were ever on a stack: the others
// need not be kept.
type wanted struct {
	pcs     []uint64 // the first sorted of them are in order, without doubles
	recent  []uint64 // some of them, by hash: most addresses of a stack are those of stacks before; its length is a power of 2
	shift   int      // of a hash, to an index of recent
	asked   bool     // for names
	sorted  int
	on      bool
	sorts   int
	dropped []extent // methods that were not kept
	full    [][]extent
	ordered bool // dropped has all and is sorted
}

// chunkExtents is the size of the pieces that extents are gathered in, so that a long rundown copies nothing.
const chunkExtents = 4096

// extent is a range of addresses, the last one included.
type extent struct{ first, last uint64 }

// mostSorts bounds how often addresses are sorted in anew. A trace whose rundown goes on while new stacks come is kept
// whole from then on.
const mostSorts = 64

// Want tells that the names of a stack's addresses will be asked for. It is for consumers that ask for names only at
// the end and that call it for every distinct stack as it comes: from the first call on, methods that only a rundown at
// the end of the trace names, and that have none of these addresses, are not kept. Missed tells whether that went
// wrong.
func (t *Table) Want(p *ntconv.Process, s *ntconv.Stack) {
	w := &t.process(p).wanted
	w.on = w.on || w.sorts < mostSorts
	if len(w.dropped) > 0 {
		t.missed += w.late(s.PCs)
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

// growRecent makes room for the recent ones of n addresses: most processes of a large machine are seen a few times, and
// cost little.
func (w *wanted) growRecent(n int) {
	bits := min(cacheBits, bits.Len(uint(n))+3)
	w.recent, w.shift = make([]uint64, 1<<bits), 64-bits
}

// begin reports whether there are wanted addresses and this is the first question about any.
func (w *wanted) begin() bool {
	first := !w.asked && len(w.pcs) > 0
	w.asked = w.asked || first
	return first
}

// Missed returns how many addresses of stacks came after their methods had been passed over. They have no names in this
// table; a table that sees the whole trace before Want is called has them.
func (t *Table) Missed() int { return t.missed }

// sort brings all addresses in order.
func (w *wanted) sort() {
	slices.Sort(w.pcs)
	w.pcs = slices.Compact(w.pcs)
	w.sorted = len(w.pcs)
}

// drops reports whether a method may be passed over. Only what a rundown at the end says of unwanted addresses may.
func (w *wanted) drops(m *clr.Method) bool {
	if !w.on || m.Action != clr.MethodRundownEnd || m.Size == 0 || m.Start > ^uint64(0)-uint64(m.Size) {
		return false
	}
	if w.sorted < len(w.pcs) {
		if w.sorts++; w.sorts >= mostSorts {
			w.on = false
			return false
		}
		w.sort()
	}
	e := extent{m.Start, m.Start + uint64(m.Size)} // a return address may be the one behind the end
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

// late counts addresses that lie in methods that were passed over.
func (w *wanted) late(pcs []uint64) (n int) {
	if !w.ordered {
		w.sorts++
		w.on = w.on && w.sorts < mostSorts
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
