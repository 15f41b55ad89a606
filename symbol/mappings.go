package symbol

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// mappingKey is the ID of a mapping or of its metadata. IDs are unique within a recording. A forked child has its
// parent's mappings under the same IDs, and a symbol applies to all processes with its mapping. Only a trace merged
// from several recordings has an ID twice; then the mappings differ in address or file.
type mappingKey struct {
	host string
	id   uint64
}

// A mapping is a file, or a region of generated code, mapped into a process.
type mapping struct {
	ntconv.Mapping // Limit is exclusive; File and BuildID as shown
	last           uint64
	metadata       mappingKey
	syms           []*symbols      // one per mapping ID: a mapping that grows gets further IDs
	shown          *ntconv.Mapping // created on demand by Table.show
	restored       bool            // a definition set shown, which may be nil
}

// doubleMapper is the file of the runtime's writable alias of generated code. The alias is not a module.
const doubleMapper = "/memfd:doublemapper"

// isKernel reports whether the mapping is the one that one-collect writes for the kernel.
func (m *mapping) isKernel() bool { return m.File == "vmlinux" }

// isGenerated reports whether a mapping with this file name may hold different code at different times.
func isGenerated(file string) bool {
	return file == "" || file[0] == '[' || strings.HasPrefix(file, "/memfd:") || strings.HasPrefix(file, "//anon")
}

// kernelStart is the lowest address of the kernel on x64 and arm64, where user addresses have at most 48 bits.
const kernelStart = 0xffff_8000_0000_0000

// A nativeMap is the set of mappings of a process over time.
type nativeMap struct {
	list    []*mapping
	when    timeline             // entries are indexes of list
	ids     map[mappingKey]bound // the latest of each ID
	outside outsideSymbols       // symbols outside their mapping

	assemblies map[string]*mapping // the first of each name (assemblyKey) among the first indexed entries of list
	indexed    int
}

// maxGrown bounds the mapping IDs of one mapping that grows.
const maxGrown = 256

// bound is what a mapping ID refers to in a process.
type bound struct {
	mapping *mapping
	syms    *symbols
}

func (t *Table) learnMapping(e *ntconv.Event) {
	var m clr.Mapping
	if !clr.ParseMapping(e, &m) || m.End < m.Start || m.End-m.Start >= 1<<63 {
		t.unreadable(e, "ProcessMapping is truncated or has an invalid range")
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
	s.noteOutside()
	n.syms = []*symbols{s}
	p.native.learn(n, e.Time, &t.epochs)
	p.forget() // managed names may now find their file
	p.assemblies = nil
}

// learn adds a mapping. A mapping with the same file and start as the current owner of its start extends that owner.
func (s *nativeMap) learn(n *mapping, now ntconv.Ticks, epochs *uint32) {
	syms := n.syms[0]
	known := s.ids[syms.key].syms == syms
	if s.ids == nil {
		s.ids = make(map[mappingKey]bound)
	}
	if !known {
		syms.users = append(syms.users, s)
		if syms.outsideMapping {
			s.outside.add(syms)
		}
	}
	s.ids[syms.key] = bound{n, syms}
	if old := s.when.now.find(n.Start); old != nil {
		if o := s.list[old.owner]; o.Start == n.Start && o.File == n.File && o.Offset == n.Offset {
			s.ids[syms.key] = bound{o, syms}
			if !known && len(o.syms) < maxGrown {
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

// place makes an entry the owner of its addresses. Among mappings of the same time the smaller ones win, because the
// mapping of the kernel covers others.
func (s *nativeMap) place(n span, now ntconv.Ticks, epochs *uint32) {
	taken, inside, count := false, true, 0
	s.when.now.overlapping(n.start, n.last, func(o *span) bool {
		if o.owner != n.owner {
			taken = true
			inside = inside && o.from == now && n.start <= o.start && o.last <= n.last &&
				o.last-o.start < n.last-n.start
		}
		count++
		inside = inside && count <= maxInside
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

// at returns the mapping of an address, or nil. The recorded end belongs to the mapping even if the recorder meant it
// as exclusive.
func (s *nativeMap) at(pc uint64, when ntconv.Ticks) *mapping {
	if i, ok := s.when.at(pc, when); ok {
		return s.list[i]
	}
	if i, ok := s.when.at(pc-1, when); ok && pc != 0 && s.list[i].Limit == pc {
		return s.list[i]
	}
	return nil
}

// show returns the exported form of m: nil if m is nil or is not a module.
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

// mappings returns all mappings of a process, sorted by address; those of managed modules come first because they have
// none. own are the mappings that the source provided.
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
