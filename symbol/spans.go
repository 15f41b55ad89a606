package symbol

import (
	"slices"
	"sort"

	"github.com/ntconv/ntconv"
)

// A span is a range of addresses, both ends included, with one owner since from. epoch is the number of the last change
// of owner of these addresses, or 0 if there was none.
type span struct {
	start, last  uint64
	from         ntconv.Ticks
	owner, epoch uint32
}

// spans is a set of disjoint spans, sorted by address. It is divided into blocks, so that an insertion moves few spans:
//
//	blocks  [ a b c d ][ e f ][ g h i ]      each block has 1 to maxBlock spans
//
// An operation adds at most two spans regardless of the range it covers, so the number of calls bounds the memory.
type spans struct {
	blocks [][]span
}

const maxBlock = 128

// A place is the position of a span. The place after the last span is {len(blocks), 0}.
type place struct{ block, at int }

// seek returns the place of the first span whose last address is at least addr.
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

// get returns the span at p, or nil after the last span. The pointer is valid until the set changes.
func (s *spans) get(p place) *span {
	if p.block >= len(s.blocks) {
		return nil
	}
	return &s.blocks[p.block][p.at]
}

// next returns the place after p.
func (s *spans) next(p place) place {
	if p.at++; p.at >= len(s.blocks[p.block]) {
		return place{p.block + 1, 0}
	}
	return p
}

// find returns the span that contains addr, or nil.
func (s *spans) find(addr uint64) *span {
	if f := s.get(s.seek(addr)); f != nil && f.start <= addr {
		return f
	}
	return nil
}

// overlapping calls see for each span that shares an address with [start, last], in order, until see returns false. see
// may change a span's owner, epoch and from, but not its range.
func (s *spans) overlapping(start, last uint64, see func(*span) bool) {
	for p := s.seek(start); ; p = s.next(p) {
		o := s.get(p)
		if o == nil || o.start > last || !see(o) {
			return
		}
	}
}

// maxInside bounds how many spans may lie inside one that only fills the gaps. put replaces the spans that it covers,
// so its cost is amortized over their insertion; fill keeps them, so malformed input could make every call slow.
const maxInside = 4096

// put makes n the owner of its addresses. It calls lost for each piece that a previous owner loses.
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

// fill makes n the owner of those of its addresses that have no owner.
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

// splice replaces the spans in [from, to) by the given ones.
func (s *spans) splice(from, to place, by []span) {
	if from.block == len(s.blocks) {
		if from.block == 0 {
			s.blocks = append(s.blocks, nil)
		} else { // past the last span: extend the last block
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

// split restores the bounds on the size of block b.
func (s *spans) split(b int) {
	block := s.blocks[b]
	switch n := len(block); {
	case n == 0:
		s.blocks = slices.Delete(s.blocks, b, b+1)
	case n > maxBlock:
		// Spans usually arrive in address order, so the last block keeps most of its spans full.
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
