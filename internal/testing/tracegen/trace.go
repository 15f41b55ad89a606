package tracegen

import (
	"fmt"
	"io"

	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/wirestream"
	"github.com/ntconv/ntconv/internal/trace/wire"
)

// Options describe a trace of a program under a sample profiler: threads are sampled in rotation, with stacks from a
// pool, between larger events of another type. In version 4 the profiler is that of .NET, and the rundown at the end
// describes the methods. In version 6 it is a machine-wide one that declares its threads again in each window, like
// one-collect, and symbols follow at the end. Zero selects the default of a member.
type Options struct {
	Version wire.Version // V4 or V6
	Bytes   int64        // the trace ends when it reaches this length in bytes; 0: use Events
	Events  int64        // the trace ends after this number of events; 0: use Bytes
	Threads int          // default 16
	Stacks  int          // number of distinct stacks, default 1,000
	Depth   int          // frames per stack, default 30
	Payload int          // payload size in bytes of other events, default 300; every second event is a sample
	Window  int          // events between two sequence points, default 20,000; negative: no sequence points
	// Unsorted puts the events of each thread into their own blocks, like buffers of threads that are written one after
	// another. A reader must sort each window.
	Unsorted bool
	// Runtime replaces the other events by allocations, exceptions and waits for locks of .NET, which have stacks too.
	// It needs version 4.
	Runtime bool
}

func (o *Options) setDefaults() error {
	for _, d := range []struct {
		v *int
		n int
	}{{&o.Threads, 16}, {&o.Stacks, 1000}, {&o.Depth, 30}, {&o.Payload, 300}, {&o.Window, 20_000}} {
		if *d.v == 0 {
			*d.v = d.n
		}
	}
	if o.Version != wire.V4 && o.Version != wire.V6 {
		return fmt.Errorf("version %d: want 4 or 6", o.Version)
	}
	if o.Bytes <= 0 && o.Events <= 0 {
		return fmt.Errorf("no length given")
	}
	return nil
}

// Stats describe the contents of a trace.
type Stats struct {
	Bytes, Events, Samples int64 // Events includes samples, but not symbol events
	Methods                int
}

// Write writes a trace. Traces of different lengths have the same profile apart from the weights, if they are long
// enough that every thread was sampled with every stack.
func Write(w io.Writer, o Options) (Stats, error) {
	if err := o.setDefaults(); err != nil {
		return Stats{}, err
	}
	g := &generator{o: o, s: wirestream.New(w, o.Version), clock: 1_000_000_000}
	g.prepare()
	for g.more() {
		g.window()
	}
	g.names()
	g.s.End()
	g.stats.Bytes = g.s.Offset()
	return g.stats, g.s.Err()
}

// Metadata IDs of the generated types.
const (
	typeSample = 1 + iota
	typeOther
	typeName
	typeMapping
)

// A generator writes a trace of Write.
type generator struct {
	o       Options
	s       *wirestream.Stream
	stats   Stats
	stacks  [][]byte // pool of stacks
	blocks  []*wirestream.EventBlock
	clock   uint64
	seqs    []uint32 // by thread
	samples uint64
	payload []byte
	sample  [2][]byte // payloads of samples
	runtime []runtimeEvent
}

const (
	methodBase = 0x7f00_0000_0000
	methodSize = 0x100
	fanout     = 64 // a stack is a number, and its frames are the digits to this base
	// eventBlockSize is about the block size of runtimes in bytes.
	eventBlockSize = 100 << 10
)

