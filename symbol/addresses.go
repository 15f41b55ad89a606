package symbol

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
)

// Made-up addresses. Every mapping of the source has regions of its own, every distinct frame a slot in one:
//
//	region  firstRegion + n*regionSize    of a mapping; a mapping that fills it gets another one. No two of a trace are the
//	                                      same: processes of the model may be one process of the file
//	slot    region + n*slotSize           the symbol covers all of it
//	PC      slot + slotSize/2             what stands in stacks
const (
	firstRegion = 0x2000_0000_0000
	lastRegion  = 0x3fff_ffff_ffff // real mappings that reach between these are not used
	regionSize  = 1 << 20          // small, so that 33 million fit
	maxRegions  = (lastRegion + 1 - firstRegion) / regionSize
	slotSize    = 16
)

// LimitRegions is the name of the limit on synthetic address ranges in ntconv.LimitError.Limit. Each mapping needs one
// or more.
const LimitRegions = "synthetic address ranges"

// A synthetic is a process that gets addresses.
type synthetic struct {
	thread  *ntconv.Thread // its definitions are about this one, as in one-collect's files
	seq     uint32
	name    string
	frames  map[ntconv.Frame]uint64   // addresses, by frame
	chains  map[uint64][]ntconv.Frame // what stands at real addresses, leaf first
	regions map[*ntconv.Mapping]*region
	real    map[*ntconv.Mapping]*region // nil for those that cannot be used
	used    []region                    // by real mappings, in order
	stacks  map[*ntconv.Stack]*ntconv.Stack
}

// recentAddress is the address of a frame that was met before: the few that make up most stacks find themselves here.
type recentAddress struct {
	in    *synthetic
	frame ntconv.Frame
	pc    uint64
}

// is compares member by member, which is faster than comparing frames as a whole: with intern.Cache, which does that, a
// nettrace file of a profile takes 4% more instructions and 5% more time.
func (r *recentAddress) is(p *synthetic, f *ntconv.Frame) bool {
	g := &r.frame
	return g.PC == f.PC && g.Func == f.Func && g.Line == f.Line && g.Column == f.Column && g.Flags == f.Flags &&
		g.Mapping == f.Mapping &&
		r.in == p
}

const recentBits = 15

// A region is where the frames of a mapping have addresses.
type region struct{ id, start, next, limit uint64 }

