// Package eventgen generates traces, fields and values for property tests. It is not part of ntconvtest, so that tests
// of other modules do not depend on pgregory.net/rapid.
package eventgen

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/ntconvtest"
)

// Traces generates traces as a reader of a valid nettrace file yields them in file order: types with every code,
// threads that start, end and return with the same ID, sequence numbers with gaps (and the KindLost events that report
// them), labels of all kinds, stacks, times that decrease between threads, marks of both kinds with flags, blocks of
// unknown kinds, and definitions. FlagSorted is set only on events for which it is true.
func Traces() *rapid.Generator[*ntconvtest.Trace] {
	return rapid.Custom(func(t *rapid.T) *ntconvtest.Trace {
		g := newTraceGen(t)
		for range rapid.IntRange(0, 4).Draw(t, "windows") {
			g.fill()
			g.mark()
		}
		g.fill()
		g.sorted()
		return &g.Trace
	})
}

type traceGen struct {
	ntconvtest.Trace
	t *rapid.T
	// Marks may flush tables; then all rows are distinct, because a repeated row would be treated as the flushed one.
	flushes bool
	rows    int
	start   ntconv.Ticks // start of the window: none of its events is earlier
	latest  ntconv.Ticks // latest time of all events
	procs   []*ntconv.Process
	types   []*ntconv.Type
	stacks  []*ntconv.Stack
	labels  []*ntconv.Labels
	threads []*genThread // alive
}

type genThread struct {
	*ntconv.Thread
	seq uint32
	now ntconv.Ticks
}

func newTraceGen(t *rapid.T) *traceGen {
	g := &traceGen{t: t, flushes: rapid.Bool().Draw(t, "flushes")}
	g.Info = &ntconv.Info{
		Format: "generated",
		Clock: ntconv.Clock{
			Freq: rapid.SampledFrom([]int64{3_124_099, 10_000_000, 24_000_000, 1_000_000_000}).Draw(t, "frequency"),
			Tick: ntconv.Ticks(rapid.Int64Range(0, 1<<50).Draw(t, "tick")),
			Wall: time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "wall")).UTC(),
		},
		PointerSize: rapid.SampledFrom([]int{4, 8}).Draw(t, "pointer size"),
		Attrs:       g.attrs("attribute"),
	}
	g.start, g.latest = g.Info.Clock.Tick, g.Info.Clock.Tick
	for i := range rapid.IntRange(1, 3).Draw(t, "processes") {
		g.procs = append(g.procs, g.process(i))
	}
	for range rapid.IntRange(1, 5).Draw(t, "types") {
		g.types = append(g.types, g.typ())
	}
	for range rapid.IntRange(0, 4).Draw(t, "stacks") {
		g.stacks = append(g.stacks, g.stack())
	}
	for range rapid.IntRange(0, 4).Draw(t, "label lists") {
		g.labels = append(g.labels, ntconv.NewLabels(rapid.SliceOfN(rapid.Custom(genLabel), 1, 5).Draw(t, "labels")))
	}
	return g
}

func (g *traceGen) attrs(what string) (out ntconv.Attrs) {
	for i := range rapid.IntRange(0, 2).Draw(g.t, what+"s") {
		out = append(out, ntconv.Attr{Key: fmt.Sprintf("%s%d", what, i), Value: Text(10).Draw(g.t, "value")})
	}
	return out
}

// process generates process i. PIDs repeat only on different hosts, because a PID on one host identifies a process.
func (g *traceGen) process(i int) *ntconv.Process {
	p := &ntconv.Process{PID: uint64(100 + i), PointerSize: uint8(g.Info.PointerSize)}
	if rapid.Bool().Draw(g.t, "hosts") {
		p.PID, p.Host = 100, fmt.Sprintf("host%d", i)
	}
	if rapid.Bool().Draw(g.t, "other pointers") {
		p.PointerSize = 12 - p.PointerSize
	}
	if rapid.Bool().Draw(g.t, "named") {
		p.Name = "process " + Text(5).Draw(g.t, "name")
	}
	return p
}

