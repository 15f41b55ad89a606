package symbol_test

import (
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/symbol"
)

// A stream writes events as recorders do, with payloads in the layouts of their manifests.
type stream struct {
	tb    failer
	table *symbol.Table
	proc  *ntconv.Process
	types map[typeKey]*ntconv.Type
}

type typeKey struct {
	provider string
	id       uint32
	version  uint8
}

func newStream(tb failer, t *symbol.Table) *stream {
	return &stream{tb: tb, table: t, proc: &ntconv.Process{PID: 42, PointerSize: 8}, types: map[typeKey]*ntconv.Type{}}
}

// in returns a stream of another process that feeds the same table.
func (s *stream) in(p *ntconv.Process) *stream {
	c := *s
	c.proc = p
	return &c
}

// event shows an event to the table and overwrites the payload afterwards, as its owner would.
func (s *stream) event(at ntconv.Ticks, provider string, id uint32, version uint8, values ...ntconv.Value) {
	s.tb.Helper()
	key := typeKey{provider, id, version}
	layout := clr.Lookup(provider, id, version)
	if layout == nil {
		s.tb.Fatalf("no layout of %v", key)
	}
	if s.types[key] == nil {
		s.types[key] = &ntconv.Type{Provider: provider, ID: id, Version: version}
	}
	payload, err := ntconv.AppendFields(nil, layout.Fields, values, 8)
	if err != nil {
		s.tb.Fatalf("%v: %v", key, err)
	}
	thread := &ntconv.Thread{TID: 1, Process: s.proc}
	s.table.Observe(&ntconv.Event{Time: at, Type: s.types[key], Thread: thread, Capture: thread, Payload: payload, Offset: -1})
	for i := range payload {
		payload[i] = 0xdb
	}
}

// code is a piece of managed code at an address.
type code struct {
	start uint64
	size  uint32
	id    uint64
	name  string
}

const testModule = 0x9000

// method reports code with one of the verbose method events.
func (s *stream) method(at ntconv.Ticks, action clr.MethodAction, c code) {
	s.tb.Helper()
	provider, id := methodEvent(action, 143)
	s.event(at, provider, id, 2, ntconv.UintValue(c.id), ntconv.UintValue(testModule), ntconv.UintValue(c.start), ntconv.UintValue(uint64(c.size)),
		ntconv.UintValue(0x6000001), ntconv.UintValue(uint64(clr.MethodJitted)), ntconv.StringValue("My.Type"), ntconv.StringValue(c.name),
		ntconv.StringValue("void  (int32)"), ntconv.UintValue(0), ntconv.UintValue(0))
}

// bareMethod reports code with an event without names.
func (s *stream) bareMethod(at ntconv.Ticks, action clr.MethodAction, c code) {
	s.tb.Helper()
	provider, id := methodEvent(action, 141)
	s.event(at, provider, id, 1, ntconv.UintValue(c.id), ntconv.UintValue(testModule), ntconv.UintValue(c.start), ntconv.UintValue(uint64(c.size)),
		ntconv.UintValue(0x6000001), ntconv.UintValue(0), ntconv.UintValue(0))
}

func methodEvent(a clr.MethodAction, first uint32) (provider string, id uint32) {
	switch a {
	case clr.MethodLoaded:
		return clr.Runtime, first
	case clr.MethodUnloaded:
		return clr.Runtime, first + 1
	case clr.MethodRundownStart:
		return clr.Rundown, first
	}
	return clr.Rundown, first + 1
}

func (s *stream) module(at ntconv.Ticks, id uint64, path string, pdb ntconv.GUID) {
	s.tb.Helper()
	zero := ntconv.GUID{}
	s.event(at, clr.Runtime, 152, 2, ntconv.UintValue(id), ntconv.UintValue(1), ntconv.UintValue(0), ntconv.UintValue(0),
		ntconv.StringValue(path), ntconv.StringValue(""), ntconv.UintValue(0),
		ntconv.GUIDValue(pdb), ntconv.UintValue(1), ntconv.StringValue("x.pdb"), ntconv.GUIDValue(zero), ntconv.UintValue(0), ntconv.StringValue(""))
}

// Events of Universal.System.

func (s *stream) process(at ntconv.Ticks, name string, created bool) {
	s.tb.Helper()
	id := uint32(0)
	if created {
		id = 1
	}
	s.event(at, clr.UniversalSystem, id, 0, ntconv.UintValue(0), ntconv.StringValue(name), ntconv.StringValue("Unknown"))
}

func (s *stream) mapping(at ntconv.Ticks, id, start, end, offset uint64, file string, metadata uint64) {
	s.tb.Helper()
	s.event(at, clr.UniversalSystem, 3, 0, ntconv.UintValue(id), ntconv.UintValue(start), ntconv.UintValue(end), ntconv.UintValue(offset),
		ntconv.StringValue(file), ntconv.UintValue(metadata))
}

func (s *stream) symbol(at ntconv.Ticks, mapping, start, end uint64, name string) {
	s.tb.Helper()
	s.event(at, clr.UniversalSystem, 4, 0, ntconv.UintValue(start), ntconv.UintValue(mapping), ntconv.UintValue(start), ntconv.UintValue(end),
		ntconv.StringValue(name))
}

func (s *stream) metadata(at ntconv.Ticks, id uint64, text string) {
	s.tb.Helper()
	s.event(at, clr.UniversalSystem, 5, 0, ntconv.UintValue(id), ntconv.StringValue(text), ntconv.StringValue(""))
}

// frame returns the frame of an address at the leaf.
func (s *stream) frame(pc uint64, at ntconv.Ticks) ntconv.Frame {
	s.tb.Helper()
	frames := s.table.AppendFrames(nil, s.proc, &ntconv.Stack{PCs: []uint64{pc}}, at)
	if len(frames) != 1 || frames[0].Func == nil || frames[0].PC != pc {
		s.tb.Fatalf("%x at %d: frames %+v", pc, at, frames)
	}
	return frames[0]
}

// want checks the name that an address resolves to.
func (s *stream) want(pc uint64, at ntconv.Ticks, name string) {
	s.tb.Helper()
	if f := s.frame(pc, at); f.Func.Name != name {
		s.tb.Errorf("%x at %d is %q, want %q", pc, at, f.Func.Name, name)
	}
}

func (s *stream) epoch(pcs ...uint64) uint32 {
	return s.table.Epoch(s.proc, &ntconv.Stack{PCs: pcs}, math.MaxInt64)
}

// failer is the part of testing.TB that rapid.T also has.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}