func (g *generator) prepare() {
	for i := range g.o.Stacks {
		pcs := make([]uint64, g.o.Depth)
		for d, n := 0, i; d < g.o.Depth; d++ {
			// Leaves differ first; frames near the root are shared, as in real programs.
			method := uint64(d*fanout + n%fanout)
			pcs[d] = methodBase + method*methodSize + uint64(n%16)
			n /= fanout
		}
		g.stacks = append(g.stacks, wirestream.Addresses(pcs...))
	}
	g.stats.Methods = g.o.Depth * fanout
	g.payload = make([]byte, g.o.Payload)
	for i := range g.payload {
		g.payload[i] = byte(i * 7)
	}
	g.seqs = make([]uint32, g.o.Threads)
	g.sample = [2][]byte{{1, 0, 0, 0}, {2, 0, 0, 0}}
	other := wirestream.Type{ID: typeOther, Provider: "Generator", Event: 2, Name: "Other"}
	if g.o.Version == wire.V6 {
		g.sample = [2][]byte{{1}, {1}}
		value := []wire.Field{{Name: "Value", Type: wire.Type{Code: wire.TypeVarUInt}}}
		g.s.Types(
			wirestream.Type{ID: typeSample, Provider: "Universal.Events", Event: 1, Name: "cpu", Fields: value},
			other,
			wirestream.Type{ID: typeName, Provider: "Universal.System", Event: 4, Name: "ProcessSymbol"},
			wirestream.Type{ID: typeMapping, Provider: "Universal.System", Event: 3, Name: "ProcessMapping"},
		)
	} else {
		g.s.Types(wirestream.Type{ID: typeSample, Provider: "Microsoft-DotNETCore-SampleProfiler"}, other,
			wirestream.Type{ID: typeName, Provider: "Microsoft-Windows-DotNETRuntimeRundown", Event: 144, Version: 2})
		if g.o.Runtime {
			g.s.Types(runtimeTypes()...)
			g.runtime = runtimeEvents()
		}
	}
	n := 1
	if g.o.Unsorted {
		n = g.o.Threads
	}
	for range n {
		g.blocks = append(g.blocks, g.s.Events())
	}
	if g.o.Window < 0 {
		g.declare(0, len(g.stacks))
	}
}

func (g *generator) more() bool {
	switch {
	case g.s.Err() != nil:
		return false
	case g.o.Events > 0 && g.stats.Events >= g.o.Events:
		return false
	}
	return g.o.Bytes <= 0 || g.s.Offset() < g.o.Bytes
}

// stackOf returns the thread and the stack of a sample. It cycles through all pairs.
func (g *generator) pair(sample uint64) (thread, stack int) {
	t := uint64(g.o.Threads)
	return int(sample % t), int(sample / t % uint64(len(g.stacks)))
}

// window writes the events between two sequence points.
func (g *generator) window() {
	size := g.o.Window
	if size < 0 {
		size = 20_000
	} else {
		// The stacks of the window are the next ones of the pool.
		_, from := g.pair(g.samples)
		g.declare(from, min(size/2/g.o.Threads+2, len(g.stacks)))
	}
	first := g.samples
	for range size {
		g.event(first)
	}
	for _, b := range g.blocks {
		b.Flush()
	}
	if g.o.Window > 0 {
		g.sequencePoint()
	}
}

// declare writes the tables to which the following events refer. Stack IDs count from 1.
func (g *generator) declare(from, n int) {
	list := make([][]byte, n)
	for i := range list {
		list[i] = g.stacks[(from+i)%len(g.stacks)]
	}
	g.s.Stacks(1, list...)
	if g.o.Version != wire.V6 {
		return
	}
	rows := make([]wire.Thread, g.o.Threads)
	for i := range rows {
		rows[i] = wire.Thread{
			Index: uint64(i), Name: fmt.Sprintf("worker %d", i), PID: 4242, TID: uint64(5000 + i),
			Has: 1<<wire.ThreadName | 1<<wire.ThreadPID | 1<<wire.ThreadTID,
		}
	}
	g.s.Threads(rows...)
	clear(g.seqs)
}

// event writes the next event. first is the number of the first sample in the window.
func (g *generator) event(first uint64) {
	g.clock += 31_250 // one sample per thread and millisecond, with the default options
	thread, stack := g.pair(g.samples)
	h := wire.EventHeader{MetadataID: typeOther, Time: g.clock, PayloadSize: uint32(len(g.payload)), Sorted: !g.o.Unsorted}
	payload := g.payload
	_, base := g.pair(first)
	if g.o.Window < 0 {
		base = 0
	}
	stackID := uint32(1 + (stack-base+len(g.stacks))%len(g.stacks))
	if g.runtime != nil {
		e := g.runtime[g.samples/uint64(g.o.Threads)%uint64(len(g.runtime))]
		payload = e.payload
		h.MetadataID, h.PayloadSize, h.StackID = e.id, uint32(len(payload)), stackID
	}
	if g.stats.Events%2 == 0 {
		payload = g.sample[stack%2]
		h.MetadataID, h.PayloadSize, h.StackID = typeSample, uint32(len(payload)), stackID
		g.samples++
		g.stats.Samples++
	}
	g.stats.Events++
	g.seqs[thread]++
	h.Sequence = g.seqs[thread]
	h.Thread = g.threadID(thread)
	h.CaptureThread, h.CPU = h.Thread, uint32(thread%8)
	b := g.blocks[thread%len(g.blocks)]
	b.Add(&h, payload)
	if b.Len() >= eventBlockSize {
		b.Flush()
	}
}

