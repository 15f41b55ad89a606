package growth

import (
	"fmt"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// shapeInputs returns the shapes of tracegen that have many of something.
func shapeInputs() (list []Input) {
	for _, s := range tracegen.Shapes() {
		if s.Many && s.Name != "labels" && s.Name != "labels-distinct" { // they write in batches of ten thousand
			n := 500
			switch s.Name {
			// These write in batches of a thousand.
			case "zero-length", "zero-length-v4", "threads", "types", "types-v4", "fields", "thread-flush", "type-flush",
				"type-redefined", "thread-redefined", "stacks":
				n = 8000
			case "thread-flush-same": // the reader searches up to 256 equal rows one by one
				n = 4000
			}
			list = append(list, Input{Name: "shape-" + s.Name, Ext: "nettrace", N: n, Write: s.Write})
		}
	}
	return list
}

// threadInputs returns generators of many threads or processes, and of blocks and windows of unusual size.
func threadInputs() []Input {
	return []Input{
		traceInput("threads-named", 500, func(t *trace, n int) {
			typ := t.typ("P", 1, "E", 0)
			for i := range n {
				t.thread(uint64(10+i), process1, uint64(2000+i), fmt.Sprint("thread ", i))
				t.add(wire.EventHeader{MetadataID: typ, Thread: uint64(10 + i)}, nil)
			}
		}),
		traceInput("threads-same-id", 500, func(t *trace, n int) {
			typ := t.typ("P", 1, "E", 0)
			for i := range n {
				t.thread(uint64(10+i), process1, 2000, "same")
				t.add(wire.EventHeader{MetadataID: typ, Thread: uint64(10 + i)}, nil)
			}
		}),
		traceInput("threads-large-ids", 500, func(t *trace, n int) { // formats with 32-bit IDs renumber them
			typ := t.typ("P", 1, "E", 0)
			for i := range n {
				t.thread(uint64(10+i), process1+uint64(i)<<40, uint64(i)<<34|7, "")
				t.add(wire.EventHeader{MetadataID: typ, Thread: uint64(10 + i)}, nil)
			}
		}),
		traceInput("threads-renamed", 500, func(t *trace, n int) { // by events of the same thread
			typ := t.typ("P", 1, "E", 0)
			for i := range n {
				t.flush()
				t.RemoveThreads(wire.ThreadSeq{Thread: thread1, Sequence: t.seqs[thread1]})
				t.seqs[thread1] = 0
				t.thread(thread1, process1, 1000, fmt.Sprint("name ", i))
				t.event(typ, nil)
			}
		}),
		traceInput("threads-attributes", 500, func(t *trace, n int) {
			row := wire.Thread{Index: 10, PID: process1, TID: 2000, Has: 1<<wire.ThreadPID | 1<<wire.ThreadTID}
			for i := range n {
				row.KeyValues = append(row.KeyValues, wire.KeyValue{Key: fmt.Sprint("key", i), Value: "value"})
			}
			t.Threads(row)
			t.add(wire.EventHeader{MetadataID: t.typ("P", 1, "E", 0), Thread: 10}, nil)
		}),
		traceInput("threads-samples", 500, func(t *trace, n int) {
			typ := t.sampler()
			for i := range n {
				t.thread(uint64(10+i), process1, uint64(2000+i), "")
				s := t.stack(0x1000, 0x2000)
				for range 2 {
					t.add(wire.EventHeader{MetadataID: typ, Thread: uint64(10 + i), StackID: s}, []byte{1})
				}
			}
		}),
		traceInput("processes", 300, func(t *trace, n int) {
			create, typ := t.typ("Universal.System", 1, "ProcessCreate", 0), t.sampler()
			mapped := t.typ("Universal.System", 3, "ProcessMapping", 0)
			for i := range n {
				t.thread(uint64(10+i), uint64(3000+i), uint64(3000+i), "")
				h := wire.EventHeader{MetadataID: create, Thread: uint64(10 + i)}
				t.add(h, sized(sized(bin.AppendVaruint(nil, 1), fmt.Sprint("process", i)), "ns"))
				h.MetadataID = mapped
				t.add(h, mappingPayload(1, 0x10000, 0x1ffff, "/lib/a.so"))
				h.MetadataID, h.StackID = typ, t.stack(0x10010)
				t.add(h, []byte{1})
			}
		}),
		traceInput("processes-forked", 300, func(t *trace, n int) { // the same process repeatedly
			create, exit := t.typ("Universal.System", 1, "ProcessCreate", 0), t.typ("Universal.System", 2, "ProcessExit", 0)
			for i := range n {
				t.event(create, sized(sized(bin.AppendVaruint(nil, 1), fmt.Sprint("process", i)), "ns"))
				t.event(exit, nil)
			}
		}),
		traceInput("points", 500, func(t *trace, n int) {
			typ := t.typ("P", 1, "E", 0)
			for range n {
				t.event(typ, nil)
				t.flush()
				t.SequencePoint(t.clock, 0, wire.ThreadSeq{Thread: thread1, Sequence: t.seqs[thread1]})
			}
		}),
		traceInput("points-threads", 40, func(t *trace, n int) { // each lists many threads
			typ := t.typ("P", 1, "E", 0)
			for range n {
				t.event(typ, nil)
				t.flush()
				list := make([]wire.ThreadSeq, 50)
				for k := range list {
					list[k] = wire.ThreadSeq{Thread: uint64(1 + k), Sequence: t.seqs[thread1]}
				}
				t.SequencePoint(t.clock, 0, list...)
			}
		}),
		traceInput("lost", 500, func(t *trace, n int) {
			typ := t.typ("P", 1, "E", 0)
			for i := range n {
				t.seqs[thread1+uint64(i%4)] += 3
				t.add(wire.EventHeader{MetadataID: typ, Thread: thread1 + uint64(i%4)}, nil)
			}
		}),
		traceInput("times-reverse", 1000, func(t *trace, n int) {
			typ := t.typ("P", 1, "E", 0)
			for i := range n {
				t.add(wire.EventHeader{MetadataID: typ, Time: t.clock + uint64(n-i)*1000}, nil)
			}
		}),
		traceInput("times-reverse-blocks", 500, func(t *trace, n int) {
			typ := t.typ("P", 1, "E", 0)
			for i := range n {
				t.add(wire.EventHeader{MetadataID: typ, Time: t.clock + uint64(n-i)*1000}, nil)
				t.flush()
			}
		}),
		traceInput("times-reverse-threads", 300, func(t *trace, n int) {
			typ := t.sampler()
			for i := range n {
				t.thread(uint64(10+i), process1, uint64(2000+i), "")
			}
			s := t.stack(0x1000, 0x2000)
			for range 2 {
				for i := range n {
					t.add(wire.EventHeader{MetadataID: typ, Time: t.clock + uint64(n-i)*1000, Thread: uint64(10 + i), StackID: s}, []byte{1})
				}
			}
		}),
		traceInput("times-equal", 1000, func(t *trace, n int) {
			typ, s := t.sampler(), t.stack(0x1000)
			for i := range n {
				t.add(wire.EventHeader{MetadataID: typ, Time: t.clock, Thread: thread1 + uint64(i%4), StackID: s}, []byte{1})
			}
		}),
	}
}

// sampler declares the type of CPU samples.
func (t *trace) sampler() uint32 {
	return t.typ("Universal.Events", 1, "cpu", 0, field("Value", wire.TypeVarUInt))
}

// sized appends a string after its length.
func sized(b []byte, s string) []byte { return append(bin.AppendU16(b, uint16(len(s))), s...) }

func mappingPayload(id, start, end uint64, file string) []byte {
	b := bin.AppendVaruint(bin.AppendVaruint(bin.AppendVaruint(nil, id), start), end)
	return bin.AppendVaruint(sized(bin.AppendVaruint(b, 0), file), id)
}

func symbolPayload(id, mapping, start, end uint64, name string) []byte {
	b := bin.AppendVaruint(bin.AppendVaruint(nil, id), mapping)
	return sized(bin.AppendVaruint(bin.AppendVaruint(b, start), end), name)
}
