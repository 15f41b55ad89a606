package reader

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/bin"
	"github.com/ntconv/ntconv/internal/wire"
)

// Attributes of thread rows by which ntconv's writer keeps what the format has no place for.
const (
	attrHost        = "host.name"
	attrPointerSize = "ntconv.pointer-size"
	attrProcessName = "ntconv.process-name"
	attrProcess     = "ntconv.process." // and the key of an attribute of the process
)

// attrSequence is an attribute of traces that early versions of ntconv rewrote. It stated that the numbers before the
// first of a thread are no losses, which was wrong, so it is removed: else a rewritten trace would differ from its
// original.
const attrSequence = "ntconv.sequence"

// A threadTable maps thread indexes (version 6) or ids (before) to threads and their sequence numbers.
type threadTable struct {
	slots slotTable
	list  []threadState
	free  []uint32 // slots that no row of a window refers to
	// leaving are slots of removed threads: free once the window is delivered.
	leaving   []uint32
	retired   retired[ntconv.Thread]
	processes map[processKey]*ntconv.Process
	added     uint64 // threads so far

	// cache has slots by a hash of their id: events switch between a few threads. version says whether an entry is
	// still true; it changes with every change of the table. It is not an intern.Cache: with the version in the key of
	// one, traces that reuse thread IDs take 8 to 10% longer to read.
	cache   [1 << cacheBits]cachedSlot
	version uint32
	bytes   int // about what all that takes
}

type cachedSlot struct {
	id      uint64
	slot    uint32
	version uint32
}

// threadState is what the reader knows about a thread.
type threadState struct {
	thread *ntconv.Thread
	key    string // threadKey; empty if the thread was not declared
	id     uint64
	number uint64 // of the thread among all that were added
	seq    uint32 // number of the last event captured by the thread
	seen   bool   // seq is valid: always, except for a placeholder before its first event
	ghost  bool   // a placeholder: referred to, but not declared
	before []incarnation
}

// incarnation is a thread that had the same id before.
type incarnation struct {
	thread *ntconv.Thread
	seq    uint32
}

type processKey struct {
	pid        uint64
	host, name string
	pointers   uint8
	attrs      string
}

const cacheBits = 8

// cacheIndex spreads ids, which on Windows are multiples of four.
func cacheIndex(id uint64) uint64 { return id * 0x9E3779B97F4A7C15 >> (64 - cacheBits) }

// cached returns the slot of a declared thread if it was looked up lately.
func (t *threadTable) cached(id uint64) (uint32, bool) {
	c := &t.cache[cacheIndex(id)]
	return c.slot, c.id == id && c.version == t.version && len(t.list) > 0
}

// declared returns the slot of a thread that was declared.
func (t *threadTable) declared(id uint64) (uint32, bool) {
	slot, ok := t.find(id)
	return slot, ok && !t.list[slot].ghost
}

// find returns the slot of a thread.
func (t *threadTable) find(id uint64) (uint32, bool) {
	slot, ok := t.slots.get(id)
	if ok && !t.list[slot].ghost {
		t.cache[cacheIndex(id)] = cachedSlot{id, slot, t.version}
	}
	return slot, ok
}

// size returns how many slots are in use. Those of removed threads are until the window is delivered.
func (t *threadTable) size() int { return len(t.list) - len(t.free) }

// add gives an id a slot with a new state.
func (t *threadTable) add(id uint64, s threadState) uint32 {
	s.id, s.number = id, t.added
	t.added++
	t.bytes += threadBytes + 2*len(s.key)
	var slot uint32
	if n := len(t.free); n > 0 {
		slot, t.free = t.free[n-1], t.free[:n-1]
		t.list[slot] = s
	} else {
		slot = uint32(len(t.list))
		t.list = append(t.list, s)
	}
	t.slots.set(id, slot)
	t.version++
	return slot
}

// remove forgets an id. Its slot is used again once the window is delivered.
func (t *threadTable) remove(id uint64, slot uint32) {
	t.slots.remove(id)
	t.leaving = append(t.leaving, slot)
	t.version++
}

