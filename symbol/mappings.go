package symbol

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
)

// mappingKey is the id of a mapping, or of the metadata of one. Ids count per recording. A forked child has its
// parent's mappings under the same ids, and a symbol is for all processes that have its mapping. Only a trace merged
// from several has an id twice; then the mappings differ in address or file.
type mappingKey struct {
	host string
	id   uint64
}

// A mapping is a file, or generated code, in a process.
type mapping struct {
	ntconv.Mapping // Limit is the first address behind it; File and BuildID as they will be shown
	last           uint64
	metadata       mappingKey
	syms           []*symbols      // one a mapping id: a mapping that grows gets another one
	shown          *ntconv.Mapping // made on demand
	restored       bool            // shown, which may be nil, is what a definition said
}

// doubleMapper is what the runtime's writable alias of generated code is mapped from. It is no module.
const doubleMapper = "/memfd:doublemapper"

// isKernel reports whether the mapping is one-collect's for the kernel.
func (m *mapping) isKernel() bool { return m.File == "vmlinux" }

// isGenerated reports whether a mapping of that name may hold one piece of code today and another one tomorrow.
func isGenerated(file string) bool {
	return file == "" || file[0] == '[' || strings.HasPrefix(file, "/memfd:") || strings.HasPrefix(file, "//anon")
}

// kernelStart is the lowest address of the kernel on x64 and arm64, where user addresses have at most 48 bits.
const kernelStart = 0xffff_8000_0000_0000

// A nativeMap is the mappings of a process over time.
type nativeMap struct {
	list []*mapping
	when timeline             // entries are indexes of list
	ids  map[mappingKey]bound // the latest one of each
	wide wideSymbols          // of these mappings

	assemblies map[string]*mapping // the first of each name, see assemblyKey; of the first indexed entries of list
	indexed    int
}

// mostGrown is how many ids a mapping that grows may have had.
const mostGrown = 256

// bound is what an id stands for in a process.
type bound struct {
	mapping *mapping
	syms    *symbols
}

func (t *Table) learnMapping(e *ntconv.Event) {
	var m clr.Mapping
	if !clr.ParseMapping(e, &m) || m.End < m.Start || m.End-m.Start >= 1<<63 {
		t.unreadable(e, "ProcessMapping is cut off or has an impossible range")
		return
	}
	p := t.processOf(e)
	n := &mapping{
		Mapping: ntconv.Mapping{Start: m.Start, Limit: m.Limit(), Offset: m.Offset, File: string(m.File)},
		last:    m.End,
	}
	if m.Limit() > m.Start && m.End != ^uint64(0) {
		n.last = m.Limit() - 1
	}
	if m.MetadataID != 0 {
		n.metadata = mappingKey{p.host, m.MetadataID}
	}
	s := t.symbolsOf(mappingKey{p.host, m.ID}, n)
	s.cover(m.End)
	s.noteWide()
	n.syms = []*symbols{s}
	p.native.learn(n, e.Time, &t.epochs)
	p.forget() // managed names may find their file now
	p.assemblies = nil
}

// learn adds a mapping. One of the same file that begins where another one does is that one, grown.
func (s *nativeMap) learn(n *mapping, now ntconv.Ticks, epochs *uint32) {
	syms := n.syms[0]
	known := s.ids[syms.key].syms == syms
	if s.ids == nil {
		s.ids = make(map[mappingKey]bound)
	}
	if !known {
		syms.users = append(syms.users, s)
		if syms.wide {
			s.wide.add(syms)
		}
	}
	s.ids[syms.key] = bound{n, syms}
	if old := s.when.now.find(n.Start); old != nil {
		if o := s.list[old.owner]; o.Start == n.Start && o.File == n.File && o.Offset == n.Offset {
			s.ids[syms.key] = bound{o, syms}
			if !known && len(o.syms) < mostGrown {
				o.syms = append(o.syms, syms)
			}
			if n.last > o.last {
				o.Limit, o.last, o.shown = n.Limit, n.last, nil
				s.place(
					span{start: n.Start, last: n.last, from: old.from, owner: old.owner, epoch: old.epoch},
					now,
					epochs,
				)
			}
			return
		}
	}
	s.list = append(s.list, n)
	s.place(span{start: n.Start, last: n.last, from: now, owner: uint32(len(s.list) - 1)}, now, epochs)
}

// place makes an entry the owner of its addresses. Among mappings of one time the smaller one wins: the kernel's covers
// others.
func (s *nativeMap) place(n span, now ntconv.Ticks, epochs *uint32) {
	taken, inside, count := false, true, 0
	s.when.now.overlapping(n.start, n.last, func(o *span) bool {
		if o.owner != n.owner {
			taken = true
			inside = inside && o.from == now && n.start <= o.start && o.last <= n.last &&
				o.last-o.start < n.last-n.start
		}
		count++
		inside = inside && count <= mostInside
		return !taken || inside
	})
	if taken && inside {
		s.when.now.fill(n)
		return
	}
	if taken {
		*epochs++
		n.epoch = *epochs
	}
	s.when.put(n)
}

// at returns the mapping of an address, or nil. The recorded end of a mapping is inside, whether it was meant so or
// not.
func (s *nativeMap) at(pc uint64, when ntconv.Ticks) *mapping {
	if i, ok := s.when.at(pc, when); ok {
		return s.list[i]
	}
	if i, ok := s.when.at(pc-1, when); ok && pc != 0 && s.list[i].Limit == pc {
		return s.list[i]
	}
	return nil
}

// show returns the mapping as it is given out.
func (t *Table) show(m *mapping) *ntconv.Mapping {
	if m == nil || !m.restored && strings.HasPrefix(m.File, doubleMapper) {
		return nil
	}
	if m.shown == nil && !m.restored {
		c := m.Mapping
		c.BuildID = t.metadata[m.metadata]
		m.shown = &c
	}
	return m.shown
}

// mappings returns all mappings of a process by address, the managed modules, which have none, first. own are those
// that it came with.
func (t *Table) mappings(p *process, own []*ntconv.Mapping) []*ntconv.Mapping {
	out := slices.Clone(own)
	for _, m := range p.files {
		out = append(out, m)
	}
	for _, m := range p.native.list {
		if c := t.show(m); c != nil {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *ntconv.Mapping) int {
		return cmp.Or(
			cmp.Compare(a.Start, b.Start),
			cmp.Compare(a.Limit, b.Limit),
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.BuildID, b.BuildID),
		)
	})
	return slices.Compact(out)
}
