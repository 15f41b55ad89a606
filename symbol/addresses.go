package symbol

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
)

// Synthetic addresses. Each mapping of the source has regions of its own, and each distinct frame has a slot in a
// region:
//
//	region  firstRegion + n*regionSize    of one mapping; a mapping that fills its region gets another one. Regions
//	                                      are unique in the trace, because processes of the model may be one process
//	                                      of the file
//	slot    region + n*slotSize           the range of the symbol
//	PC      slot + slotSize/2             the address in stacks
const (
	firstRegion = 0x2000_0000_0000
	lastRegion  = 0x3fff_ffff_ffff // real mappings that overlap this range are not used
	regionSize  = 1 << 20          // small, so that there are 33 million
	maxRegions  = (lastRegion + 1 - firstRegion) / regionSize
	slotSize    = 16
)

// LimitRegions is the value of ntconv.LimitError.Limit if synthetic address ranges are exhausted. Each mapping needs at
// least one range.
const LimitRegions = "synthetic address ranges"

// A synthetic is a process whose frames get addresses.
type synthetic struct {
	thread  *ntconv.Thread // the thread of its definitions, as in files of one-collect
	seq     uint32
	name    string
	frames  map[ntconv.Frame]uint64   // addresses, by frame
	chains  map[uint64][]ntconv.Frame // frames at real addresses, leaf first
	regions map[*ntconv.Mapping]*region
	real    map[*ntconv.Mapping]*region // nil for mappings that cannot be used
	used    []region                    // ranges of real mappings, sorted
	stacks  map[*ntconv.Stack]*ntconv.Stack
}

// recentAddress is an entry of a cache of frame addresses: few frames make up most stacks.
type recentAddress struct {
	in    *synthetic
	frame ntconv.Frame
	pc    uint64
}

// matches compares member by member, which is faster than comparing whole frames: with intern.Cache, which does that,
// converting a profile to nettrace takes 4% more instructions and 5% more time.
func (r *recentAddress) matches(p *synthetic, f *ntconv.Frame) bool {
	g := &r.frame
	return g.PC == f.PC && g.Func == f.Func && g.Line == f.Line && g.Column == f.Column && g.Flags == f.Flags &&
		g.Mapping == f.Mapping &&
		r.in == p
}

const recentBits = 15

// A region is a range of addresses for the frames of a mapping.
type region struct{ id, start, next, limit uint64 }

