package rows

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/events/dotnet"
	"github.com/ntconv/ntconv/internal/tables"
)

// A frameTable numbers frames by content and writes their rows when it first sees them. A lookup tries recent, then
// known, then ids; each level has a cheaper key than the next.
type frameTable struct {
	rows    *table[tables.Frame]
	modules *moduleTable
	// known finds a frame by its pointers, so that most lookups need not compare contents.
	known  map[framePointers]int32
	recent intern.Cache[framePointers, int32]
	ids    map[frameContent]int32
	last   int32
}

// framePointers identifies a frame by its pointers, within the process of its stack. For frames that the Namer
// resolved, PC is 0, because the addresses belong to the stack.
type framePointers struct {
	ntconv.Frame
	process  int32
	recorded bool
}

// frameContent is the content of a row.
type frameContent struct {
	function             ntconv.Function
	module               int32
	pc                   uint64
	line, column         int32
	flags                ntconv.FrameFlags
	noFunction, recorded bool
}

// frameBits is the binary logarithm of the size of the cache recent.
const frameBits = 12

func newFrameTable(out *output, modules *moduleTable) (*frameTable, error) {
	rows, err := newTable[tables.Frame](out)
	return &frameTable{
		rows: rows, modules: modules, known: make(map[framePointers]int32), ids: make(map[frameContent]int32),
		recent: intern.NewCache[framePointers, int32](frameBits),
	}, err
}

// id returns the frame_id of a frame. recorded means that the source itself contains the frame; then all its members
// are preserved.
func (t *frameTable) id(process int32, f *ntconv.Frame, recorded bool) int32 {
	p := framePointers{*f, process, recorded}
	hash := f.PC ^ uint64(f.Line)
	if !recorded {
		p.PC = 0
	}
	if id := t.recent.Get(hash, &p); id != nil {
		return *id
	}
	id, ok := t.known[p]
	if !ok {
		id = t.find(&p)
		if len(t.known) >= maxNumbered {
			clear(t.known)
		}
		t.known[p] = id
	}
	t.recent.Put(hash, &p, id)
	return id
}

// find returns the frame_id of a frame whose pointers are new. Its content may be known.
func (t *frameTable) find(p *framePointers) int32 {
	c := frameContent{
		module: t.modules.id(
			p.process,
			p.Mapping,
		), pc: p.PC, line: p.Line, column: p.Column, flags: p.Flags, recorded: p.recorded,
		noFunction: p.Func == nil,
	}
	if p.Func != nil {
		c.function = *p.Func
	}
	if id, ok := t.ids[c]; ok {
		return id
	}
	if len(t.ids) >= maxNumbered {
		clear(t.ids)
	}
	t.last++
	t.ids[c] = t.last
	t.write(t.last, &c, p.Mapping)
	return t.last
}

// write writes the row of a frame.
func (t *frameTable) write(id int32, c *frameContent, m *ntconv.Mapping) {
	row := t.rows.row()
	row.FrameID, row.ModuleID, row.Flags = id, c.module, int32(c.flags)
	if c.noFunction {
		row.Flags |= tables.FrameNoFunction
	}
	row.Name, row.SystemName = valid(c.function.Name), valid(c.function.SystemName)
	if !c.recorded && row.SystemName == row.Name {
		row.SystemName = ""
	}
	row.File, row.StartLine, row.Line, row.Column = valid(c.function.File), c.function.StartLine, c.line, c.column
	row.Address = int64(c.pc)
	row.Inlined = c.flags&ntconv.FrameInlined != 0
	row.Kind = frameKind(c)
	if m != nil {
		row.Module = baseName(valid(m.File))
	}
	if row.Kind == tables.FrameManaged {
		parts := dotnet.Split(row.Name, row.SystemName)
		row.Namespace, row.TypeName, row.MethodName = parts.Namespace, parts.Type, parts.Method
	}
}

// frameKind returns the value of the column kind.
func frameKind(c *frameContent) string {
	switch f := c.flags; {
	case f&ntconv.FrameLabel != 0:
		return tables.FrameLabel
	case f&ntconv.FrameUnresolved != 0 || c.function.Name == "":
		return tables.FrameUnresolved
	case f&ntconv.FrameManaged != 0:
		return tables.FrameManaged
	case f&ntconv.FrameKernel != 0:
		return tables.FrameKernel
	}
	return tables.FrameNative
}
