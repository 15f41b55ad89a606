package writer

import (
	"errors"
	"fmt"
	"math"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/intern"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// An entry is the ID of a type or thread. If a flush makes readers discard the row, the writer writes it again with the
// same ID.
type entry struct {
	id    uint32
	epoch uint32 // epoch of its table in which the row was last written
}

// A typeTable assigns IDs to types, from 1. Like the other tables it compares with the last pointer only before it uses
// its map. A comparison with the last four pointers costs 6 to 16% in traces whose threads alternate, because it is
// unpredictable which one matches.
type typeTable struct {
	definitionBlock
	ids   map[*ntconv.Type]entry
	names map[eventName]*ntconv.Type // the type of each name whose row was written last
	next  uint32
	epoch uint32
	last  *ntconv.Type
	id    uint32 // of last
}

// An eventName identifies a type in TraceEvent.
type eventName struct {
	provider string
	id       uint32
}

func (t *typeTable) init() {
	t.block = newBlock(wire.KindMetadata, 2)
	t.ids, t.names = map[*ntconv.Type]entry{}, map[eventName]*ntconv.Type{}
}

// flushed records that readers have discarded all types: their rows are written again.
func (t *typeTable) flushed() { t.epoch, t.last = t.epoch+1, nil }

// typ returns the ID of a type and writes its row if necessary.
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

// beforeNamesake writes all events so far if a type has the name of another one. TraceEvent describes events by the
// last row of that name.
func (w *Writer) beforeNamesake(typ *ntconv.Type) error {
	name := eventName{typ.Provider, typ.ID}
	last := w.types.names[name]
	w.types.names[name] = typ
	if last != nil && last != typ && w.events.rows > 0 {
		return w.flush()
	}
	return nil
}

// clip truncates a string for an error message.
func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}

// A threadTable assigns IDs to threads, from 1, and sequence numbers to their events.
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

// flushed records that readers have discarded all threads: their rows are written again, and their events are numbered
// from 1 again.
func (t *threadTable) flushed() { t.epoch, t.last = t.epoch+1, nil }

// remove records that a thread has ended. Its ID is not reused, because not all readers support that.
func (t *threadTable) remove(th *ntconv.Thread) {
	delete(t.states, th)
	t.last = nil
}

// thread returns the ID and the state of a thread and writes its row if necessary. The result is valid until the next
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

// A contentTable assigns IDs to rows by their content, from 1 in each window.
type contentTable struct {
	block
	known   intern.Bytes
	scratch []byte
}

func (t *contentTable) init(kind wire.Kind) {
	t.block = newBlock(kind, 8)
}

// finish fills in the header of the rows: the range of their IDs.
func (t *contentTable) finish() *block {
	r := wire.IDRange{First: uint32(t.known.Len()+1) - uint32(t.rows), Count: uint32(t.rows)}
	wire.AppendIDRange(t.buf[:wire.BlockHeaderSize], r)
	return &t.block
}

// flushed starts a new window.
func (t *contentTable) flushed() { t.known.Reset() }

// add returns the ID of the row in scratch and adds the row to the block if it is new in the window.
func (w *Writer) add(t *contentTable) (uint32, error) {
	if id := t.known.Find(t.scratch); id != 0 {
		return id, nil
	}
	if t.known.Len() == math.MaxUint32-1 {
		return 0, fmt.Errorf("%v block: %w", t.kind,
			&ntconv.LimitError{Limit: LimitRows, Value: math.MaxUint32 - 1, Asked: math.MaxUint32})
	}
	if err := w.makeRoom(&t.block, len(t.scratch)); err != nil { // may start a new window
		return 0, err
	}
	t.buf = append(t.buf, t.scratch...)
	t.rows++
	return t.known.Add(t.scratch), nil
}

// maxPointers bounds the pointers that a table keeps in addition to the content. Some sources create a new stack or
// label list for every event.
const maxPointers = 1 << 16

// A stackTable assigns IDs to the stacks of a window.
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

func (t *stackTable) flushed() {
	t.contentTable.flushed()
	clear(t.seen)
	t.last = nil
}

// stack returns the ID of a stack, or 0 if it is nil or empty.
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

// A labelTable assigns IDs to the label lists of a window.
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

func (t *labelTable) flushed() {
	t.contentTable.flushed()
	clear(t.seen)
	t.last = nil
}

// labelList returns the ID of a label list, or 0 if it is nil or empty.
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