// addProcess introduces a process and the mappings that it is known to have. Its name is the file of the outermost
// frame, if nothing else tells: PerfView takes stacks that end elsewhere for broken.
func (s *synthesizer) addProcess(e *ntconv.Event) *synthetic {
	of := e.Thread.Process
	p := &synthetic{
		thread: &ntconv.Thread{TID: 0, Process: of},
		frames: make(map[ntconv.Frame]uint64), chains: make(map[uint64][]ntconv.Frame),
		regions: make(
			map[*ntconv.Mapping]*region,
		), real: make(map[*ntconv.Mapping]*region), stacks: make(map[*ntconv.Stack]*ntconv.Stack),
	}
	s.processes[of] = p
	pid := uint64(0)
	if of != nil {
		p.name, pid = of.Name, of.PID
		if recorded, ok := of.Attrs.Get(ntconv.AttrPID); ok { // of another trace than others
			pid, _ = strconv.ParseUint(recorded, 10, 64)
		}
	}
	if p.name == "" && e.Stack != nil && len(e.Stack.Frames) > 0 {
		if root := e.Stack.Frames[len(e.Stack.Frames)-1]; root.Mapping != nil {
			p.name = root.Mapping.File[strings.LastIndexAny(root.Mapping.File, `/\`)+1:]
		}
	}
	s.define(e, p, s.system[0], ntconv.UintValue(pid), ntconv.StringValue(s.cut(p.name)), ntconv.StringValue(""))
	for _, m := range s.introduce(of) {
		if s.mode == AddressesSynthetic || s.realRegion(e, p, m) == nil {
			s.addRegion(e, p, m)
		}
	}
	return p
}

// mappingList is the identity of a list of mappings.
type mappingList struct {
	first **ntconv.Mapping
	n     int
}

// introduce returns the mappings that a process has from the start, whether frames use them or not. Others get theirs
// when a frame does: of processes that share a list, one tells all of it, and the others which one is the program. All
// of it for each would be a product that no input holds.
func (s *synthesizer) introduce(p *ntconv.Process) []*ntconv.Mapping {
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

// addresses returns the addresses of an event's stack.
func (s *synthesizer) addresses(e *ntconv.Event, p *synthetic) []uint64 {
	frames := e.Stack.Frames
	pcs := make([]uint64, 0, len(frames))
	inlined := 0
	for len(frames) > 0 {
		n := 1
		for frames[n-1].Flags&ntconv.FrameInlined != 0 && n < len(frames) {
			n++
		}
		if n > 1 && n <= maxInlined && inlined+n <= maxInlined && s.mode == AddressesReal { // a Table restores so many
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

// address returns the address of a frame. alone says that nothing was inlined into it.
func (s *synthesizer) address(e *ntconv.Event, p *synthetic, f *ntconv.Frame, alone bool) uint64 {
	at := (f.PC + uint64(f.Line)) * hashFactor >> (64 - recentBits)
	first, second := &s.recent[at], &s.recent[at^1]
	if first.is(p, f) {
		return first.pc
	}
	if second.is(p, f) {
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

// addFrame gives a frame an address.
func (s *synthesizer) addFrame(e *ntconv.Event, p *synthetic, f *ntconv.Frame, alone bool) uint64 {
	if alone && s.mode != AddressesSynthetic && s.usable(e, p, f) {
		p.chains[f.PC] = []ntconv.Frame{*f}
		// What has no name may be given one later by a tool that finds the file.
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

// together returns the real address of a frame and of those inlined into it, if it can be used for them.
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

// usable reports whether a frame's own address can stand for it: nothing else does, and it lies well inside its
// mapping. Microsoft's reader counts the last byte of a mapping as outside, and that of dotnet-trace (3.1.23) finds no
// symbol of a single byte: each has two, and so its neighbours cannot be others.
func (s *synthesizer) usable(e *ntconv.Event, p *synthetic, f *ntconv.Frame) bool {
	m := f.Mapping
	return m != nil && f.PC != 0 && f.PC >= m.Start && f.PC < m.Limit && f.PC+1 < m.Limit &&
		p.chains[f.PC-1] == nil && p.chains[f.PC] == nil && p.chains[f.PC+1] == nil && s.realRegion(e, p, m) != nil
}

// realRegion maps m where it says that it is, or returns nil where that is impossible or another mapping is.
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

// addRegion maps m, which may be nil, to made-up addresses.
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

// defineMapping says what lies in a region. A file without a name is called like the process: PerfView takes stacks
// that begin there for broken else.
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
	s.define(
		e,
		p,
		s.system[3],
		ntconv.UintValue(r.id),
		ntconv.UintValue(r.start),
		ntconv.UintValue(r.limit-1),
		ntconv.UintValue(offset),
		ntconv.StringValue(cut(file)),
		ntconv.UintValue(metadata),
	)
	s.define(
		e,
		p,
		s.mappingType,
		ntconv.UintValue(r.id),
		truth(m != nil),
		ntconv.UintValue(c.Start),
		ntconv.UintValue(c.Limit),
		ntconv.UintValue(
			c.Offset,
		),
		ntconv.StringValue(s.cut(c.File)),
		ntconv.StringValue(s.cut(c.BuildID)),
		ntconv.UintValue(uint64(c.Flags)),
	)
}

func (s *synthesizer) defineSymbol(e *ntconv.Event, p *synthetic, mapping, start, end uint64, name string) {
	s.define(e, p, s.system[4], ntconv.UintValue(s.symbols), ntconv.UintValue(mapping), ntconv.UintValue(start),
		ntconv.UintValue(end), ntconv.StringValue(cut(name)))
	s.symbols++
}

// defineFrame says what an address stands for. inner is the number of frames that do so before this one: what is
// inlined.
func (s *synthesizer) defineFrame(e *ntconv.Event, p *synthetic, pc uint64, inner int, f *ntconv.Frame) {
	fn := f.Func
	if fn == nil {
		fn = &ntconv.Function{Name: nameOf(f)}
	}
	s.define(
		e,
		p,
		s.frameType,
		ntconv.UintValue(pc),
		ntconv.UintValue(f.PC),
		ntconv.UintValue(uint64(f.Flags)),
		ntconv.IntValue(int64(f.Line)),
		ntconv.IntValue(int64(f.Column)),
		truth(f.Func != nil),
		ntconv.IntValue(
			int64(fn.StartLine),
		),
		ntconv.StringValue(s.cut(fn.Name)),
		ntconv.StringValue(s.cut(fn.SystemName)),
		ntconv.StringValue(s.cut(fn.File)),
		ntconv.UintValue(uint64(inner)),
	)
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

// isBuildID reports whether a build id is like GNU's. Go's own are not.
func isBuildID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) > 0 && s == strings.ToLower(s)
}