// threadID returns the thread ID in events, which is an index in version 6.
func (g *generator) threadID(i int) uint64 {
	if g.o.Version == wire.V6 {
		return uint64(i)
	}
	return uint64(5000 + i)
}

func (g *generator) sequencePoint() {
	flags := uint32(0)
	list := make([]wire.ThreadSeq, g.o.Threads)
	for i := range list {
		list[i] = wire.ThreadSeq{Thread: g.threadID(i), Sequence: g.seqs[i]}
	}
	if g.o.Version == wire.V6 {
		flags = wire.FlushThreads
	}
	g.s.SequencePoint(g.clock, flags, list...)
}

// names writes the symbol events.
func (g *generator) names() {
	if g.o.Version == wire.V6 && g.o.Window > 0 {
		g.declare(0, 1)
	}
	b := g.s.Events()
	add := func(id uint32, payload []byte) {
		g.clock++
		g.seqs[0]++
		thread := g.threadID(0)
		b.Add(&wire.EventHeader{
			MetadataID: id, Time: g.clock, Sequence: g.seqs[0], Thread: thread, CaptureThread: thread, Sorted: true, PayloadSize: uint32(len(payload)),
		}, payload)
		if b.Len() >= eventBlockSize {
			b.Flush()
		}
	}
	if g.o.Version == wire.V6 {
		add(typeMapping, mapping(1, methodBase, methodBase+uint64(g.stats.Methods)*methodSize-1, "/usr/lib/generated.so"))
	}
	for i := range g.stats.Methods {
		start := methodBase + uint64(i)*methodSize
		if g.o.Version == wire.V6 {
			add(typeName, symbolPayload(uint64(i), start, start+methodSize-1, fmt.Sprintf("generated_function_%d", i)))
		} else {
			add(typeName, methodPayload(uint64(i), start))
		}
	}
	b.Flush()
	g.s.SequencePoint(g.clock, 0)
}

// methodPayload is a MethodDCEndVerbose event of version 2 (nettrace-in-practice, 3.3).
func methodPayload(i, start uint64) []byte {
	b := bin.AppendU64(nil, 0x100000+i)
	b = bin.AppendU64(b, 0x9000)
	b = bin.AppendU64(b, start)
	b = bin.AppendU32(b, methodSize)
	b = bin.AppendU32(b, 0x6000001+uint32(i))
	b = bin.AppendU32(b, 1<<3)
	b = bin.AppendUTF16Z(b, fmt.Sprintf("Generated.Type%d", i/fanout))
	b = bin.AppendUTF16Z(b, fmt.Sprintf("Method%d", i))
	b = bin.AppendUTF16Z(b, "void  (int32)")
	b = bin.AppendU16(b, 0)
	return bin.AppendU64(b, 0)
}

// symbolPayload is a ProcessSymbol event (universal, 1.3).
func symbolPayload(id, start, end uint64, name string) []byte {
	b := bin.AppendVaruint(nil, id)
	b = bin.AppendVaruint(b, 1)
	b = bin.AppendVaruint(b, start)
	b = bin.AppendVaruint(b, end)
	return append(bin.AppendU16(b, uint16(len(name))), name...)
}

// mapping is a ProcessMapping event.
func mapping(id, start, end uint64, file string) []byte {
	b := bin.AppendVaruint(nil, id)
	b = bin.AppendVaruint(b, start)
	b = bin.AppendVaruint(b, end)
	b = bin.AppendVaruint(b, 0)
	b = append(bin.AppendU16(b, uint16(len(file))), file...)
	return bin.AppendVaruint(b, 0)
}
