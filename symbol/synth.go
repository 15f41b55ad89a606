package symbol

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
)

// Synthetic addresses. Every mapping of the source has regions of its own, every distinct frame a slot in one:
//
//	region  firstRegion + n*regionSize    of a mapping; a mapping that fills it gets another one
//	slot    region + n*slotSize           the symbol covers all of it
//	PC      slot + slotSize/2             what stands in stacks
const (
	firstRegion = 0x2000_0000_0000
	regionSize  = 1 << 30
	slotSize    = 16
)

// Synthesize returns src with addresses for stacks that have only names, for formats where a stack is a list of addresses. Each
// frame of such a stack, inlined ones included, gets an address; before the first event that needs it come events that say what
// it stands for: Universal.System's ExistingProcess, ProcessMapping and ProcessSymbol, which other tools understand, and definitions
// of provider "ntconv" with what those cannot say. A Table that observes them gives frames equal to the source's. Everything else
// passes unchanged. Memory grows with distinct frames and stacks.
func Synthesize(src ntconv.Source) ntconv.Source {
	info := *src.Info()
	info.PointerSize = 8
	s := &synthesizer{src: src, info: &info, processes: make(map[*ntconv.Process]*synthetic)}
	s.frameType, s.mappingType = frameDefinitionType(), mappingDefinitionType()
	s.system = systemTypes()
	return s
}

type synthesizer struct {
	src  ntconv.Source
	info *ntconv.Info

	processes   map[*ntconv.Process]*synthetic
	regions     uint64 // so many so far; ids and addresses are unique in the trace
	symbols     uint64
	frameType   *ntconv.Type
	mappingType *ntconv.Type
	system      [6]*ntconv.Type // Universal.System by id

	queue []ntconv.Event // definitions still to be delivered, from next on
	next  int
	held  bool // out waits behind them
	out   ntconv.Event
	err   error
}

// A synthetic is a process that gets addresses.
type synthetic struct {
	process *ntconv.Process
	thread  *ntconv.Thread // its definitions are about this one, as in one-collect's files
	seq     uint32
	name    string
	slots   map[ntconv.Frame]uint64
	regions map[*ntconv.Mapping]*region
	stacks  map[string]*ntconv.Stack // by addresses
	key     []byte
}

// A region is where the frames of a mapping get addresses.
type region struct{ id, next, limit uint64 }

func (s *synthesizer) Info() *ntconv.Info { return s.info }

func (s *synthesizer) Next() (*ntconv.Event, error) {
	if s.err != nil {
		return nil, s.err
	}
	if s.next < len(s.queue) {
		s.next++
		return &s.queue[s.next-1], nil
	}
	if s.held {
		s.held = false
		return &s.out, nil
	}
	e, err := s.src.Next()
	if err != nil || e.Kind != ntconv.KindEvent || e.Stack == nil || len(e.Stack.Frames) == 0 {
		return e, err
	}
	s.queue, s.next = s.queue[:0], 0
	s.out = *e
	s.out.Stack = s.stack(e)
	if s.err != nil {
		return nil, s.err
	}
	if len(s.queue) == 0 {
		return &s.out, nil
	}
	s.held, s.next = true, 1
	return &s.queue[0], nil
}

// stack returns the addresses of an event's stack, queueing the definitions of new ones.
func (s *synthesizer) stack(e *ntconv.Event) *ntconv.Stack {
	p := s.processes[e.Thread.Process]
	if p == nil {
		p = s.addProcess(e)
	}
	p.key = p.key[:0]
	for i := range e.Stack.Frames {
		slot := p.slots[e.Stack.Frames[i]]
		if slot == 0 {
			slot = s.addFrame(e, p, &e.Stack.Frames[i])
		}
		for shift := 0; shift < 64; shift += 8 {
			p.key = append(p.key, byte(slot>>shift))
		}
	}
	st := p.stacks[string(p.key)]
	if st == nil {
		st = &ntconv.Stack{Frames: e.Stack.Frames, PCs: make([]uint64, len(e.Stack.Frames))}
		for i, f := range e.Stack.Frames {
			st.PCs[i] = p.slots[f] + slotSize/2
		}
		p.stacks[string(p.key)] = st
	}
	return st
}