// addProcess defines a process and its known mappings. If the process has no name, it is named after the file of the
// outermost frame: PerfView treats stacks that end elsewhere as broken.
func (s *synthesizer) addProcess(e *ntconv.Event) *synthetic {
	of := e.Thread.Process
	p := &synthetic{
		thread: &ntconv.Thread{TID: 0, Process: of},
		frames: make(map[ntconv.Frame]uint64), chains: make(map[uint64][]ntconv.Frame),
		regions: make(map[*ntconv.Mapping]*region), real: make(map[*ntconv.Mapping]*region),
		stacks: make(map[*ntconv.Stack]*ntconv.Stack),
	}
	s.processes[of] = p
	pid := uint64(0)
	if of != nil {
		p.name, pid = of.Name, of.PID
		if recorded, ok := of.Attrs.Get(ntconv.AttrPID); ok { // of a merged trace
			pid, _ = strconv.ParseUint(recorded, 10, 64)
		}
	}
	if p.name == "" && e.Stack != nil && len(e.Stack.Frames) > 0 {
		if root := e.Stack.Frames[len(e.Stack.Frames)-1]; root.Mapping != nil {
			p.name = root.Mapping.File[strings.LastIndexAny(root.Mapping.File, `/\`)+1:]
		}
	}
	s.define(e, p, s.system[0], ntconv.UintValue(pid), ntconv.StringValue(s.cut(p.name)), ntconv.StringValue(""))
	for _, m := range s.announceMappings(of) {
		if s.mode == AddressesSynthetic || s.realRegion(e, p, m) == nil {
			s.addRegion(e, p, m)
		}
	}
	return p
}

// mappingList identifies a list of mappings by its first element and length.
type mappingList struct {
	first **ntconv.Mapping
	n     int
}

// announceMappings returns the mappings of p to define at once, whether or not frames use them; others are defined when
// a frame uses them. If processes share a list, the first defines all mappings and each of the others only its
// main program. Defining all of them for each process would write a product of both counts, which no input contains.
func (s *synthesizer) announceMappings(p *ntconv.Process) []*ntconv.Mapping {
	if p == nil || len(p.Mappings) == 0 {
		return nil
	}
	list := mappingList{&p.Mappings[0], len(p.Mappings)}
	program, known := s.introduced[list]
	if known {
		return program
	}
	if i := slices.IndexFunc(p.Mappings, func(m *ntconv.Mapping) bool { return m.Flags&ntconv.MappingMain != 0 }); i >= 0 {
		program = p.Mappings[i : i+1]
	}
	s.introduced[list] = program
	return p.Mappings
}

// addresses returns the addresses of the stack of e.
func (s *synthesizer) addresses(e *ntconv.Event, p *synthetic) []uint64 {
	frames := e.Stack.Frames
	pcs := make([]uint64, 0, len(frames))
	inlined := 0
	for len(frames) > 0 {
		n := 1
		for frames[n-1].Flags&ntconv.FrameInlined != 0 && n < len(frames) {
			n++
		}
		if n > 1 && n <= maxInlined && inlined+n <= maxInlined && s.mode == AddressesReal { // a Table's bounds
			if pc, ok := s.together(e, p, frames[:n]); ok {
				pcs, frames, inlined = append(pcs, pc), frames[n:], inlined+n
				continue
			}
		}
		for i := range n {
			pcs = append(pcs, s.address(e, p, &frames[i], n == 1))
		}
		frames = frames[n:]
	}
	return pcs
}

// address returns the address of a frame. alone reports that nothing is inlined into it.
func (s *synthesizer) address(e *ntconv.Event, p *synthetic, f *ntconv.Frame, alone bool) uint64 {
	at := (f.PC + uint64(f.Line)) * hashFactor >> (64 - recentBits)
	first, second := &s.recent[at], &s.recent[at^1]
	if first.matches(p, f) {
		return first.pc
	}
	if second.matches(p, f) {
		return second.pc
	}
	pc := p.frames[*f]
	if pc == 0 {
		pc = s.addFrame(e, p, f, alone)
		p.frames[*f] = pc
	}
	*second = *first
	*first = recentAddress{p, *f, pc}
	return pc
}

// addFrame assigns an address to a frame and defines it.
func (s *synthesizer) addFrame(e *ntconv.Event, p *synthetic, f *ntconv.Frame, alone bool) uint64 {
	if alone && s.mode != AddressesSynthetic && s.usable(e, p, f) {
		p.chains[f.PC] = []ntconv.Frame{*f}
		// A tool that finds the file may resolve an unresolved frame, so it gets no symbol.
		if f.Flags&ntconv.FrameUnresolved == 0 {
			s.defineSymbol(e, p, p.real[f.Mapping].id, f.PC, f.PC+1, nameOf(f))
		}
		s.defineFrame(e, p, f.PC, 0, f)
		return f.PC
	}
	r := p.regions[f.Mapping]
	if r == nil || r.next == r.limit {
		r = s.addRegion(e, p, f.Mapping)
	}
	slot := r.next
	r.next += slotSize
	s.defineSymbol(e, p, r.id, slot, slot+slotSize-1, nameOf(f))
	s.defineFrame(e, p, slot+slotSize/2, 0, f)
	return slot + slotSize/2
}

// together returns the real address of frames, of which all but the last are inlined into the last, if they can share
// it.
func (s *synthesizer) together(e *ntconv.Event, p *synthetic, frames []ntconv.Frame) (uint64, bool) {
	outer := &frames[len(frames)-1]
	if chain := p.chains[outer.PC]; chain != nil {
		return outer.PC, slices.Equal(chain, frames)
	}
	for i := range frames {
		if frames[i].PC != outer.PC || frames[i].Mapping != outer.Mapping {
			return 0, false
		}
	}
	if !s.usable(e, p, outer) {
		return 0, false
	}
	p.chains[outer.PC] = slices.Clone(frames)
	s.defineSymbol(e, p, p.real[outer.Mapping].id, outer.PC, outer.PC+1, nameOf(outer))
	for i := range frames {
		s.defineFrame(e, p, outer.PC, i, &frames[i])
	}
	return outer.PC, true
}

// usable reports whether f can keep its own address: the address lies inside the mapping, and it and its neighbors
// represent no other frame. TraceEvent treats the last byte of a mapping as outside, and the one in dotnet-trace 3.1.23
// finds no symbols of one byte, so each symbol covers two bytes.
func (s *synthesizer) usable(e *ntconv.Event, p *synthetic, f *ntconv.Frame) bool {
	m := f.Mapping
	return m != nil && f.PC != 0 && f.PC >= m.Start && f.PC < m.Limit && f.PC+1 < m.Limit &&
		p.chains[f.PC-1] == nil && p.chains[f.PC] == nil && p.chains[f.PC+1] == nil && s.realRegion(e, p, m) != nil
}

// realRegion maps m at its own addresses. It returns nil if the range is invalid or overlaps another mapping.
func (s *synthesizer) realRegion(e *ntconv.Event, p *synthetic, m *ntconv.Mapping) *region {
	r, known := p.real[m]
	if known {
		return r
	}
	i, _ := slices.BinarySearchFunc(p.used, m.Start, func(r region, start uint64) int {
		if r.limit <= start {
			return -1
		}
		return 1
	})
	switch {
	case m.Limit <= m.Start || m.Limit-m.Start < 2 || m.Limit-m.Start >= 1<<62:
	case m.Start <= lastRegion && m.Limit > firstRegion:
	case i < len(p.used) && p.used[i].start < m.Limit:
	default:
		r = &region{id: s.mappings, start: m.Start, limit: m.Limit}
		p.used = slices.Insert(p.used, i, *r)
		s.defineMapping(e, p, r, m.Offset, m)
	}
	p.real[m] = r
	return r
}

// addRegion maps m, which may be nil, to a new range of synthetic addresses. If no range is left, it sets s.err.
func (s *synthesizer) addRegion(e *ntconv.Event, p *synthetic, m *ntconv.Mapping) *region {
	start := firstRegion + s.regions*regionSize
	if start > lastRegion && s.err == nil {
		s.err = &ntconv.LimitError{Limit: LimitRegions, Value: maxRegions, Asked: int64(s.regions) + 1}
	}
	r := &region{id: s.mappings, start: start, next: start, limit: start + regionSize}
	s.regions++
	p.regions[m] = r
	s.defineMapping(e, p, r, 0, m)
	return r
}

// defineMapping defines the mapping of a region. A mapping without a file gets the name of the process, because
// PerfView would treat stacks that begin there as broken.
func (s *synthesizer) defineMapping(e *ntconv.Event, p *synthetic, r *region, offset uint64, m *ntconv.Mapping) {
	s.mappings++
	c, file := ntconv.Mapping{}, p.name
	if m != nil {
		c = *m
		if c.File != "" {
			file = c.File
		}
	}
	metadata := uint64(0)
	if isBuildID(c.BuildID) {
		metadata = r.id + 1
		s.define(e, p, s.system[5], ntconv.UintValue(metadata),
			ntconv.StringValue(`{"type":"ELF","build_id":"`+c.BuildID+`"}`), ntconv.StringValue(""))
	}
	s.define(e, p, s.system[3], ntconv.UintValue(r.id), ntconv.UintValue(r.start), ntconv.UintValue(r.limit-1),
		ntconv.UintValue(offset), ntconv.StringValue(cut(file)), ntconv.UintValue(metadata))
	s.define(e, p, s.mappingType, ntconv.UintValue(r.id), truth(m != nil),
		ntconv.UintValue(c.Start), ntconv.UintValue(c.Limit), ntconv.UintValue(c.Offset),
		ntconv.StringValue(s.cut(c.File)), ntconv.StringValue(s.cut(c.BuildID)), ntconv.UintValue(uint64(c.Flags)))
}

func (s *synthesizer) defineSymbol(e *ntconv.Event, p *synthetic, mapping, start, end uint64, name string) {
	s.define(e, p, s.system[4], ntconv.UintValue(s.symbols), ntconv.UintValue(mapping), ntconv.UintValue(start),
		ntconv.UintValue(end), ntconv.StringValue(cut(name)))
	s.symbols++
}

// defineFrame defines the frame that an address represents. inner is the number of frames of the same address that
// precede it because they are inlined into it.
func (s *synthesizer) defineFrame(e *ntconv.Event, p *synthetic, pc uint64, inner int, f *ntconv.Frame) {
	fn := f.Func
	if fn == nil {
		fn = &ntconv.Function{Name: nameOf(f)}
	}
	s.define(e, p, s.frameType, ntconv.UintValue(pc), ntconv.UintValue(f.PC), ntconv.UintValue(uint64(f.Flags)),
		ntconv.IntValue(int64(f.Line)), ntconv.IntValue(int64(f.Column)), truth(f.Func != nil),
		ntconv.IntValue(int64(fn.StartLine)), ntconv.StringValue(s.cut(fn.Name)), ntconv.StringValue(s.cut(fn.SystemName)),
		ntconv.StringValue(s.cut(fn.File)), ntconv.UintValue(uint64(inner)))
}

// truth returns 1 for true and 0 for false.
func truth(b bool) ntconv.Value {
	if b {
		return ntconv.UintValue(1)
	}
	return ntconv.UintValue(0)
}

// nameOf returns the name that other tools show for a frame.
func nameOf(f *ntconv.Frame) string {
	if f.Func == nil {
		return "0x" + strconv.FormatUint(f.PC, 16)
	}
	return f.Func.Name
}

// isBuildID reports whether a build ID is written like a GNU build ID, in lower-case hexadecimal. Go's own build IDs
// are not.
func isBuildID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) > 0 && s == strings.ToLower(s)
}
