package symbol

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
)

// A symbolEntry is a named range. The record has no pointers.
type symbolEntry struct {
	start, end uint64 // end as recorded: the last address, or the first behind it
	name       text
}

// symbols are the named ranges of a mapping, in whatever processes, over time.
type symbols struct {
	key  mappingKey
	list []symbolEntry
	when timeline // entries are indexes of list

	mapped      bool         // the mapping came; until then what follows is unknown
	low, high   uint64       // where it lies
	fixed       bool         // the code is a file's: a second name for it is an alias, whenever it comes
	first, last uint64       // of all symbols
	wide        bool         // some symbol lies outside of the mapping
	users       []*nativeMap // that have the mapping
	indexed     []wideUser   // that have all symbols in their index, see wideSymbols
}

// symbolsKey tells symbols apart where an id is not enough.
type symbolsKey struct {
	mappingKey
	start uint64
	file  string
}

// symbolsOf returns the symbols of a mapping.
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

// firstOf returns the symbols of the mapping that had the id first, or will have it.
func (t *Table) firstOf(id mappingKey) *symbols {
	s := t.first[id]
	if s == nil {
		s = &symbols{key: id, first: ^uint64(0)}
		t.first[id] = s
	}
	return s
}

// symbolsFor returns the symbols that an event of a process is about. Its mapping may be that of another process, or
// still to come.
func (t *Table) symbolsFor(p *process, id mappingKey) *symbols {
	if s := p.native.ids[id].syms; s != nil {
		return s
	}
	return t.firstOf(id)
}

// cover extends the range of the mapping that the symbols are for.
func (s *symbols) cover(end uint64) { s.high = max(s.high, end) }

// noteWide puts symbols into the lists of those that are searched for addresses of other mappings.
func (s *symbols) noteWide() {
	if !s.wide && s.mapped && (s.first < s.low || s.last > s.high) {
		s.wide = true
		for _, n := range s.users {
			if n.ids[s.key].syms == s {
				n.wide.add(s)
			}
		}
	}
}

func (t *Table) learnSymbol(e *ntconv.Event) {
	var m clr.Symbol
	if !clr.ParseSymbol(e, &m) {
		t.unreadable(e, "ProcessSymbol is cut off")
		return
	}
	if len(m.Name) == 0 {
		return
	}
	if m.End < m.Start || m.End-m.Start >= 1<<63 { // as for kernel symbols without the privilege to see addresses
		t.unreadable(e, "ProcessSymbol has an impossible range")
		return
	}
	p := t.processOf(e)
	s := t.symbolsFor(p, mappingKey{p.host, m.MappingID})
	s.first, s.last = min(s.first, m.Start), max(s.last, m.End)
	s.noteWide()
	known := len(s.list)
	if s.learn(symbolEntry{m.Start, m.End, t.texts.add(m.Name)}, e.Time, &t.epochs) {
		t.symbolsAt = t.epochs
	}
	if len(s.list) > known {
		t.entries++
		s.changed()
	}
}

// learn adds a symbol and reports whether addresses changed their meaning. Among symbols of one time or of a file the
// first one wins: what comes later are other names of the same code (so does Microsoft's reader with all symbols).
func (s *symbols) learn(n symbolEntry, now ntconv.Ticks, epochs *uint32) bool {
	last := n.end
	if last > n.start {
		last-- // the next symbol may begin where this one ends; at takes in the end if none does
	}
	same, together, count := true, true, 0
	s.when.now.overlapping(n.start, last, func(o *span) bool {
		same = same && s.list[o.owner] == n
		together = together && o.from == now
		count++
		return count <= mostInside
	})
	taken := count > 0
	if taken && same || count > mostInside {
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

// at returns the index of the symbol of an address.
func (s *symbols) at(pc uint64, when ntconv.Ticks) (uint32, bool) {
	if i, ok := s.when.at(pc, when); ok {
		return i, true
	}
	if i, ok := s.when.at(pc-1, when); ok && pc != 0 && s.list[i].end == pc {
		return i, true
	}
	return 0, false
}

// symbolAt returns the symbols that have a name for an address of a process, and the index of it. m is the address's
// mapping.
func (t *Table) symbolAt(p *process, m *mapping, pc uint64, when ntconv.Ticks) (*symbols, uint32, bool) {
	if m != nil {
		for _, s := range m.syms {
			if i, ok := s.at(pc, when); ok {
				return s, i, true
			}
		}
	}
	wide := &p.native.wide
	if first := int(t.wideAt(wide, pc)); first < len(wide.list) {
		for _, e := range wide.list[first:min(len(wide.list), first+maxWide)] {
			if i, ok := e.at(pc, when); ok {
				return e.symbols, i, true
			}
		}
	}
	return nil, 0, false
}

// nativeEpoch returns the number of the last change of meaning of an address.
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
	for _, s := range t.wideAround(p, pc) {
		if s != nil {
			n = max(n, s.when.epoch(pc))
		}
	}
	return n
}