func (g *traceGen) typ() *ntconv.Type {
	t := g.t
	y := &ntconv.Type{
		Provider:    Text(10).Draw(t, "provider"),
		ID:          rapid.Uint32Range(0, 1<<16-1).Draw(t, "id"),
		Name:        Text(10).Draw(t, "name"),
		Version:     rapid.Byte().Draw(t, "version"),
		Level:       rapid.ByteRange(0, 5).Draw(t, "level"),
		Keywords:    rapid.Uint64().Draw(t, "keywords"),
		Message:     Text(10).Draw(t, "message"),
		Description: Text(10).Draw(t, "description"),
		HasOpcode:   rapid.Bool().Draw(t, "has opcode"),
		Fields:      Fields(WireCodes).Draw(t, "fields"),
		Attrs:       g.attrs("type attribute"),
		Extra:       rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "extra"),
	}
	if y.HasOpcode {
		y.Opcode = rapid.Byte().Draw(t, "opcode")
	}
	if rapid.Bool().Draw(t, "has guid") {
		y.GUID = ntconv.GUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "guid"))
	}
	if g.flushes {
		g.rows++
		y.Provider = fmt.Sprint(y.Provider, g.rows)
	}
	if len(y.Fields) > 0 && rapid.Bool().Draw(t, "extra field bytes") {
		y.Fields[0].Extra = rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "field extra")
	}
	return y
}

func (g *traceGen) stack() *ntconv.Stack {
	highest := uint64(1)<<32 - 1
	if g.Info.PointerSize == 8 {
		highest = 1<<64 - 1
	}
	return &ntconv.Stack{PCs: rapid.SliceOfN(rapid.Uint64Range(0, highest), 0, 6).Draw(g.t, "addresses")}
}

func genLabel(t *rapid.T) ntconv.Label {
	l := ntconv.Label{Kind: ntconv.LabelKind(rapid.IntRange(1, 10).Draw(t, "label kind"))}
	id := func(n int) { copy(l.ID[:], rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "id")) }
	switch l.Kind {
	case ntconv.LabelSpanID:
		id(8)
	case ntconv.LabelActivityID, ntconv.LabelRelatedActivityID, ntconv.LabelTraceID:
		id(16)
	case ntconv.LabelString:
		l.Key, l.Str = Text(6).Draw(t, "key"), Text(6).Draw(t, "text")
	case ntconv.LabelInt:
		l.Key, l.Num = Text(6).Draw(t, "key"), rapid.Int64().Draw(t, "number")
		l.Unit = rapid.SampledFrom([]string{"", "bytes", "ms"}).Draw(t, "unit")
	case ntconv.LabelKeywords:
		l.Num = rapid.Int64().Draw(t, "keywords")
	default:
		l.Num = rapid.Int64Range(0, 255).Draw(t, "number")
	}
	return l
}

// fill generates the events of a window.
func (g *traceGen) fill() {
	for range rapid.IntRange(0, 12).Draw(g.t, "steps") {
		switch rapid.IntRange(0, 15).Draw(g.t, "step") {
		case 0:
			g.emit(&ntconv.Event{
				Kind: ntconv.KindOpaque, CPU: ntconv.CPUUnknown, Seq: rapid.Uint32Range(9, 255).Draw(g.t, "block kind"),
				Payload: rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(g.t, "block"),
			})
		case 1:
			g.declare()
		case 2:
			g.remove()
		default:
			g.event()
		}
	}
}

func (g *traceGen) emit(e *ntconv.Event) {
	e.Offset = -1
	g.Events = append(g.Events, e)
}

// declare generates a KindDefine event for a type or thread that may remain unused.
func (g *traceGen) declare() {
	e := &ntconv.Event{Kind: ntconv.KindDefine, CPU: ntconv.CPUUnknown}
	if rapid.Bool().Draw(g.t, "declare type") {
		e.Type = g.typ()
		g.types = append(g.types, e.Type)
	} else {
		e.Thread = g.newThread().Thread
	}
	g.emit(e)
}

func (g *traceGen) newThread() *genThread {
	t := g.t
	th := &ntconv.Thread{
		TID:     rapid.Uint64Range(1, 4).Draw(t, "tid"),
		Process: rapid.SampledFrom(g.procs).Draw(t, "process"),
		Attrs:   g.attrs("thread attribute"),
	}
	switch rapid.IntRange(0, 5).Draw(t, "special thread") {
	case 0:
		th.TID = ntconv.TIDUnknown
	case 1:
		th.Name = Text(8).Draw(t, "thread name")
	}
	if g.flushes {
		g.rows++
		th.TID, th.Name = uint64(g.rows), ""
	}
	n := &genThread{th, 0, g.start}
	g.threads = append(g.threads, n)
	return n
}

