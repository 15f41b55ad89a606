package growth

import (
	"io"

	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// A trace writes a nettrace 6 stream event by event.
type trace struct {
	*wirestream.Stream
	block  *wirestream.EventBlock
	clock  uint64 // time of the last event in ns
	types  uint32 // number of metadata IDs in use
	stacks uint32
	labels uint32
	seqs   map[uint64]uint32
}

// thread1 is the thread of most events; its process is process1.
const (
	thread1  = 1
	process1 = 77
)

// traceInput returns a generator of traces with threads 1 to 4 of one process.
func traceInput(name string, n int, fill func(t *trace, n int)) Input {
	return Input{Name: name, Ext: "nettrace", N: n, Write: func(w io.Writer, n int) error {
		t := &trace{Stream: wirestream.New(w, wire.V6), clock: 1_000_000_000, seqs: map[uint64]uint32{}}
		t.block = t.Events()
		for i := range uint64(4) {
			t.thread(thread1+i, process1, 1000+i, "")
		}
		fill(t, n)
		t.flush()
		t.End()
		return t.Err()
	}}
}

// thread declares a thread.
func (t *trace) thread(index, pid, tid uint64, name string) {
	row := wire.Thread{Index: index, PID: pid, TID: tid, Name: name, Has: 1<<wire.ThreadPID | 1<<wire.ThreadTID}
	if name != "" {
		row.Has |= 1 << wire.ThreadName
	}
	t.flush()
	t.Threads(row)
}

// typ declares a type and returns its ID.
func (t *trace) typ(provider string, event uint32, name string, version uint8, fields ...wire.Field) uint32 {
	t.types++
	t.Types(wirestream.Type{ID: t.types, Provider: provider, Event: event, Name: name, Version: version, Fields: fields})
	return t.types
}

// stack declares a stack and returns its ID.
func (t *trace) stack(pcs ...uint64) uint32 {
	t.stacks++
	t.Stacks(t.stacks, wirestream.Addresses(pcs...))
	return t.stacks
}

// list declares a label list and returns its ID.
func (t *trace) list(labels ...wire.Label) uint32 {
	t.labels++
	t.Labels(t.labels, labels)
	return t.labels
}

// event writes an event of thread 1, one microsecond after the previous event.
func (t *trace) event(typ uint32, payload []byte) { t.add(wire.EventHeader{MetadataID: typ}, payload) }

// add writes an event. Without a time in h, the event follows one microsecond after the previous one; without a thread,
// it belongs to thread 1.
func (t *trace) add(h wire.EventHeader, payload []byte) {
	if h.Time == 0 {
		t.clock += 1000
		h.Time, h.Sorted = t.clock, true
	}
	if h.Thread == 0 {
		h.Thread = thread1
	}
	h.CaptureThread = h.Thread
	t.seqs[h.Thread]++
	h.Sequence, h.PayloadSize = t.seqs[h.Thread], uint32(len(payload))
	t.block.Add(&h, payload)
	if t.block.Len() > 60<<10 {
		t.block.Flush()
	}
}

// flush ends a block. Events must be flushed before a block of another kind is written.
func (t *trace) flush() { t.block.Flush() }

func field(name string, code wire.TypeCode) wire.Field {
	return wire.Field{Name: name, Type: wire.Type{Code: code}}
}
