package intern

// An Index finds numbers by the hash of their entries. It is the part of a table that does not depend on the type of
// the entries: the caller keeps the entries, usually in a slice by number, and compares the candidates that a Probe
// yields.
//
//	p := t.index.Probe(hash)
//	for p.Next() {
//		if t.list[p.ID].equal(key) {
//			return p.ID
//		}
//	}
//	t.index.Insert(&p, uint32(len(t.list)))
//
// Numbers must not be 0. An Index needs 11 to 21 bytes per number.
type Index struct {
	// slots is an open-addressing hash table with linear probing. The upper 32 bits of an entry are half of its hash,
	// so that grow does not need the caller's entries and nearly all candidates are equal. The lower 32 bits are the
	// number. 0 is a free slot.
	slots []uint64
	used  int
}

const minSlots = 64

// fold returns the half of a hash that an Index stores.
func fold(hash uint64) uint32 { return uint32(hash ^ hash>>32) }

// A Probe iterates over the numbers with a hash.
type Probe struct {
	ID    uint32 // candidate, valid after Next has returned true
	half  uint32
	at    uint32
	slots []uint64
}

// Probe returns a Probe for a hash. It is valid until the next Insert or Reset.
func (x *Index) Probe(hash uint64) Probe {
	if x.slots == nil {
		x.slots = make([]uint64, minSlots)
	}
	half := fold(hash)
	return Probe{half: half, at: half, slots: x.slots}
}

// Next advances to the next candidate and reports whether there is one. A candidate may have another hash.
func (p *Probe) Next() bool {
	for len(p.slots) > 0 {
		s := p.slots[int(p.at)&(len(p.slots)-1)]
		p.at++
		if p.ID = uint32(s); s == 0 || uint32(s>>32) == p.half {
			return s != 0
		}
	}
	return false
}

// Insert adds a number, which must not be 0, for the hash of p. p.Next must have returned false: p is then at the free
// slot.
func (x *Index) Insert(p *Probe, id uint32) {
	x.slots[int(p.at-1)&(len(x.slots)-1)] = uint64(p.half)<<32 | uint64(id)
	if x.used++; x.used*4 > len(x.slots)*3 {
		x.grow()
	}
}

// place stores an entry in the first free slot.
func (x *Index) place(entry uint64) {
	mask := len(x.slots) - 1
	i := int(entry>>32) & mask
	for x.slots[i] != 0 {
		i = (i + 1) & mask
	}
	x.slots[i] = entry
}

// grow doubles the number of slots.
func (x *Index) grow() {
	old := x.slots
	x.slots = make([]uint64, 2*len(old))
	for _, s := range old {
		if s != 0 {
			x.place(s)
		}
	}
}

// Reset removes all numbers. It keeps the memory unless clearing the memory would take longer than filling it again.
func (x *Index) Reset() {
	if len(x.slots) > 16*x.used+minSlots {
		x.slots = nil
	}
	clear(x.slots)
	x.used = 0
}
