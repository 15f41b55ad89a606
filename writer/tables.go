package writer

import (
	"errors"
	"fmt"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/intern"
	"github.com/ntconv/ntconv/internal/wire"
)

// entry is the number of a type or thread. It is described again when a mark has made readers forget it, under the same
// number.
type entry struct {
	id    uint32
	epoch uint32 // in which it was described last
}

// typeTable numbers types, counting from 1. Like the other tables it knows only the last pointer before it asks its
// map: with the last four, traces whose threads take turns take 6 to 16% longer to write, because which of them matches
// is unpredictable.
type typeTable struct {
	definitionBlock
	ids   map[*ntconv.Type]entry
	names map[eventName]*ntconv.Type // described last
	next  uint32
	epoch uint32
	last  *ntconv.Type
	id    uint32 // of last
}

// eventName is what Microsoft's reader takes for the identity of a type.
type eventName struct {
	provider string
	id       uint32
}

func (t *typeTable) init() {
	t.block = newBlock(wire.KindMetadata, 2)
	t.ids, t.names = map[*ntconv.Type]entry{}, map[eventName]*ntconv.Type{}
}

// forget says that readers have forgotten all types.
func (t *typeTable) forget() { t.epoch, t.last = t.epoch+1, nil }

// typ returns the number of a type and describes it if need be.
func (w *Writer) typ(typ *ntconv.Type) (uint32, error) {
	t := &w.types
	if typ == t.last && typ != nil {
		return t.id, nil
	}
	if typ == nil {
		return 0, errors.New("event without a type")
	}
	e, known := t.ids[typ]
	if !known {
		e.id = t.next + 1
	}
	if !known || e.epoch != t.epoch {
		e.epoch = t.epoch
		m, err := metadataRow(w.known(typ, !known), e.id)
		if err != nil {
			return 0, fmt.Errorf("type %s/%d %q: %w", typ.Provider, typ.ID, typ.Name, err)
		}
		row, err := wire.AppendMetadata(nil, &m)
		if err != nil {
			return 0, fmt.Errorf("type %s/%d %q: %w", clip(typ.Provider), typ.ID, clip(typ.Name), limited(err))
		}
		if err := w.makeRoom(&t.block, len(row)); err != nil {
			return 0, err
		}
		if err := w.beforeNamesake(typ); err != nil {
			return 0, err
		}
		t.add(e.id, row)
		t.ids[typ] = e
		t.next = max(t.next, e.id)
	}
	t.last, t.id = typ, e.id
	return e.id, nil
}

// beforeNamesake writes all events so far if a type has the name of another one: Microsoft's reader describes events by
// the last row of that name that it has met.
func (w *Writer) beforeNamesake(typ *ntconv.Type) error {
	name := eventName{typ.Provider, typ.ID}
	last := w.types.names[name]
	w.types.names[name] = typ
	if last != nil && last != typ && w.events.rows > 0 {
		return w.flush()
	}
	return nil
}

// clip shortens a text for an error.
func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}

// threadTable numbers threads, counting from 1, and their events.
type threadTable struct {
	definitionBlock
	states map[*ntconv.Thread]*threadState
	next   uint32
	epoch  uint32
	last   *ntconv.Thread
	state  *threadState // of last
}

func (t *threadTable) init() {
	t.block = newBlock(wire.KindThread, 0)
	t.states = map[*ntconv.Thread]*threadState{}
}

// forget says that readers have forgotten all threads. Their events are counted from 1 again.
func (t *threadTable) forget() { t.epoch, t.last = t.epoch+1, nil }

// remove says that a thread has ended. Its number is not used again: not all readers can bear that.
func (t *threadTable) remove(th *ntconv.Thread) {
	delete(t.states, th)
	t.last = nil
}

// thread returns the number and the state of a thread and describes it if need be. The result is good until the next
// mark.
func (w *Writer) thread(th *ntconv.Thread) (*threadState, error) {
	t := &w.threads
	if th == t.last && th != nil {
		return t.state, nil
	}
	if th == nil {
		return nil, errors.New("event without a thread")
	}
	s := t.states[th]
	if s == nil {
		s = &threadState{entry: entry{id: t.next + 1, epoch: t.epoch - 1}}
	}
	if s.epoch != t.epoch {
		if t.next == math.MaxUint32 {
			return nil, &ntconv.LimitError{Limit: LimitThreads, Value: math.MaxUint32, Asked: math.MaxUint32 + 1}
		}
		row := threadRow(th, uint64(s.id), w.native)
		b, err := wire.AppendThread(nil, &row)
		if err != nil {
			return nil, fmt.Errorf("thread %d %q: %w", th.TID, clip(th.Name), limited(err))
		}
		if err := w.makeRoom(&t.block, len(b)); err != nil {
			return nil, err
		}
		t.add(s.id, b)
		s.epoch, s.numbering = t.epoch, numbering{}
		t.states[th] = s
		t.next = max(t.next, s.id)
	}
	t.last, t.state = th, s
	return s, nil
}

