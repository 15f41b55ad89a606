package parquet

import (
	"fmt"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/tables"
)

// stacks holds the stacks of a trace by ID. It reads the table up to the latest stack that an event refers to, because
// stacks are numbered in the order of first use.
type stacks struct {
	d      *definitions
	rows   *rows[stackRow]
	ids    intern.IDs[*ntconv.Stack]
	frames *frames
	// named adds frames to all stacks. Otherwise only stacks that the trace recorded with frames have frames.
	named bool

	pcs []uint64 // unused rest of the current chunk
}

// A stackRow holds the columns of tables.Stack that are read.
type stackRow struct {
	StackID   int64   `parquet:"stack_id,delta"`
	Frames    []int32 `parquet:"frames,list"`
	Addresses []int64 `parquet:"addresses,list"`
	Recorded  bool    `parquet:"recorded"`
}

func newStacks(d *definitions, named bool) (s *stacks, err error) {
	s = &stacks{d: d, named: named, frames: &frames{d: d}}
	s.rows, err = newRows[stackRow](d.f, "stacks")
	return s, err
}

// get returns the stack with an ID, or nil if there is none.
func (s *stacks) get(n int64) (*ntconv.Stack, error) {
	for {
		if st := s.ids.Get(uint64(n)); st != nil {
			return st, nil
		}
		row, err := s.rows.head()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		st, err := s.stack(row)
		if err != nil {
			return nil, err
		}
		if s.ids.Set(uint64(row.StackID), st) != nil {
			s.d.f.o.Report.Add(ntconv.CodeRedefined, 1, -1)
		}
		s.rows.skip()
	}
}

// stack returns the stack for a row.
func (s *stacks) stack(row *stackRow) (*ntconv.Stack, error) {
	if n := max(len(row.Addresses), len(row.Frames)); n > s.d.f.o.Limits.Stack {
		s.d.f.o.Report.Add(ntconv.CodeStackCut, 1, -1)
		row.Addresses = row.Addresses[:min(len(row.Addresses), s.d.f.o.Limits.Stack)]
		row.Frames = row.Frames[:min(len(row.Frames), s.d.f.o.Limits.Stack)]
	}
	st := &ntconv.Stack{PCs: s.addresses(row.Addresses)}
	size := rowBytes + 8*len(row.Addresses)
	if row.Recorded || s.named {
		size += 48 * len(row.Frames)
	}
	if err := s.d.memory.add(size); err != nil {
		return nil, inTable("stacks", err)
	}
	if !row.Recorded && !s.named {
		return st, nil
	}
	var err error
	if st.Frames, err = s.frames.list(row); err != nil {
		return nil, err
	}
	return st, nil
}

// chunkPCs is the number of addresses that are allocated together.
const chunkPCs = 8192

// addresses returns a copy of list.
func (s *stacks) addresses(list []int64) []uint64 {
	if len(list) == 0 {
		return nil
	}
	if len(list) > len(s.pcs) {
		s.pcs = make([]uint64, max(chunkPCs, len(list)))
	}
	pcs := s.pcs[:len(list):len(list)]
	s.pcs = s.pcs[len(list):]
	for i, a := range list {
		pcs[i] = uint64(a)
	}
	return pcs
}

// frames holds the frames of a trace by ID. list reads the table when the first stack needs it.
type frames struct {
	d    *definitions
	read bool
	ids  intern.IDs[*ntconv.Frame]
	// functions finds functions by content, because frames at several addresses may belong to one function.
	functions map[ntconv.Function]*ntconv.Function
}

// list returns the frames of a stack. Frames that were resolved from addresses get the address of the stack; an inlined
// frame has the address of the frame into which it was inlined.
func (f *frames) list(row *stackRow) ([]ntconv.Frame, error) {
	if !f.read {
		f.read = true
		f.functions = map[ntconv.Function]*ntconv.Function{}
		if err := eachRow(f.d.f, f.add); err != nil {
			return nil, err
		}
	}
	list := make([]ntconv.Frame, 0, len(row.Frames))
	at := 0 // index of the current address
	for _, n := range row.Frames {
		known := f.ids.Get(id(n))
		if known == nil {
			f.d.f.o.Report.Note(ntconv.CodeUnresolved, 1, -1, fmt.Sprintf("stack_id %d refers to frame_id %d, which has no row", row.StackID, n))
			known = &ntconv.Frame{Func: f.function(ntconv.Function{Name: fmt.Sprintf("frame %d", n)}), Flags: ntconv.FrameUnresolved}
		}
		frame := *known
		if !row.Recorded && at < len(row.Addresses) {
			frame.PC = uint64(row.Addresses[at])
			if frame.Flags&ntconv.FrameInlined == 0 {
				at++
			}
		}
		list = append(list, frame)
	}
	return list, nil
}

func (f *frames) add(row *tables.Frame) error {
	fn := ntconv.Function{Name: row.Name, SystemName: row.SystemName, File: row.File, StartLine: row.StartLine}
	frame := &ntconv.Frame{
		Func: f.function(fn), Mapping: f.d.modules.Get(id(row.ModuleID)), PC: uint64(row.Address), Line: row.Line, Column: row.Column,
		Flags: ntconv.FrameFlags(row.Flags),
	}
	if f.ids.Set(id(row.FrameID), frame) != nil {
		f.d.f.o.Report.Add(ntconv.CodeRedefined, 1, -1)
	}
	if err := f.d.memory.add(2*rowBytes + len(row.Name) + len(row.SystemName) + len(row.File)); err != nil {
		return inTable("frames", err)
	}
	return nil
}

// function returns a pointer to fn, the same one for equal functions.
func (f *frames) function(fn ntconv.Function) *ntconv.Function {
	known := f.functions[fn]
	if known == nil {
		known = &fn
		f.functions[fn] = known
	}
	return known
}