// flush forgets all indexes. The caller has delivered all rows.
func (t *threadTable) flush() {
	var live []*threadState
	for i := range t.list {
		s := &t.list[i]
		if slot, ok := t.slots.get(s.id); ok && slot == uint32(i) && !s.ghost && s.thread != nil {
			live = append(live, s)
		}
	}
	// In the order of their declaration: which slots are free when depends on the order of events.
	slices.SortFunc(live, func(a, b *threadState) int { return cmp.Compare(a.number, b.number) })
	for _, s := range live {
		t.retired.put(s.key, s.id, s.thread)
	}
	t.slots.reset()
	t.list, t.free, t.leaving, t.bytes = t.list[:0], t.free[:0], t.leaving[:0], 0
	t.version++
}

// settle makes the slots of removed threads usable again. The caller has delivered all rows.
func (t *threadTable) settle() {
	for _, slot := range t.leaving {
		t.bytes -= threadBytes + 2*len(t.list[slot].key)
		t.list[slot] = threadState{}
	}
	t.free, t.leaving = append(t.free, t.leaving...), t.leaving[:0]
}

// process returns the process with these properties.
func (t *threadTable) process(k processKey, attrs ntconv.Attrs) *ntconv.Process {
	if len(attrs) > 0 {
		k.attrs = fmt.Sprintf("%q", attrs)
	}
	p := t.processes[k]
	if p == nil {
		if t.processes == nil {
			t.processes = map[processKey]*ntconv.Process{}
		}
		p = &ntconv.Process{PID: k.pid, Host: k.host, Name: k.name, PointerSize: k.pointers, Attrs: attrs}
		t.processes[k] = p
	}
	return p
}

// threadSlot returns the slot of a thread that an event or a mark refers to. flags gets FlagPlaceholder if the thread
// had to be invented. Before version 6 threads have no rows: the first reference defines them.
func (r *Reader) threadSlot(id uint64, offset int64, flags *ntconv.Flags) (uint32, error) {
	if slot, ok := r.threads.cached(id); ok {
		return slot, nil
	}
	slot, ok := r.threads.find(id)
	if ok {
		if r.threads.list[slot].ghost {
			*flags |= ntconv.FlagPlaceholder
			r.report.Add(ntconv.CodeUnknownThread, 1, offset)
		}
		return slot, nil
	}
	if r.legacy {
		return r.addLegacyThread(id, offset)
	}
	if err := r.roomForThread(offset); err != nil {
		return 0, err
	}
	if err := r.tolerate(ntconv.CodeUnknownThread, offset, "thread index", undefined{"index", id}); err != nil {
		return 0, err
	}
	*flags |= ntconv.FlagPlaceholder
	ghost := &ntconv.Thread{TID: ntconv.TIDUnknown, Process: r.threads.process(r.defaultProcess(), nil)}
	return r.threads.add(id, threadState{thread: ghost, ghost: true, seen: false}), nil
}

// defaultProcess is the process of threads that do not name theirs.
func (r *Reader) defaultProcess() processKey {
	return processKey{pid: r.pid, pointers: uint8(r.info.PointerSize)}
}

// roomForThread returns an error if there are too many threads for another one.
func (r *Reader) roomForThread(offset int64) error {
	if r.threads.size() >= r.limits.Threads {
		return r.exceeded(
			offset,
			"thread",
			ntconv.LimitError{Limit: LimitThreads, Value: int64(r.limits.Threads), Asked: int64(r.threads.size()) + 1},
		)
	}
	return nil
}

// addLegacyThread defines a thread of versions 3 to 5 at its first use.
func (r *Reader) addLegacyThread(id uint64, offset int64) (uint32, error) {
	if err := r.roomForThread(offset); err != nil {
		return 0, err
	}
	th := &ntconv.Thread{TID: id, Process: r.threads.process(r.defaultProcess(), nil)}
	slot := r.threads.add(id, threadState{thread: th, seen: true})
	r.queueDefine(ntconv.Event{Thread: th, Offset: offset})
	return slot, nil
}

