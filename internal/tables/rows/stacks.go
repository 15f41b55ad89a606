package rows

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables"
)

// A stackTable numbers stacks by content, process and epoch (ntconv.Namer.Epoch). It keeps only their sums and writes
// the stacks to a temporary file. finish reads the file and resolves the frames, because symbols usually come last.
type stackTable struct {
	rows    *table[tables.Stack]
	frames  *frameTable
	namer   ntconv.Namer
	hasher  hasher
	stacks  numbering
	spill   *spill
	last    [stackMemo]stackMemory
	next    int
	process []*ntconv.Process
	// Scratch: the frames of the current stack and their IDs.
	resolved []ntconv.Frame
	ids      []int32
}

// stackMemo is the number of recent stacks that are cached by pointer: idle threads are sampled again and again with
// the same stack, alternating with others. The number is small because a kept *Stack pins its block.
const stackMemo = 4

// A stackMemory is a cached result for a recent stack.
type stackMemory struct {
	stack   *ntconv.Stack
	process int32
	epoch   uint32
	id      int64
}

func newStackTable(out *output, frames *frameTable, namer ntconv.Namer, file *spill) (*stackTable, error) {
	rows, err := newTable[tables.Stack](out)
	t := &stackTable{rows: rows, frames: frames, namer: namer, hasher: newHasher(), spill: file}
	return t, err
}

// id returns the stack_id of an event's stack, or 0 if the event has none.
func (t *stackTable) id(e *ntconv.Event, process int32) (int64, error) {
	s := e.Stack
	if s == nil || len(s.PCs) == 0 && len(s.Frames) == 0 {
		return 0, nil
	}
	var owner *ntconv.Process
	if e.Thread != nil {
		owner = e.Thread.Process
	}
	m := stackMemory{stack: s, process: process, epoch: t.namer.Epoch(owner, s, e.Time)}
	for i := range t.last {
		if l := &t.last[i]; l.stack == s && l.process == m.process && l.epoch == m.epoch {
			return l.id, nil
		}
	}
	t.ids = t.ids[:0]
	if len(s.Frames) > 0 { // the stack as recorded; the namer may have symbols for some of its addresses
		t.resolved = t.namer.AppendFrames(t.resolved[:0], owner, s, e.Time)
		for i := range t.resolved {
			t.ids = append(t.ids, t.frames.id(process, &t.resolved[i], true))
		}
	}
	var fresh bool
	m.id, fresh = t.stacks.number(t.sum(&m))
	t.last[t.next%stackMemo] = m
	t.next++
	if !fresh {
		return m.id, nil
	}
	if len(s.Frames) == 0 {
		t.namer.Want(owner, s)
	}
	if int(process) >= len(t.process) {
		t.process = append(t.process, make([]*ntconv.Process, int(process)+1-len(t.process))...)
	}
	t.process[process] = owner
	return m.id, t.spill.write(process, e.Time, s.PCs, t.ids)
}

// sum returns the sum of everything in which two stacks can differ.
func (t *stackTable) sum(m *stackMemory) sum {
	key := append(t.hasher.key[:0], bytesOf(m.stack.PCs)...)
	key = binary.LittleEndian.AppendUint32(key, m.epoch)
	key = binary.LittleEndian.AppendUint32(key, uint32(m.process))
	for _, id := range t.ids {
		key = binary.LittleEndian.AppendUint32(key, uint32(id))
	}
	key = binary.LittleEndian.AppendUint32(key, uint32(len(t.ids)))
	t.hasher.key = key
	return t.hasher.sum(key)
}

// finish writes the rows of all stacks and of the frames that they refer to. It does not complete the tables.
func (t *stackTable) finish() error {
	r, err := t.spill.reader()
	if err != nil {
		return err
	}
	var s spilled
	for id := int64(1); ; id++ {
		if err := r.read(&s); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		row := t.rows.row()
		row.StackID, row.ProcessID, row.Recorded = id, s.process, len(s.frames) > 0
		if len(s.frames) == 0 {
			t.resolved = t.namer.AppendFrames(t.resolved[:0], t.process[s.process], &ntconv.Stack{PCs: s.pcs}, s.time)
			for i := range t.resolved {
				s.frames = append(s.frames, t.frames.id(s.process, &t.resolved[i], false))
			}
		}
		row.Frames = t.rows.int32s(len(s.frames))
		copy(row.Frames, s.frames)
		row.Addresses = t.rows.int64s(len(s.pcs))
		for i, pc := range s.pcs {
			row.Addresses[i] = int64(pc)
		}
		row.Depth = int32(len(s.frames))
		if len(s.frames) > 0 {
			row.LeafID = s.frames[0]
		}
	}
}

// close completes the tables and removes the temporary file. finish need not have been called.
func (t *stackTable) close() error {
	return errors.Join(t.spill.close(), t.rows.close(), t.frames.rows.close(), t.frames.modules.rows.close())
}