// addProcess introduces a process. Its name is the file of the outermost frame, if nothing else tells: PerfView takes stacks
// that end elsewhere for broken.
func (s *synthesizer) addProcess(e *ntconv.Event) *synthetic {
	of := e.Thread.Process
	p := &synthetic{
		process: of, thread: &ntconv.Thread{TID: 0, Process: of},
		slots: make(map[ntconv.Frame]uint64), regions: make(map[*ntconv.Mapping]*region), stacks: make(map[string]*ntconv.Stack),
	}
	s.processes[of] = p
	pid := uint64(0)
	if of != nil {
		p.name, pid = of.Name, of.PID
	}
	if root := e.Stack.Frames[len(e.Stack.Frames)-1]; p.name == "" && root.Mapping != nil {
		p.name = root.Mapping.File[strings.LastIndexAny(root.Mapping.File, `/\`)+1:]
	}
	s.define(e, p, s.system[0], ntconv.UintValue(pid), ntconv.StringValue(cut(p.name)), ntconv.StringValue(""))
	return p
}

// addFrame gives a frame a slot.
func (s *synthesizer) addFrame(e *ntconv.Event, p *synthetic, f *ntconv.Frame) uint64 {
	r := p.regions[f.Mapping]
	if r == nil || r.next == r.limit {
		r = s.addRegion(e, p, f.Mapping)
	}
	slot := r.next
	r.next += slotSize
	p.slots[*f] = slot
	fn := f.Func
	if fn == nil {
		fn = &ntconv.Function{Name: "0x" + strconv.FormatUint(f.PC, 16)}
	}
	s.symbols++
	s.define(e, p, s.system[4], ntconv.UintValue(s.symbols-1), ntconv.UintValue(r.id), ntconv.UintValue(slot),
		ntconv.UintValue(slot+slotSize-1), ntconv.StringValue(cut(fn.Name)))
	s.define(e, p, s.frameType, ntconv.UintValue(slot+slotSize/2), ntconv.UintValue(f.PC), ntconv.UintValue(uint64(f.Flags)),
		ntconv.IntValue(int64(f.Line)), ntconv.IntValue(int64(f.Column)), ntconv.BoolValue(f.Func != nil),
		ntconv.IntValue(int64(fn.StartLine)), ntconv.StringValue(cut(fn.Name)), ntconv.StringValue(cut(fn.SystemName)), ntconv.StringValue(cut(fn.File)))
	return slot
}

// addRegion maps m, which may be nil: then the file is named after the process.
func (s *synthesizer) addRegion(e *ntconv.Event, p *synthetic, m *ntconv.Mapping) *region {
	start := firstRegion + s.regions*regionSize
	r := &region{id: s.regions, next: start, limit: start + regionSize}
	s.regions++
	p.regions[m] = r
	c := ntconv.Mapping{File: p.name}
	if m != nil {
		c = *m
	}
	metadata := uint64(0)
	if isBuildID(c.BuildID) {
		metadata = r.id + 1
		s.define(e, p, s.system[5], ntconv.UintValue(metadata),
			ntconv.StringValue(`{"type":"ELF","build_id":"`+c.BuildID+`"}`), ntconv.StringValue(""))
	}
	s.define(e, p, s.system[3], ntconv.UintValue(r.id), ntconv.UintValue(start), ntconv.UintValue(r.limit-1), ntconv.UintValue(0),
		ntconv.StringValue(cut(c.File)), ntconv.UintValue(metadata))
	s.define(e, p, s.mappingType, ntconv.UintValue(r.id), ntconv.BoolValue(m != nil), ntconv.UintValue(c.Start), ntconv.UintValue(c.Limit),
		ntconv.UintValue(c.Offset), ntconv.StringValue(cut(c.File)), ntconv.StringValue(cut(c.BuildID)))
	return r
}

// isBuildID reports whether a build id is like GNU's. Go's own are not.
func isBuildID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) > 0 && s == strings.ToLower(s)
}

// define queues an event that the synthesized addresses need, at the time of e.
func (s *synthesizer) define(e *ntconv.Event, p *synthetic, typ *ntconv.Type, values ...ntconv.Value) {
	var buf []byte
	if n := len(s.queue); n < cap(s.queue) {
		buf = s.queue[:n+1][n].Payload[:0]
	}
	payload, err := ntconv.AppendFields(buf, typ.Fields, values, 8)
	if err != nil && s.err == nil { // never: values are made for the fields, and texts are cut
		s.err = fmt.Errorf("definition %s: %w", typ.Name, err)
	}
	p.seq++
	s.queue = append(s.queue, ntconv.Event{
		Kind: ntconv.KindEvent, CPU: ntconv.CPUUnknown, Seq: p.seq, Time: e.Time, Offset: -1,
		Type: typ, Thread: p.thread, Capture: p.thread, Payload: payload,
	})
}

// cut shortens a text to what a 16-bit count allows, at the start of a character.
func cut(s string) string {
	const most = 0xffff
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// systemTypes returns the event types of Universal.System by id, with the layouts that their readers go by.
func systemTypes() (types [6]*ntconv.Type) {
	u := ntconv.TypeVarUint
	process := []ntconv.Field{field("NamespaceId", u), textField("Name"), textField("NamespaceName")}
	specs := [6]struct {
		name   string
		fields []ntconv.Field
	}{
		{"ExistingProcess", process},
		{"ProcessCreate", process},
		{"ProcessExit", nil},
		{"ProcessMapping", []ntconv.Field{
			field("Id", u), field("StartAddress", u), field("EndAddress", u), field("FileOffset", u), textField("FileName"), field("MetadataId", u),
		}},
		{"ProcessSymbol", []ntconv.Field{
			field("Id", u), field("MappingId", u), field("StartAddress", u), field("EndAddress", u), textField("Name"),
		}},
		{"ProcessMappingMetadata", []ntconv.Field{field("Id", u), textField("SymbolMetadata"), textField("VersionMetadata")}},
	}
	for i, t := range specs {
		types[i] = &ntconv.Type{Provider: clr.UniversalSystem, ID: uint32(i), Name: t.name, Fields: t.fields}
	}
	return types
}