// renew makes the thread of a slot a new one with the same id, which has been seen, and returns its slot.
func (r *Reader) renew(slot uint32, offset int64) (uint32, error) {
	old := r.threads.list[slot]
	fresh, err := r.addLegacyThread(old.id, offset)
	if err != nil {
		return slot, err
	}
	s := &r.threads.list[fresh]
	s.before = append(old.before, incarnation{old.thread, old.seq})
	if len(s.before) > maxIncarnations {
		s.before = s.before[1:]
	}
	r.threads.list[slot].before = nil
	r.threads.leaving = append(r.threads.leaving, slot)
	r.memo = memo{}
	r.report.Add(ntconv.CodeThreadReused, 1, offset)
	return fresh, nil
}

// maxIncarnations is how many earlier threads of one id are remembered, to recognize their numbers in sequence points.
const maxIncarnations = 8

// threadBlock reads the rows of a version 6 thread block.
func (r *Reader) threadBlock(b *block) error {
	for c := b.cursor(); c.Len() > 0; {
		at := c.Offset()
		if b.partial && !rowComplete(b.body[len(b.body)-c.Len():]) {
			return nil
		}
		row, err := wire.ParseThread(&c)
		if c.Err() != nil {
			return r.blockError(b, c.Err())
		}
		if err != nil {
			if err := r.rowError(err); err != nil {
				return err
			}
		}
		if err := r.declare(&row, at); err != nil {
			return err
		}
	}
	return nil
}

// declare enters a thread row.
func (r *Reader) declare(row *wire.Thread, offset int64) error {
	t := &r.threads
	slot, had := t.slots.get(row.Index)
	if had && !t.list[slot].ghost {
		err := fmt.Errorf("index %d is already in use", row.Index)
		if err := r.tolerate(ntconv.CodeRedefined, offset, "thread index", err); err != nil {
			return err
		}
	}
	if err := r.roomForThread(offset); err != nil {
		return err
	}
	if had {
		t.remove(row.Index, slot)
	}
	th := r.newThread(row)
	key := threadKey(th)
	if old := t.retired.take(key, row.Index, r.ours); old != nil {
		th = old
	} else {
		r.queueDefine(ntconv.Event{Thread: th, Offset: offset})
	}
	t.add(row.Index, threadState{thread: th, key: key, seen: true})
	return nil
}

// threadKey returns what a thread is recognized by: what its row says, however it says it.
func threadKey(th *ntconv.Thread) string {
	p := th.Process
	key := bin.AppendVaruint(bin.AppendVaruint(nil, th.TID), p.PID)
	key = append(bin.AppendString(bin.AppendString(bin.AppendString(key, th.Name), p.Host), p.Name), p.PointerSize)
	for _, attrs := range []ntconv.Attrs{th.Attrs, p.Attrs} {
		key = bin.AppendVaruint(key, uint64(len(attrs)))
		for _, a := range attrs {
			key = bin.AppendString(bin.AppendString(key, a.Key), a.Value)
		}
	}
	return string(key)
}

// newThread makes a thread of a row. Attributes of ntconv's own become members.
func (r *Reader) newThread(row *wire.Thread) *ntconv.Thread {
	th := &ntconv.Thread{TID: ntconv.TIDUnknown, Name: row.Name}
	if row.Has.Has(wire.ThreadTID) {
		th.TID = row.TID
	}
	var attrs ntconv.Attrs // of the process
	k := r.defaultProcess()
	if row.Has.Has(wire.ThreadPID) {
		k.pid = row.PID
	}
	for _, kv := range row.KeyValues {
		switch kv.Key {
		case attrHost:
			k.host = kv.Value
		case attrProcessName:
			k.name = kv.Value
		case attrPointerSize:
			if n, err := strconv.ParseUint(kv.Value, 10, 8); err == nil {
				k.pointers = uint8(n)
			}
		default:
			if key, ok := strings.CutPrefix(kv.Key, attrProcess); ok {
				attrs = append(attrs, ntconv.Attr{Key: key, Value: kv.Value})
				continue
			}
			th.Attrs = append(th.Attrs, ntconv.Attr{Key: kv.Key, Value: kv.Value})
		}
	}
	th.Process = r.threads.process(k, attrs)
	return th
}
