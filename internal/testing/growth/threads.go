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
