package symbol

import (
	"fmt"
	"unicode/utf8"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// Addresses selects the addresses that Synthesize gives to frames.
type Addresses uint8

const (
	// AddressesMixed keeps the recorded address of a frame if it is the only frame there, nothing is inlined into it,
	// and its mapping has real addresses. Other frames get synthetic addresses.
	AddressesMixed Addresses = iota
	// AddressesReal also keeps the recorded address if functions are inlined there: they share the address of the
	// enclosing function. Tools that do not know ntconv's definitions show only that function.
	AddressesReal
	// AddressesSynthetic gives every frame a synthetic address.
	AddressesSynthetic
)

// SynthesizeOptions are options of Synthesize. The zero value selects the defaults.
type SynthesizeOptions struct {
	Addresses Addresses
	Report    *ntconv.Report // receives notes about truncated names and files; may be nil
}

// Synthesize returns src with addresses for stacks that have only frames, for formats that store a stack as a list of
// addresses. Each frame of such a stack, inlined frames included, gets an address. Before the first event that uses an
// address, the source returns events that describe it: ExistingProcess, ProcessMapping and ProcessSymbol of
// Universal.System, which other tools understand, and definitions of provider "ntconv" for what these cannot express. A
// Table that observes them returns frames equal to those of src. All other events pass unchanged.
//
// Memory grows with the number of distinct frames. Next returns an ntconv.LimitError with the limit LimitRegions if
// synthetic addresses are exhausted, and the errors of src. opts may be nil. The source is not safe for concurrent use.
func Synthesize(src ntconv.Source, opts *SynthesizeOptions) ntconv.Source {
	info := *src.Info()
	info.PointerSize = 8
	return &synthesizedSource{src: src, info: &info, s: newSynthesizer(opts)}
}

type synthesizedSource struct {
	src  ntconv.Source
	info *ntconv.Info
	s    *synthesizer
	next int           // index in s.queue
	held *ntconv.Event // returned after the queue
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

// SynthesizeTo returns a sink that transforms events as Synthesize does and writes them to dst. Close closes dst. opts
// may be nil.
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

// A synthesizer adds addresses to the stacks of a stream.
type synthesizer struct {
	mode        Addresses
	report      *ntconv.Report
	processes   map[*ntconv.Process]*synthetic
	introduced  map[mappingList][]*ntconv.Mapping // announced lists and their main program
	recent      []recentAddress
	known       int    // frames in the stacks of all processes since these were last discarded
	regions     uint64 // number of synthetic regions; they are unique in the trace
	mappings    uint64 // number of mappings so far, which is the next ID
	symbols     uint64
	frameType   *ntconv.Type
	mappingType *ntconv.Type
	system      [6]*ntconv.Type // Universal.System, by ID

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

// apply returns e with the addresses of its stack and queues the definitions of new addresses. The result is borrowed
// until the next call of apply.
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

// Bounds on the stacks that are recognized by pointer: stacks per process, and frames in the stacks of all processes.
const (
	maxStacks      = 1 << 12
	maxKnownFrames = 1 << 18
)

// remember caches the addresses of a stack, because sources reuse the pointer of an equal stack.
func (s *synthesizer) remember(p *synthetic, of, addresses *ntconv.Stack) {
	if len(p.stacks) == maxStacks {
		clear(p.stacks)
	}
	if s.known += len(of.Frames); s.known > maxKnownFrames {
		for _, each := range s.processes {
			clear(each.stacks)
		}
		s.known = len(of.Frames)
	}
	p.stacks[of] = addresses
}

// define queues a definition with the time of e.
func (s *synthesizer) define(e *ntconv.Event, p *synthetic, typ *ntconv.Type, values ...ntconv.Value) {
	var buf []byte
	if n := len(s.queue); n < cap(s.queue) {
		buf = s.queue[:n+1][n].Payload[:0]
	}
	payload, err := ntconv.AppendFields(buf, typ.Fields, values, 8)
	if err != nil && s.err == nil { // cannot happen: the values match the fields, and strings are truncated
		s.err = fmt.Errorf("definition %s: %w", typ.Name, err)
	}
	p.seq++
	s.queue = append(s.queue, ntconv.Event{
		Kind: ntconv.KindEvent, Flags: e.Flags & ntconv.FlagSorted, CPU: e.CPU, Seq: p.seq, Time: e.Time, Offset: -1,
		Type: typ, Thread: p.thread, Capture: p.thread, Payload: payload,
	})
}

// The method cut truncates like the function and counts truncated strings. It is for the strings that a Table restores,
// so that each string is counted once.
func (s *synthesizer) cut(text string) string {
	c := cut(text)
	if len(c) < len(text) {
		s.report.Note(ntconv.CodeNotCarried, 1, -1, "text of a name, file or build ID beyond the first 65,535 bytes")
	}
	return c
}

// cut truncates a string to the 65,535 bytes that a 16-bit count allows, at a character boundary.
func cut(s string) string {
	const maxBytes = 0xffff
	if len(s) <= maxBytes {
		return s
	}
	n := maxBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// systemTypes returns the event types of Universal.System, indexed by ID, with the layouts that its readers expect.
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
			field("Id", u), field("StartAddress", u), field("EndAddress", u), field("FileOffset", u),
			textField("FileName"), field("MetadataId", u),
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
