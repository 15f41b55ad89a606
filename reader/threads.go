package reader

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// attrSequence is an attribute in traces that early versions of ntconv rewrote. It stated that the numbers before a
// thread's first one are not losses. That was wrong, so the reader removes it: otherwise a rewritten trace would differ
// from its original.
const attrSequence = "ntconv.sequence"

// A threadTable maps thread indexes (version 6) or thread IDs (before) to threads and their last sequence numbers.
type threadTable struct {
	slots slotTable
	list  []threadState
	free  []uint32 // slots that no row of the window refers to
	// leaving holds the slots of removed threads. Rows may refer to them until the window is delivered.
	leaving   []uint32
	retired   retired[ntconv.Thread]
	processes map[processKey]*ntconv.Process
	added     uint64 // number of threads added so far

	// cache maps IDs to slots by a hash of the ID: events switch between a few threads. An entry is valid if it has the
	// current version, which changes with every change of the table. An intern.Cache with the version in its key would
	// be 8 to 10% slower for traces that reuse thread IDs.
	cache   [1 << cacheBits]cachedSlot
	version uint32
	bytes   int // estimated memory of the table
}

// A cachedSlot is an entry of threadTable.cache.
type cachedSlot struct {
	id      uint64
	slot    uint32
	version uint32
}

// A threadState is the state of one thread in the reader.
type threadState struct {
	thread      *ntconv.Thread
	key         string // threadKey; empty for a thread without a row
	id          uint64
	number      uint64        // position of the thread in the order of declaration
	seq         uint32        // sequence number of the last event that the thread captured
	seen        bool          // seq is valid; false only for a placeholder before its first event
	placeholder bool          // the thread has no row (version 6)
	before      []incarnation // earlier threads with this ID, oldest first
}

// An incarnation is an earlier thread with the same ID, and its last sequence number.
type incarnation struct {
	thread *ntconv.Thread
	seq    uint32
}

// A processKey identifies a process. Threads whose rows have equal process properties share a Process.
type processKey struct {
	pid        uint64
	host, name string
	pointers   uint8
	attrs      string
}

const cacheBits = 8

// cacheIndex hashes an ID. IDs on Windows are multiples of four, so their low bits do not suffice.
func cacheIndex(id uint64) uint64 { return id * 0x9E3779B97F4A7C15 >> (64 - cacheBits) }

// cached returns the slot of a declared thread if the cache has it.
func (t *threadTable) cached(id uint64) (uint32, bool) {
	c := &t.cache[cacheIndex(id)]
	return c.slot, c.id == id && c.version == t.version && len(t.list) > 0
}

// declared returns the slot of a thread, unless the thread is a placeholder.
func (t *threadTable) declared(id uint64) (uint32, bool) {
	slot, ok := t.find(id)
	return slot, ok && !t.list[slot].placeholder
}

// find returns the slot of a thread and stores it in the cache, unless the thread is a placeholder.
func (t *threadTable) find(id uint64) (uint32, bool) {
	slot, ok := t.slots.get(id)
	if ok && !t.list[slot].placeholder {
		t.cache[cacheIndex(id)] = cachedSlot{id, slot, t.version}
	}
	return slot, ok
}

// size returns the number of slots in use. Slots of removed threads are in use until the window is delivered.
func (t *threadTable) size() int { return len(t.list) - len(t.free) }

// add assigns a slot to an ID and stores the state of its thread there.
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

// remove deletes an ID. Its slot is reused once the window is delivered.
func (t *threadTable) remove(id uint64, slot uint32) {
	t.slots.remove(id)
	t.leaving = append(t.leaving, slot)
	t.version++
}

// flush deletes all IDs and moves the declared threads to retired. The caller has delivered all rows.
func (t *threadTable) flush() {
	var live []*threadState
	for i := range t.list {
		s := &t.list[i]
		if slot, ok := t.slots.get(s.id); ok && slot == uint32(i) && !s.placeholder && s.thread != nil {
			live = append(live, s)
		}
	}
	// Sort by declaration. The order of slots would depend on when the events that freed them were delivered.
	slices.SortFunc(live, func(a, b *threadState) int { return cmp.Compare(a.number, b.number) })
	for _, s := range live {
		t.retired.put(s.key, s.id, s.thread)
	}
	t.slots.reset()
	t.list, t.free, t.leaving, t.bytes = t.list[:0], t.free[:0], t.leaving[:0], 0
	t.version++
}