func (g *traceGen) thread() *genThread {
	if len(g.threads) == 0 || rapid.IntRange(0, 5).Draw(g.t, "new thread") == 0 {
		return g.newThread()
	}
	return rapid.SampledFrom(g.threads).Draw(g.t, "thread")
}

// remove ends a thread. A later thread may get the same ID.
func (g *traceGen) remove() {
	if len(g.threads) == 0 {
		return
	}
	i := rapid.IntRange(0, len(g.threads)-1).Draw(g.t, "removed thread")
	th := g.threads[i]
	g.threads = append(g.threads[:i:i], g.threads[i+1:]...)
	g.emit(&ntconv.Event{
		Kind: ntconv.KindMark, CPU: ntconv.CPUUnknown,
		Mark: &ntconv.Mark{
			Kind:    ntconv.MarkThreadsRemoved,
			Threads: []ntconv.ThreadSeq{{Thread: th.Thread, Seq: th.seq}},
		},
	})
}

func (g *traceGen) event() {
	t := g.t
	by := g.thread()
	about := by
	if rapid.IntRange(0, 3).Draw(t, "other thread") == 0 {
		about = g.thread()
	}
	lost := uint32(0)
	if rapid.IntRange(0, 9).Draw(t, "lose") == 0 {
		lost = rapid.Uint32Range(1, 1000).Draw(t, "lost")
	}
	by.seq += lost + 1
	by.now += ntconv.Ticks(rapid.Int64Range(0, 1000).Draw(t, "time step"))
	g.latest = max(g.latest, by.now)
	if lost > 0 {
		g.emit(&ntconv.Event{Kind: ntconv.KindLost, CPU: ntconv.CPUUnknown, Lost: lost, Time: by.now, Capture: by.Thread})
	}
	e := &ntconv.Event{
		CPU: rapid.Int32Range(-1, 3).Draw(t, "cpu"), Seq: by.seq, Time: by.now,
		Type: rapid.SampledFrom(g.types).Draw(t, "type"), Thread: about.Thread, Capture: by.Thread,
	}
	if len(g.stacks) > 0 && rapid.Bool().Draw(t, "has stack") {
		e.Stack = rapid.SampledFrom(g.stacks).Draw(t, "stack")
	}
	if len(g.labels) > 0 && rapid.Bool().Draw(t, "has labels") {
		e.Labels = rapid.SampledFrom(g.labels).Draw(t, "label list")
	}
	e.Payload = g.payload(e)
	g.emit(e)
}

// payload generates a payload that matches the type, or one that does not.
func (g *traceGen) payload(e *ntconv.Event) []byte {
	if rapid.IntRange(0, 3).Draw(g.t, "any bytes") == 0 {
		return rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(g.t, "payload")
	}
	values := Values(e.Type.Fields, e.PointerSize()).Draw(g.t, "values")
	b, err := ntconv.AppendFields(nil, e.Type.Fields, values, e.PointerSize())
	if err != nil {
		g.t.Fatalf("generated values do not fit: %v", err)
	}
	return b
}

// mark generates a sequence point that ends the window.
func (g *traceGen) mark() {
	m := &ntconv.Mark{}
	if g.flushes {
		m.Flags = ntconv.MarkFlags(rapid.Uint32Range(0, 3).Draw(g.t, "flags"))
	}
	g.start = g.latest
	for _, th := range g.threads {
		if rapid.Bool().Draw(g.t, "listed") {
			m.Threads = append(m.Threads, ntconv.ThreadSeq{Thread: th.Thread, Seq: th.seq})
		}
		if th.now = g.start; m.Flags&ntconv.MarkFlushThreads != 0 {
			th.seq = 0 // numbering restarts when the thread is declared again
		}
	}
	g.emit(&ntconv.Event{Kind: ntconv.KindMark, CPU: ntconv.CPUUnknown, Time: g.start, Mark: m})
}

// sorted sets FlagSorted on some of the events that precede no earlier event.
func (g *traceGen) sorted() {
	least := ntconv.Ticks(1<<63 - 1)
	for i := len(g.Events) - 1; i >= 0; i-- {
		if e := g.Events[i]; e.Kind == ntconv.KindEvent {
			if e.Time <= least && rapid.Bool().Draw(g.t, "sorted") {
				e.Flags |= ntconv.FlagSorted
			}
			least = min(least, e.Time)
		}
	}
}
