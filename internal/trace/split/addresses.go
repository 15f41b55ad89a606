package split

import "github.com/ntconv/ntconv"

// An addressSet is a set of addresses of code that may contain more addresses than were added: it has a bit per hash of
// a granule. So its size does not grow with the trace.
type addressSet []uint64

const (
	granuleShift = 8  // granules have 256 bytes: the size of a small method
	maxGranules  = 64 // of a method that is looked up; the set is assumed to contain larger ones
	setWords     = 2048
	// maxSetWords bounds the sets of all parts: 32 MiB.
	maxSetWords = 4 << 20
)

func (a addressSet) index(granule uint64) (word, bit uint64) {
	h := granule * 0x9e3779b97f4a7c15
	h ^= h >> 32
	return h >> 6 & uint64(len(a)-1), h & 63
}

func (a addressSet) add(pc uint64) {
	word, bit := a.index(pc >> granuleShift)
	a[word] |= 1 << bit
}

// addStack adds the addresses of a stack, and those before them, because return addresses may be that of the next
// method.
func (a addressSet) addStack(s *ntconv.Stack) {
	for _, pc := range s.PCs {
		a.add(pc)
		if pc&(1<<granuleShift-1) == 0 {
			a.add(pc - 1)
		}
	}
}

// overlaps reports whether the set may contain an address from first to last.
func (a addressSet) overlaps(first, last uint64) bool {
	from, to := first>>granuleShift, last>>granuleShift
	if to < from || to-from >= maxGranules {
		return true
	}
	for g := from; ; g++ {
		if word, bit := a.index(g); a[word]&(1<<bit) != 0 {
			return true
		}
		if g == to {
			return false
		}
	}
}

// half returns a set of half the size with at least the same addresses.
func (a addressSet) half() addressSet {
	n := len(a) / 2
	out := make(addressSet, n)
	for i := range out {
		out[i] = a[i] | a[i+n]
	}
	return out
}

// addressSets has the addresses in the stacks of each part.
type addressSets struct {
	sets  []addressSet
	words int           // of a set
	last  *ntconv.Stack // added last
	part  int           // to which it was added
}

// add adds the stack of an event of a part. Parts have ascending numbers when they are first used.
func (a *addressSets) add(s *ntconv.Stack, part int) {
	for len(a.sets) <= part {
		a.grow()
	}
	if s == nil || s == a.last && part == a.part {
		return
	}
	a.last, a.part = s, part
	a.sets[part].addStack(s)
}

// grow adds a set, and halves all sets if they need too much memory.
func (a *addressSets) grow() {
	if a.words == 0 {
		a.words = setWords
	}
	for a.words > 1 && (len(a.sets)+1)*a.words > maxSetWords {
		a.words /= 2
		for i := range a.sets {
			a.sets[i] = a.sets[i].half()
		}
	}
	a.sets = append(a.sets, make(addressSet, a.words))
}

// overlaps reports whether a stack of a part may have an address from first to last.
func (a *addressSets) overlaps(part int, first, last uint64) bool {
	return part >= len(a.sets) || a.sets[part].overlaps(first, last)
}
