package intern

// An Index finds numbers by the hash of what they stand for. It is the part of a numbered table that does not depend on
// the type of the entries: the caller keeps the entries, usually in a slice by number, and compares the candidates that
// a Probe yields.
//
//	p := t.index.Probe(hash)
//	for p.Next() {
//		if t.list[p.ID].equal(key) {
//			return p.ID
//		}
//	}
//	t.index.Insert(&p, uint32(len(t.list)))
//
// Numbers are not 0. An Index takes 11 to 21 bytes per number.
type Index struct {
	// slots is an open-addressing hash table with linear probing. An entry has half of the hash in its upper 32 bits,
	// so that growing needs no entry of the caller and almost all candidates are equal; 0 is free.
	slots []uint64
	used  int
}

const minSlots = 64

// fold returns the half of a hash that an Index keeps.
func fold(hash uint64) uint32 { return uint32(hash ^ hash>>32) }

// A Probe walks over the numbers with a hash.
type Probe struct {
	ID    uint32 // candidate, valid after Next has returned true
	half  uint32
	at    uint32
	slots []uint64
}

// Probe returns a Probe before the first number with that hash. It is valid until the next Insert or Reset.
func (x *Index) Probe(hash uint64) Probe {
	if x.slots == nil {
		x.slots = make([]uint64, minSlots)
	}
	half := fold(hash)
	return Probe{half: half, at: half, slots: x.slots}
}

// Next advances to the next candidate and reports whether there is one. Numbers with other hashes may be among them.
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

// Insert adds a number, which is not 0, under the hash of a Probe whose Next has returned false: that is where its
// place is.
func (x *Index) Insert(p *Probe, id uint32) {
	x.slots[int(p.at-1)&(len(x.slots)-1)] = uint64(p.half)<<32 | uint64(id)
	if x.used++; x.used*4 > len(x.slots)*3 {
		x.grow()
	}
}

// place puts an entry into the first free slot.
func (x *Index) place(entry uint64) {
	mask := len(x.slots) - 1
	i := int(entry>>32) & mask
	for x.slots[i] != 0 {
		i = (i + 1) & mask
	}
	x.slots[i] = entry
}

func (x *Index) grow() {
	old := x.slots
	x.slots = make([]uint64, 2*len(old))
	for _, s := range old {
		if s != 0 {
			x.place(s)
		}
	}
}

// Reset removes all numbers and keeps the memory, unless so little of it was in use that clearing it would cost more
// than filling it.
func (x *Index) Reset() {
	if len(x.slots) > 16*x.used+minSlots {
		x.slots = nil
	}
	clear(x.slots)
	x.used = 0
}
