package symbol

import (
	"fmt"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/clr"
)

// Addresses says which addresses frames get that have only names.
type Addresses uint8

const (
	// AddressesMixed: a frame keeps the address that it was recorded with if it is the only one there, nothing was
	// inlined into it, and its mapping is a real one. Others get made-up addresses.
	AddressesMixed Addresses = iota
	// AddressesReal: frames that were inlined also keep the address of the function that they are in. Tools that know
	// nothing of ntconv's definitions show that function alone.
	AddressesReal
	// AddressesSynthetic: all addresses are made up.
	AddressesSynthetic
)

// SynthesizeOptions are options of Synthesize. The zero value is the default.
type SynthesizeOptions struct {
	Addresses Addresses
	Report    *ntconv.Report // counts names and files that are too long for definitions; may be nil
}

// Synthesize returns src with addresses for stacks that have only names, for formats where a stack is a list of
// addresses. Each frame of such a stack, inlined ones included, gets an address; before the first event that needs it
// come events that say what it stands for: Universal.System's ExistingProcess, ProcessMapping and ProcessSymbol, which
// other tools understand, and definitions of provider "ntconv" with what those cannot say. A Table that observes them
// gives frames equal to the source's. Everything else passes unchanged. Memory grows with distinct frames. opts may be
// nil.
func Synthesize(src ntconv.Source, opts *SynthesizeOptions) ntconv.Source {
	info := *src.Info()
	info.PointerSize = 8
	return &synthesizedSource{src: src, info: &info, s: newSynthesizer(opts)}
}

type synthesizedSource struct {
	src  ntconv.Source
	info *ntconv.Info
	s    *synthesizer
	next int           // of s.queue
	held *ntconv.Event // waits behind the queue
}

func (s *synthesizedSource) Info() *ntconv.Info { return s.info }

func (s *synthesizedSource) Next() (*ntconv.Event, error) {
	if s.next < len(s.s.queue) {
		s.next++
		return &s.s.queue[s.next-1], nil
	}
	if e := s.held; e != nil {
		s.held = nil
		return e, nil
	}
	if s.s.err != nil {
		return nil, s.s.err
	}
	e, err := s.src.Next()
	if err != nil {
		return e, err
	}
	if e = s.s.apply(e); s.s.err != nil {
		return nil, s.s.err
	}
	s.next = 0
	if len(s.s.queue) == 0 {
		return e, nil
	}
	s.held, s.next = e, 1
	return &s.s.queue[0], nil
}

// SynthesizeTo returns a sink that passes events on to dst as Synthesize does. Its Close closes dst.
func SynthesizeTo(dst ntconv.Sink, opts *SynthesizeOptions) ntconv.Sink {
	return &synthesizingSink{dst, newSynthesizer(opts)}
}

type synthesizingSink struct {
	ntconv.Sink
	s *synthesizer
}

func (s *synthesizingSink) Write(e *ntconv.Event) error {
	e = s.s.apply(e)
	if s.s.err != nil {
		return s.s.err
	}
	for i := range s.s.queue {
		if err := s.Sink.Write(&s.s.queue[i]); err != nil {
			return err
		}
	}
	return s.Sink.Write(e)
}

// A synthesizer gives addresses to the stacks of a stream.
type synthesizer struct {
	mode        Addresses
	report      *ntconv.Report
	processes   map[*ntconv.Process]*synthetic
	introduced  map[mappingList][]*ntconv.Mapping // lists that a process told, with the program among them
	recent      []recentAddress
	known       int    // frames of stacks that were remembered since all were forgotten
	regions     uint64 // with made-up addresses; these are unique in the trace
	mappings    uint64 // so many so far, which are their ids
	symbols     uint64
	frameType   *ntconv.Type
	mappingType *ntconv.Type
	system      [6]*ntconv.Type // Universal.System by id

	queue []ntconv.Event // definitions that the event of the last apply needs
	out   ntconv.Event
	err   error
}

func newSynthesizer(opts *SynthesizeOptions) *synthesizer {
	s := &synthesizer{
		processes:  make(map[*ntconv.Process]*synthetic),
		introduced: make(map[mappingList][]*ntconv.Mapping),
	}
	if opts != nil {
		s.mode, s.report = opts.Addresses, opts.Report
	}
	s.frameType, s.mappingType = frameDefinitionType(), mappingDefinitionType()
	s.system = systemTypes()
	return s
}

// apply returns an event with the addresses of its stack, and queues the definitions of new ones. The result is
// borrowed until the next call.
func (s *synthesizer) apply(e *ntconv.Event) *ntconv.Event {
	s.queue = s.queue[:0]
	named := e.Stack != nil && len(e.Stack.Frames) > 0
	if e.Kind != ntconv.KindEvent || !named && (e.Thread.Process == nil || len(e.Thread.Process.Mappings) == 0) {
		return e
	}
	if s.recent == nil {
		s.recent = make([]recentAddress, 1<<recentBits)
	}
	p := s.processes[e.Thread.Process]
	if p == nil {
		p = s.addProcess(e)
	}
	if !named {
		return e
	}
	s.out = *e
	s.out.Stack = p.stacks[e.Stack]
	if s.out.Stack == nil {
		s.out.Stack = &ntconv.Stack{PCs: s.addresses(e, p)}
		s.remember(p, e.Stack, s.out.Stack)
	}
	return &s.out
}

// Bounds on the stacks that are known by pointer: of a process, and frames of those of all processes.
const (
	mostStacks      = 1 << 12
	mostKnownFrames = 1 << 18
)

// remember keeps the addresses of a stack: its pointer may come again.
func (s *synthesizer) remember(p *synthetic, of, addresses *ntconv.Stack) {
	if len(p.stacks) == mostStacks {
		clear(p.stacks)
	}
	if s.known += len(of.Frames); s.known > mostKnownFrames {
		for _, each := range s.processes {
			clear(each.stacks)
		}
		s.known = len(of.Frames)
	}
	p.stacks[of] = addresses
}

// define queues an event that the addresses need, at the time of e.
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
		Kind: ntconv.KindEvent, Flags: e.Flags & ntconv.FlagSorted, CPU: e.CPU, Seq: p.seq, Time: e.Time, Offset: -1,
		Type: typ, Thread: p.thread, Capture: p.thread, Payload: payload,
	})
}

// cut is the function, and counts what it shortens: for what a Table makes names of, so that it is counted once.
func (s *synthesizer) cut(text string) string {
	c := cut(text)
	if len(c) < len(text) {
		s.report.Note(ntconv.CodeNotCarried, 1, -1, "text of a name, file or build id behind its first 65,535 bytes")
	}
	return c
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
			field(
				"Id",
				u,
			), field("StartAddress", u), field("EndAddress", u), field("FileOffset", u), textField("FileName"), field("MetadataId", u),
		}},
		{"ProcessSymbol", []ntconv.Field{
			field("Id", u), field("MappingId", u), field("StartAddress", u), field("EndAddress", u), textField("Name"),
		}},
		{
			"ProcessMappingMetadata",
			[]ntconv.Field{field("Id", u), textField("SymbolMetadata"), textField("VersionMetadata")},
		},
	}
	for i, t := range specs {
		types[i] = &ntconv.Type{Provider: clr.UniversalSystem, ID: uint32(i), Name: t.name, Fields: t.fields}
	}
	return types
}
