package symbol

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// A symbolEntry is the address range of a symbol. The record contains no pointers.
type symbolEntry struct {
	start, end uint64 // end as recorded: inclusive or exclusive, depending on the recorder
	name       stringID
}

// symbols are the symbols of one mapping, in all processes that have it, over time. learnMapping sets mapped, low and
// high; learnSymbol adds to list and widens first and last; both call noteOutside, which sets outsideMapping once.
type symbols struct {
	key  mappingKey
	list []symbolEntry
	when timeline // entries are indexes of list

	mapped         bool          // the mapping event was seen; until then the fields that follow it are unknown
	low, high      uint64        // range of the mapping, both ends included
	fixed          bool          // code from a file: a further name for a range is an alias, whenever it is recorded
	first, last    uint64        // range of all symbols
	outsideMapping bool          // some symbol lies outside [low, high]
	users          []*nativeMap  // the processes with the mapping
	indexed        []outsideUser // the indexes that contain all symbols of list
}

// symbolsKey distinguishes symbols whose mappings share an ID.
type symbolsKey struct {
	mappingKey
	start uint64
	file  string
}

// symbolsOf returns the symbols of m, whose ID is id. It adopts symbols that were recorded before their mapping.
func (t *Table) symbolsOf(id mappingKey, m *mapping) *symbols {
	key := symbolsKey{id, m.Start, m.File}
	s := t.symbols[key]
	if s == nil {
		if s = t.firstOf(id); s.mapped {
			s = &symbols{key: id, first: ^uint64(0)}
		}
		s.mapped, s.fixed, s.low, s.high = true, !isGenerated(m.File), m.Start, m.last
		t.symbols[key] = s
	}
	return s
}

// firstOf returns the symbols of the first mapping with that ID, whether or not its event has been seen.
func (t *Table) firstOf(id mappingKey) *symbols {
	s := t.first[id]
	if s == nil {
		s = &symbols{key: id, first: ^uint64(0)}
		t.first[id] = s
	}
	return s
}

// symbolsFor returns the symbols that an event of p refers to. The mapping may belong to another process, or may not
// have been recorded yet.
func (t *Table) symbolsFor(p *process, id mappingKey) *symbols {
	if s := p.native.ids[id].syms; s != nil {
		return s
	}
	return t.firstOf(id)
}

// cover extends the range of the mapping of the symbols up to end.
func (s *symbols) cover(end uint64) { s.high = max(s.high, end) }

// noteOutside registers s with its processes once it has a symbol outside its mapping, so that lookups of addresses in
// other mappings search it too.
func (s *symbols) noteOutside() {
	if !s.outsideMapping && s.mapped && (s.first < s.low || s.last > s.high) {
		s.outsideMapping = true
		for _, n := range s.users {
			if n.ids[s.key].syms == s {
				n.outside.add(s)
			}
		}
	}
}

func (t *Table) learnSymbol(e *ntconv.Event) {
	var m clr.Symbol
	if !clr.ParseSymbol(e, &m) {
		t.unreadable(e, "ProcessSymbol is truncated")
		return
	}
	if len(m.Name) == 0 {
		return
	}
	if m.End < m.Start || m.End-m.Start >= 1<<63 { // kernel symbols recorded without the privilege to see addresses
		t.unreadable(e, "ProcessSymbol has an invalid range")
		return
	}
	p := t.processOf(e)
	s := t.symbolsFor(p, mappingKey{p.host, m.MappingID})
	s.first, s.last = min(s.first, m.Start), max(s.last, m.End)
	s.noteOutside()
	known := len(s.list)
	if s.learn(symbolEntry{m.Start, m.End, t.strings.add(m.Name)}, e.Time, &t.epochs) {
		t.symbolsAt = t.epochs
	}
	if len(s.list) > known {
		t.entries++
		s.changed()
	}
}

// learn adds a symbol and reports whether the owner of any address changed. Among symbols of one time, or of a file,
// the first one wins: later ones are aliases of the same code. TraceEvent applies this rule to all symbols.
func (s *symbols) learn(n symbolEntry, now ntconv.Ticks, epochs *uint32) bool {
	last := n.end
	if last > n.start {
		last-- // the next symbol may begin at this end; at includes the end if none does
	}
	same, together, count := true, true, 0
	s.when.now.overlapping(n.start, last, func(o *span) bool {
		same = same && s.list[o.owner] == n
		together = together && o.from == now
		count++
		return count <= maxInside
	})
	taken := count > 0
	if taken && same || count > maxInside {
		return false
	}
	add := span{start: n.start, last: last, from: now, owner: uint32(len(s.list))}
	s.list = append(s.list, n)
	switch {
	case taken && (together || s.fixed):
		s.when.now.fill(add)
		return false
	case taken:
		*epochs++
		add.epoch = *epochs
	}
	s.when.put(add)
	return taken
}

// at returns the index of the symbol that contains pc at a time.
func (s *symbols) at(pc uint64, when ntconv.Ticks) (uint32, bool) {
	if i, ok := s.when.at(pc, when); ok {
		return i, true
	}
	if i, ok := s.when.at(pc-1, when); ok && pc != 0 && s.list[i].end == pc {
		return i, true
	}
	return 0, false
}

// symbolAt returns the symbols that contain pc in process p at a time, and the index of the symbol. m is the mapping of
// pc, or nil.
func (t *Table) symbolAt(p *process, m *mapping, pc uint64, when ntconv.Ticks) (*symbols, uint32, bool) {
	if m != nil {
		for _, s := range m.syms {
			if i, ok := s.at(pc, when); ok {
				return s, i, true
			}
		}
	}
	outside := &p.native.outside
	if first := int(t.outsideAt(outside, pc)); first < len(outside.list) {
		for _, e := range outside.list[first:min(len(outside.list), first+maxOutside)] {
			if i, ok := e.at(pc, when); ok {
				return e.symbols, i, true
			}
		}
	}
	return nil, 0, false
}

// nativeEpoch returns the number of the last change of owner of pc or pc-1 among mappings and symbols.
func (t *Table) nativeEpoch(p *process, pc uint64) uint32 {
	n := p.native.when.epoch(pc)
	if t.symbolsAt == 0 {
		return n
	}
	if m := p.native.at(pc, forever); m != nil {
		for _, s := range m.syms {
			n = max(n, s.when.epoch(pc))
		}
	}
	for _, s := range t.outsideAround(p, pc) {
		if s != nil {
			n = max(n, s.when.epoch(pc))
		}
	}
	return n
}