// contentTable numbers rows of a window by their content, counting from 1.
type contentTable struct {
	block
	known   intern.Bytes
	scratch []byte
}

func (t *contentTable) init(kind wire.Kind) {
	t.block = newBlock(kind, 8)
}

// finish fills in the header.
func (t *contentTable) finish() *block {
	r := wire.IDRange{First: uint32(t.known.Len()+1) - uint32(t.rows), Count: uint32(t.rows)}
	wire.AppendIDRange(t.buf[:wire.BlockHeaderSize], r)
	return &t.block
}

// forget begins a new window.
func (t *contentTable) forget() { t.known.Reset() }

// add returns the number of the row in scratch and writes it if it is new in the window.
func (w *Writer) add(t *contentTable) (uint32, error) {
	if id := t.known.Find(t.scratch); id != 0 {
		return id, nil
	}
	if t.known.Len() == math.MaxUint32-1 {
		return 0, fmt.Errorf(
			"%v block: %w",
			t.kind,
			&ntconv.LimitError{Limit: LimitRows, Value: math.MaxUint32 - 1, Asked: math.MaxUint32},
		)
	}
	if err := w.makeRoom(&t.block, len(t.scratch)); err != nil { // may begin a new window
		return 0, err
	}
	t.buf = append(t.buf, t.scratch...)
	t.rows++
	return t.known.Add(t.scratch), nil
}

// maxPointers bounds how many pointers are remembered beside the content: sources that make a new stack or label list
// for every event would fill the memory with them.
const maxPointers = 1 << 16

// stackTable numbers the stacks of a window.
type stackTable struct {
	contentTable
	seen map[*ntconv.Stack]uint32
	last *ntconv.Stack
	id   uint32 // of last
}

func (t *stackTable) init() {
	t.contentTable.init(wire.KindStack)
	t.seen = map[*ntconv.Stack]uint32{}
}

func (t *stackTable) forget() {
	t.contentTable.forget()
	clear(t.seen)
	t.last = nil
}

// stack returns the number of a stack, 0 for none.
func (w *Writer) stack(s *ntconv.Stack) (uint32, error) {
	t := &w.stacks
	if s == t.last && s != nil {
		return t.id, nil
	}
	if s == nil || len(s.PCs)+len(s.Frames) == 0 {
		return 0, nil
	}
	id, ok := t.seen[s]
	if !ok {
		var err error
		if t.scratch, err = w.appendStack(t.scratch[:0], s); err != nil {
			return 0, err
		}
		if id, err = w.add(&t.contentTable); err != nil {
			return 0, err
		}
		if len(t.seen) >= maxPointers {
			clear(t.seen)
		}
		t.seen[s] = id
	}
	t.last, t.id = s, id
	return id, nil
}

// labelTable numbers the label lists of a window.
type labelTable struct {
	contentTable
	seen map[*ntconv.Labels]uint32
	last *ntconv.Labels
	id   uint32 // of last
	list []wire.Label
}

func (t *labelTable) init() {
	t.contentTable.init(wire.KindLabelList)
	t.seen = map[*ntconv.Labels]uint32{}
}

func (t *labelTable) forget() {
	t.contentTable.forget()
	clear(t.seen)
	t.last = nil
}

// labelList returns the number of a label list, 0 for an empty one.
func (w *Writer) labelList(l *ntconv.Labels) (uint32, error) {
	t := &w.labels
	if l == t.last && l != nil {
		return t.id, nil
	}
	if l == nil || len(l.List()) == 0 {
		return 0, nil
	}
	id, ok := t.seen[l]
	if !ok {
		var err error
		if t.list, err = appendLabels(t.list[:0], l.List()); err != nil {
			return 0, err
		}
		t.scratch = wire.AppendLabels(t.scratch[:0], t.list, false)
		if id, err = w.add(&t.contentTable); err != nil {
			return 0, err
		}
		if len(t.seen) >= maxPointers {
			clear(t.seen)
		}
		t.seen[l] = id
	}
	t.last, t.id = l, id
	return id, nil
}
