package symbol

import (
	"encoding/binary"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/events/clr"
)

// Lines finds the source lines of managed code. A Table asks it once per method and offset. It must not panic or
// allocate without bound for any argument.
type Lines interface {
	// HasLines reports whether lines are wanted. New calls it; if the result is false, the Table does not use the Lines.
	HasLines() bool
	// ManagedLine returns the source line of an instruction. Its zero value means that it is unknown. c is borrowed.
	ManagedLine(c *ManagedCode) SourceLine
}

// ManagedCode is an instruction of a .NET method.
type ManagedCode struct {
	Module string // path of the assembly, as recorded
	PDB    string // signature and age of its PDB as symbol servers spell them; empty if unknown
	Token  uint32 // metadata token of the method
	// ILOffset is the byte offset in the method's intermediate language, -1 if the trace does not have it. This is so
	// for precompiled code.
	ILOffset int32
	// NativeOffset is the byte offset in the method's code.
	NativeOffset uint32
	// Type is the full name of the method's type as recorded, with its type arguments. The precompiled code of an
	// instantiation is found by it.
	Type string
}

// A SourceLine is a position in source code. Lines and columns start at 1; 0 means unknown.
type SourceLine struct {
	File         string // as the compiler recorded it
	Line, Column int32
	StartLine    int32 // first line of the method
}

// lineKey identifies a question to Options.Lines.
type lineKey struct {
	in     *process
	method uint32
	native uint32
}

// located returns f with its source line if it is managed code and lines are wanted.
func (t *Table) located(p *process, f ntconv.Frame, at ntconv.Ticks, returns bool) ntconv.Frame {
	if t.lines == nil || f.Flags&ntconv.FrameManaged == 0 || f.Mapping == nil {
		return f
	}
	pc := f.PC
	i, ok := p.methods.when.at(pc, at)
	if returns && (!ok || pc > p.methods.list[i].start) {
		pc-- // in the call
		i, ok = p.methods.when.at(pc, at)
	}
	if !ok {
		return f // named by a symbol
	}
	m := &p.methods.list[i]
	key := lineKey{p, i, uint32(pc - m.start)}
	line, known := t.positions[key]
	if !known {
		line = t.lines.ManagedLine(t.code(p, i, f.Mapping, key.native))
		if len(t.positions) >= maxNative || t.positions == nil {
			t.positions = make(map[lineKey]SourceLine)
		}
		t.positions[key] = line
	}
	f.Func = t.withSource(f.Func, line.File, line.StartLine)
	f.Line, f.Column = line.Line, line.Column
	return f
}

// code describes an instruction of a method.
func (t *Table) code(p *process, i uint32, file *ntconv.Mapping, native uint32) *ManagedCode {
	m := &p.methods.list[i]
	c := ManagedCode{Module: file.File, PDB: file.BuildID, Token: m.token, ILOffset: -1, NativeOffset: native}
	if at, ok := p.ilMaps.at[i]; ok {
		t.points = clr.DecodeILMap(t.points[:0], p.ilMaps.data[at:])
		if il, ok := clr.ILOffset(t.points, native); ok {
			c.ILOffset = il
		}
	}
	if c.ILOffset < 0 && m.hasName() {
		c.Type = bin.UTF16String(t.strings.get(m.namespace))
	}
	return &c
}

// withSource returns the function that equals fn except for its source.
func (t *Table) withSource(fn *ntconv.Function, file string, start int32) *ntconv.Function {
	if file == "" || fn == nil {
		return fn
	}
	located := *fn
	located.File, located.StartLine = file, start
	return t.function(located)
}

// maxILMaps bounds the bytes of the maps of a process. Methods that a longer trace describes later have no lines.
const maxILMaps = 256 << 20

// ilMaps holds how methods map to their intermediate language. An event of the runtime follows the one that reports the
// load of the same code, one of a rundown precedes it. Both contain only the method's ID, which all code of the method
// has in common.
type ilMaps struct {
	data    []byte            // of clr.AppendILMap
	at      map[uint32]uint32 // offset in data by index of the method
	loaded  map[uint64]uint32 // methods without a map, by ID
	pending map[uint64][]clr.ILPoint
}

// maxPending bounds the maps whose methods have not followed.
const maxPending = 1 << 12

func (t *Table) learnILMap(e *ntconv.Event) {
	var m clr.ILMap
	if !clr.ParseILMap(e, &m) {
		t.unreadable(e, "map of a method is truncated")
		return
	}
	points := make([]clr.ILPoint, 0, len(m.IL)/4)
	for i := 0; i < len(m.IL); i += 4 {
		points = append(points, clr.ILPoint{
			Native: binary.LittleEndian.Uint32(m.Native[i:]), IL: int32(binary.LittleEndian.Uint32(m.IL[i:])),
		})
	}
	clr.SortILMap(points)
	p := t.processOf(e)
	if i, ok := p.ilMaps.loaded[m.MethodID]; ok && p.ilMaps.add(&p.methods, i, points) {
		delete(p.ilMaps.loaded, m.MethodID)
		return
	}
	if p.ilMaps.pending == nil || len(p.ilMaps.pending) >= maxPending {
		p.ilMaps.pending = make(map[uint64][]clr.ILPoint)
	}
	p.ilMaps.pending[m.MethodID] = points
}

// method notes that an event described the code of m.
func (s *ilMaps) method(methods *methods, m *clr.Method) {
	span := methods.when.now.find(m.Start)
	if span == nil {
		return
	}
	points, ok := s.pending[m.MethodID]
	delete(s.pending, m.MethodID)
	if _, known := s.at[span.owner]; known || ok && s.add(methods, span.owner, points) {
		return
	}
	if m.Action == clr.MethodLoaded {
		if s.loaded == nil {
			s.loaded = make(map[uint64]uint32)
		}
		s.loaded[m.MethodID] = span.owner
	}
}

// add stores the map of a method. It returns false if the map belongs to other code: it reaches past the method.
func (s *ilMaps) add(methods *methods, method uint32, points []clr.ILPoint) bool {
	if n := len(points); n > 0 && points[n-1].Native > methods.list[method].size {
		return false
	}
	if s.at == nil {
		s.at = make(map[uint32]uint32)
	}
	if len(s.data) < maxILMaps {
		s.at[method] = uint32(len(s.data))
		s.data = clr.AppendILMap(s.data, points)
	}
	return true
}

// drop discards the map of a method that the table skips.
func (s *ilMaps) drop(id uint64) { delete(s.pending, id) }
