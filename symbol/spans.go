package symbol

import (
	"slices"
	"sort"

	"github.com/ntconv/ntconv"
)

// A span is a run of addresses, both ends included, with one owner since a time. epoch is the number of the last change
// of meaning that these addresses saw, 0 if there was none.
type span struct {
	start, last  uint64
	from         ntconv.Ticks
	owner, epoch uint32
}

// spans is a set of disjoint spans by address. It is cut into blocks, so that adding one in the middle moves little:
//
//	blocks  [ a b c d ][ e f ][ g h i ]      every block has 1 to maxBlock spans
//
// No operation leaves more than two spans more than before, whatever it covers: memory is bounded by the number of
// calls.
type spans struct {
	blocks [][]span
}

const maxBlock = 128

// place is the position of a span: len(blocks), 0 behind the last one.
type place struct{ block, at int }

// seek returns the place of the first span that ends at or behind addr.
func (s *spans) seek(addr uint64) place {
	b := sort.Search(len(s.blocks), func(i int) bool {
		block := s.blocks[i]
		return block[len(block)-1].last >= addr
	})
	if b == len(s.blocks) {
		return place{b, 0}
	}
	block := s.blocks[b]
	lo, hi := 0, len(block)-1
	for lo < hi {
		if mid := (lo + hi) / 2; block[mid].last >= addr {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return place{b, lo}
}

// get returns the span at a place, and nil behind the last one. It is valid until the set changes.
func (s *spans) get(p place) *span {
	if p.block >= len(s.blocks) {
		return nil
	}
	return &s.blocks[p.block][p.at]
}

// next returns the place behind p.
func (s *spans) next(p place) place {
	if p.at++; p.at >= len(s.blocks[p.block]) {
		return place{p.block + 1, 0}
	}
	return p
}

// find returns the span that addr lies in, or nil.
func (s *spans) find(addr uint64) *span {
	if f := s.get(s.seek(addr)); f != nil && f.start <= addr {
		return f
	}
	return nil
}

// overlapping calls see for every span that shares an address with [start, last], until see returns false. see may
// change what does not decide about the order.
func (s *spans) overlapping(start, last uint64, see func(*span) bool) {
	for p := s.seek(start); ; p = s.next(p) {
		o := s.get(p)
		if o == nil || o.start > last || !see(o) {
			return
		}
	}
}

// mostInside is how many spans may lie where another one only fills the gaps. All else takes the place of what it
// covers, so that the work is paid for by those that were put there; this is not, and inputs may lie.
const mostInside = 4096

// put makes n the owner of its addresses. What other spans lose to it goes to lost.
func (s *spans) put(n span, lost func(span)) {
	from := s.seek(n.start)
	keep := make([]span, 0, 3)
	end := from
	right := span{start: 1} // empty
	for ; ; end = s.next(end) {
		o := s.get(end)
		if o == nil || o.start > n.last {
			break
		}
		if o.start < n.start {
			left := *o
			left.last = n.start - 1
			keep = append(keep, left)
		}
		if o.last > n.last {
			right = *o
			right.start = n.last + 1
		}
		piece := *o
		piece.start, piece.last = max(o.start, n.start), min(o.last, n.last)
		lost(piece)
	}
	keep = append(keep, n)
	if right.start <= right.last {
		keep = append(keep, right)
	}
	s.splice(from, end, keep)
}

// fill makes n the owner of those of its addresses that have none.
func (s *spans) fill(n span) {
	at := n.start
	for {
		p := s.seek(at)
		o := s.get(p)
		if o == nil || o.start > n.last {
			break
		}
		if o.start > at {
			gap := n
			gap.start, gap.last = at, o.start-1
			after := o.last
			s.splice(p, p, []span{gap})
			at = after
		} else {
			at = o.last
		}
		if at >= n.last {
			return
		}
		at++
	}
	n.start = at
	p := s.seek(at)
	s.splice(p, p, []span{n})
}

// splice replaces the spans from one place to another.
func (s *spans) splice(from, to place, by []span) {
	if from.block == len(s.blocks) {
		if from.block == 0 {
			s.blocks = append(s.blocks, nil)
		} else { // behind the last span: extend the last block
			from = place{from.block - 1, len(s.blocks[from.block-1])}
		}
		to = from
	}
	switch first := s.blocks[from.block]; {
	case to.block == from.block:
		s.blocks[from.block] = slices.Replace(first, from.at, to.at, by...)
	default:
		s.blocks[from.block] = append(first[:from.at], by...)
		gone := to.block
		if to.block < len(s.blocks) {
			s.blocks[to.block] = slices.Delete(s.blocks[to.block], 0, to.at)
		}
		s.blocks = slices.Delete(s.blocks, from.block+1, gone)
	}
	s.split(from.block)
}

// split restores the bounds on the size of a block.
func (s *spans) split(b int) {
	block := s.blocks[b]
	switch n := len(block); {
	case n == 0:
		s.blocks = slices.Delete(s.blocks, b, b+1)
	case n > maxBlock:
		// The last block takes what comes in order of address, so it is split unevenly.
		half := n / 2
		if b == len(s.blocks)-1 {
			half = n - n/8
		}
		tail := make([]span, n-half, maxBlock+3)
		copy(tail, block[half:])
		s.blocks[b] = block[:half]
		s.blocks = slices.Insert(s.blocks, b+1, tail)
	}
}