// freeLeaving makes the slots of removed threads available again. The caller has delivered all rows.
func (t *threadTable) freeLeaving() {
	for _, slot := range t.leaving {
		t.bytes -= threadBytes + 2*len(t.list[slot].key)
		t.list[slot] = threadState{}
	}
	t.free, t.leaving = append(t.free, t.leaving...), t.leaving[:0]
}

// process returns the shared process with these properties.
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

// threadSlot returns the slot of the thread that an event or a mark refers to. Before version 6 threads have no rows,
// so the first reference defines the thread. In version 6 threadSlot adds a placeholder for an undefined index and sets
// FlagPlaceholder in flags.
func (r *Reader) threadSlot(id uint64, offset int64, flags *ntconv.Flags) (uint32, error) {
	if slot, ok := r.threads.cached(id); ok {
		return slot, nil
	}
	slot, ok := r.threads.find(id)
	if ok {
		if r.threads.list[slot].placeholder {
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
	th := &ntconv.Thread{TID: ntconv.TIDUnknown, Process: r.threads.process(r.defaultProcess(), nil)}
	return r.threads.add(id, threadState{thread: th, placeholder: true}), nil
}

// defaultProcess returns the key of the process of threads whose rows have no process ID.
func (r *Reader) defaultProcess() processKey {
	return processKey{pid: r.pid, pointers: uint8(r.info.PointerSize)}
}

// roomForThread returns an error if another thread would exceed Limits.Threads.
func (r *Reader) roomForThread(offset int64) error {
	if r.threads.size() >= r.limits.Threads {
		return r.exceeded(offset, "thread",
			ntconv.LimitError{Limit: LimitThreads, Value: int64(r.limits.Threads), Asked: int64(r.threads.size()) + 1})
	}
	return nil
}

// addLegacyThread defines a thread of versions 3 to 5 at its first reference and returns its slot.
func (r *Reader) addLegacyThread(id uint64, offset int64) (uint32, error) {
	if err := r.roomForThread(offset); err != nil {
		return 0, err
	}
	th := &ntconv.Thread{TID: id, Process: r.threads.process(r.defaultProcess(), nil)}
	slot := r.threads.add(id, threadState{thread: th, seen: true})
	r.queueDefine(ntconv.Event{Thread: th, Offset: offset})
	return slot, nil
}

// renew replaces the thread of a slot by a new thread with the same ID and returns the slot of the new thread. The old
// slot is kept for rows in the window.
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

// maxIncarnations bounds the earlier threads of one ID that are kept to recognize their numbers in sequence points.
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

// declare defines the thread of a row. A row that a flush removed and that reappears denotes the same thread.
func (r *Reader) declare(row *wire.Thread, offset int64) error {
	t := &r.threads
	slot, had := t.slots.get(row.Index)
	if had && !t.list[slot].placeholder {
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
	if old := t.retired.take(key, row.Index, r.byNtconv); old != nil {
		th = old
	} else {
		r.queueDefine(ntconv.Event{Thread: th, Offset: offset})
	}
	t.add(row.Index, threadState{thread: th, key: key, seen: true})
	return nil
}

// threadKey encodes the properties of a thread. Rows with equal properties have equal keys, even if they are encoded
// differently.
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

// newThread converts a thread row. Attributes that package writer added become members of the thread or its process.
func (r *Reader) newThread(row *wire.Thread) *ntconv.Thread {
	th := &ntconv.Thread{TID: ntconv.TIDUnknown, Name: row.Name}
	if row.Has.Has(wire.ThreadTID) {
		th.TID = row.TID
	}
	var attrs ntconv.Attrs // attributes of the process
	k := r.defaultProcess()
	if row.Has.Has(wire.ThreadPID) {
		k.pid = row.PID
	}
	for _, kv := range row.KeyValues {
		switch kv.Key {
		case wire.AttrHost:
			k.host = kv.Value
		case wire.AttrProcessName:
			k.name = kv.Value
		case wire.AttrPointerSize:
			if n, err := strconv.ParseUint(kv.Value, 10, 8); err == nil {
				k.pointers = uint8(n)
			}
		default:
			if key, ok := strings.CutPrefix(kv.Key, wire.AttrProcess); ok {
				attrs = append(attrs, ntconv.Attr{Key: key, Value: kv.Value})
				continue
			}
			th.Attrs = append(th.Attrs, ntconv.Attr{Key: kv.Key, Value: kv.Value})
		}
	}
	th.Process = r.threads.process(k, attrs)
	return th
}
