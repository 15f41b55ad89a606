package writer_test

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/writer"
)

// rows holds the rows of a file, read only with the parsers of the format: an independent check of the reader.
type rows struct {
	trace     wire.Trace
	kinds     []wire.Kind // kinds of the blocks in order, including the end
	events    []wire.EventHeader
	points    []wire.SequencePoint
	removed   []wire.ThreadSeq
	metadata  []wire.Metadata
	threads   []wire.Thread
	labels    [][]wire.Label
	stacks    int
	perBlock  []int // events of each event block
	blockSize map[wire.Kind]int
}

// parse reads a file and checks the invariants of every file: definitions precede their use, IDs start at 1 in every
// window, event blocks have events and correct times, and the file has an end.
func parse(t tb, b []byte) *rows {
	t.Helper()
	r := &rows{blockSize: map[wire.Kind]int{}}
	c := bin.New(b, 0)
	if h, err := wire.ParseStreamHeader(&c); err != nil || h.Version != wire.V6 {
		t.Fatalf("stream header: %+v, %v", h, err)
	}
	known := map[string]map[uint64]bool{}
	fresh := func(tables ...string) {
		for _, name := range tables {
			known[name] = map[uint64]bool{}
		}
	}
	define := func(table string, id uint64) {
		if known[table][id] || id == 0 {
			t.Fatalf("%s %d is defined twice, or is 0", table, id)
		}
		known[table][id] = true
	}
	use := func(table string, id uint64) {
		if !known[table][id] {
			t.Fatalf("%s %d is used before it is defined", table, id)
		}
	}
	fresh("metadata", "thread", "stack", "labels")
	first := func(table string, r wire.IDRange) {
		if int(r.First) != len(known[table])+1 {
			t.Fatalf("%s block begins with %d after %d rows", table, r.First, len(known[table]))
		}
	}
	for c.Len() > 0 {
		h := wire.ParseBlockHeader(c.Bytes(wire.BlockHeaderSize))
		r.kinds = append(r.kinds, h.Kind)
		r.blockSize[h.Kind] = max(r.blockSize[h.Kind], h.Size)
		body := c.Sub(h.Size)
		var err error
		switch h.Kind {
		case wire.KindTrace:
			r.trace, err = wire.ParseTrace(&body)
		case wire.KindMetadata:
			wire.ParseMetadataHeader(&body)
			for body.Len() > 0 && err == nil {
				var m wire.Metadata
				m, err = wire.ParseMetadata(&body, wire.Limits{})
				if body.Err() == nil {
					err = nil // the source's reader could not parse this type either; it was copied
				}
				define("metadata", uint64(m.ID))
				r.metadata = append(r.metadata, m)
			}
		case wire.KindThread:
			for body.Len() > 0 && err == nil {
				var th wire.Thread
				th, err = wire.ParseThread(&body)
				define("thread", th.Index)
				r.threads = append(r.threads, th)
			}
		case wire.KindStack:
			ids, _ := wire.ParseStackHeader(&body)
			first("stack", ids)
			for id := ids.First; body.Len() > 0; id++ {
				wire.NextStack(&body)
				define("stack", uint64(id))
				r.stacks++
			}
			err = body.Err()
		case wire.KindLabelList:
			ids, _ := wire.ParseLabelHeader(&body)
			first("labels", ids)
			for id := ids.First; body.Len() > 0 && err == nil; id++ {
				var list []wire.Label
				list, err = wire.ParseLabels(&body, nil, false)
				define("labels", uint64(id))
				r.labels = append(r.labels, list)
			}
		case wire.KindEvent:
			r.eventBlock(t, &body, use)
		case wire.KindSequencePoint:
			var sp wire.SequencePoint
			sp, err = wire.ParseSequencePoint(&body, nil)
			for _, ts := range sp.Threads {
				use("thread", ts.Thread)
			}
			r.points = append(r.points, sp)
			fresh("stack", "labels")
			if sp.Flags&wire.FlushThreads != 0 {
				fresh("thread")
			}
			if sp.Flags&wire.FlushMetadata != 0 {
				fresh("metadata")
			}
		case wire.KindRemoveThread:
			for body.Len() > 0 && body.Err() == nil {
				ts := wire.ParseThreadSeq(&body)
				use("thread", ts.Thread)
				delete(known["thread"], ts.Thread)
				r.removed = append(r.removed, ts)
			}
			err = body.Err()
		}
		if err != nil {
			t.Fatalf("%v block: %v", h.Kind, err)
		}
	}
	if c.Err() != nil || len(r.kinds) < 2 || r.kinds[0] != wire.KindTrace || r.kinds[len(r.kinds)-1] != wire.KindEnd {
		t.Fatalf("blocks %v, %v", r.kinds, c.Err())
	}
	return r
}

func (r *rows) eventBlock(t tb, body *bin.Cursor, use func(string, uint64)) {
	head, err := wire.ParseEventBlockHeader(body)
	if err != nil || !head.Compressed() {
		t.Fatalf("event block: %+v, %v", head, err)
	}
	b := body.Rest()
	var h wire.EventHeader
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	n := 0
	for ; len(b) > 0; n++ {
		size := h.ParseCompressed(b)
		if size <= 0 || int(h.PayloadSize) > len(b)-size {
			t.Fatalf("event %d of a block does not fit", n)
		}
		b = b[size+int(h.PayloadSize):]
		use("metadata", uint64(h.MetadataID))
		use("thread", h.Thread)
		use("thread", h.CaptureThread)
		if h.StackID != 0 {
			use("stack", uint64(h.StackID))
		}
		if h.LabelList != 0 {
			use("labels", uint64(h.LabelList))
		}
		least, most = min(least, int64(h.Time)), max(most, int64(h.Time))
		r.events = append(r.events, h)
	}
	if n == 0 || int64(head.Min) != least || int64(head.Max) != most {
		t.Fatalf("block of %d events from %d to %d has the times %d to %d", n, least, most, int64(head.Min), int64(head.Max))
	}
	r.perBlock = append(r.perBlock, n)
}

func TestEveryFileIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := eventgen.Traces().Draw(t, "trace")
		opts := &writer.Options{
			BlockBytes: rapid.SampledFrom([]int{0, 1, 50, 500}).Draw(t, "block size"), BlockEvents: rapid.IntRange(0, 3).Draw(t, "block events"),
			Renumber: rapid.Bool().Draw(t, "renumber"), Ordered: rapid.Bool().Draw(t, "ordered"),
		}
		r := parse(t, write(t, tr.Source(), opts))
		events := 0
		for _, e := range tr.Events {
			if e.Kind == ntconv.KindEvent {
				events++
			}
		}
		if len(r.events) != events {
			t.Fatalf("%d events of %d", len(r.events), events)
		}
		if opts.BlockEvents > 0 {
			for _, n := range r.perBlock {
				if n > opts.BlockEvents {
					t.Fatalf("a block of %d events", n)
				}
			}
		}
	})
}

func TestBytesAreDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := eventgen.Traces().Draw(t, "trace")
		a := write(t, tr.Source(), nil)
		if b := write(t, ntconvtest.Poison(tr.Source()), nil); !bytes.Equal(a, b) {
			t.Fatal("the same events yielded different bytes")
		}
	})
}

// ticks returns a source of n events of one thread, one tick apart, each with its own stack.
func ticks(n int, flags ntconv.Flags) *ntconvtest.SliceSource {
	typ := &ntconv.Type{Provider: "P", ID: 1, Name: "tick"}
	th := &ntconv.Thread{TID: 7, Process: &ntconv.Process{PID: 1}}
	var events []*ntconv.Event
	for i := range n {
		events = append(events, &ntconv.Event{
			Flags: flags, Time: ntconv.Ticks(1000 + i), Seq: uint32(i + 1), Type: typ, Thread: th, Capture: th, Offset: -1,
			Stack: &ntconv.Stack{PCs: []uint64{uint64(i % 10), 5}}, Payload: make([]byte, 100),
		})
	}
	return ntconvtest.NewSource(nil, events...)
}

func TestSequencePointsOnlyWhereOrderIsProven(t *testing.T) {
	r := parse(t, write(t, ticks(100, 0), &writer.Options{BlockBytes: 1000}))
	if len(r.points) != 0 || len(r.perBlock) < 8 || r.stacks != 10 {
		t.Errorf("not ordered: %d sequence points, %d blocks, %d stacks", len(r.points), len(r.perBlock), r.stacks)
	}
	b := write(t, ticks(100, 0), &writer.Options{BlockBytes: 1000, Ordered: true})
	r = parse(t, b)
	if len(r.points) < 8 || len(r.points) > len(r.perBlock) || r.stacks < 60 {
		t.Errorf("in order: %d sequence points, %d blocks, %d stacks", len(r.points), len(r.perBlock), r.stacks)
	}
	last := uint64(0)
	for _, sp := range r.points {
		if sp.Flags != 0 || len(sp.Threads) != 0 || sp.Time <= last {
			t.Errorf("sequence point %+v after %d", sp, last)
		}
		last = sp.Time
	}
	for i, e := range r.events {
		if !e.Sorted {
			t.Errorf("event %d is not flagged as sorted", i)
		}
	}
	if err := ntconvtest.EqualStreams(ticks(100, 0), read(t, b), &ntconvtest.Options{EmptyMarks: true, Sorted: true}); err != nil {
		t.Error(err)
	}
}

// TestOrderedIsWrong checks that after an event that is too early the writer inserts no more sequence points and flags
// no event as sorted.
func TestOrderedIsWrong(t *testing.T) {
	src := ticks(100, 0)
	events, _ := ntconvtest.Record(src)
	events[50].Time = 5
	var report ntconv.Report
	r := parse(t, write(t, ntconvtest.NewSource(nil, events...), &writer.Options{BlockEvents: 10, Ordered: true, Report: &report}))
	if len(r.points) != 5 || report.Count(ntconv.CodeOutOfOrder) != 1 {
		t.Errorf("%d sequence points, %v", len(r.points), report.Entries())
	}
	for i, e := range r.events {
		if e.Sorted != (i < 50) {
			t.Errorf("event %d: sorted %v", i, e.Sorted)
		}
	}
}

// TestOrderedFlags checks that the writer flags all events as sorted if they are in order. Otherwise it flags no event
// that an earlier one follows, unless the flag is already written; then it counts the earlier event.
func TestOrderedFlags(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := eventgen.Traces().Draw(t, "trace")
		if rapid.Bool().Draw(t, "in order") {
			slices.SortStableFunc(tr.Events, func(x, y *ntconv.Event) int { return cmp.Compare(x.Time, y.Time) })
		}
		var report ntconv.Report
		opts := &writer.Options{BlockEvents: rapid.IntRange(0, 3).Draw(t, "block events"), Ordered: true, Report: &report}
		r := parse(t, write(t, tr.Source(), opts))
		wrong, ordered, sorted := uint64(0), true, 0
		latest, claimed := int64(math.MinInt64), int64(math.MinInt64)
		for _, e := range r.events {
			at := int64(e.Time)
			ordered = ordered && at >= latest
			latest = max(latest, at)
			if at < claimed {
				wrong++
			}
			if e.Sorted {
				claimed = max(claimed, at)
				sorted++
			}
		}
		if ordered && sorted < len(r.events) {
			t.Fatalf("%d events are in order, but %d are flagged", len(r.events), sorted)
		}
		if wrong > report.Count(ntconv.CodeOutOfOrder) {
			t.Fatalf("%d events contradict a flag, but %d are counted", wrong, report.Count(ntconv.CodeOutOfOrder))
		}
	})
}

// TestAlternatingThreads checks that an event of another capture thread starts a block unless it is sorted.
func TestAlternatingThreads(t *testing.T) {
	events, _ := ntconvtest.Record(ticks(8, 0))
	other := *events[0].Thread
	for i, e := range events {
		e.Seq = []uint32{1, 2, 1, 2, 3, 3, 4, 5}[i]
		if i == 2 || i == 3 || i == 5 {
			e.Capture = &other
		}
	}
	events[5].Flags, events[6].Flags = ntconv.FlagSorted, ntconv.FlagSorted
	b := write(t, ntconvtest.NewSource(nil, events...), nil)
	r := parse(t, b)
	if want := []int{2, 2, 4}; !slices.Equal(r.perBlock, want) {
		t.Errorf("blocks of %v events, want %v", r.perBlock, want)
	}
	if err := ntconvtest.EqualStreams(ntconvtest.NewSource(nil, events...), read(t, b), nil); err != nil {
		t.Error(err)
	}
}

// TestFalseFlagsOfTheInput checks that wrong flags of the input are kept, so that readers deliver the same events, and
// that each event that contradicts a flag is counted.
func TestFalseFlagsOfTheInput(t *testing.T) {
	events, _ := ntconvtest.Record(ticks(6, ntconv.FlagSorted))
	events[3].Time = 1001 // not before event 1, but before event 2
	events[4].Time = 1001
	for _, n := range []int{0, 3} { // events per block
		var report ntconv.Report
		b := write(t, ntconvtest.NewSource(nil, events...), &writer.Options{BlockEvents: n, Report: &report})
		if report.Count(ntconv.CodeOutOfOrder) != 2 || len(report.Entries()) != 1 || report.Entries()[0].Detail == "" {
			t.Errorf("%d per block: report: %v", n, report.Entries())
		}
		if err := ntconvtest.EqualStreams(ntconvtest.NewSource(nil, events...), read(t, b), nil); err != nil {
			t.Errorf("%d per block: %v", n, err)
		}
	}
}

// TestSortedIsTakenBack checks that the writer removes its own wrong flags from blocks that are not written yet, and
// that it counts each event that proves a flag wrong, unless the source has counted the event.
func TestSortedIsTakenBack(t *testing.T) {
	events, _ := ntconvtest.Record(ticks(6, 0))
	events[3].Time = 1001 // not before event 1, but before event 2
	for _, counted := range []bool{false, true} {
		if counted {
			events[3].Flags |= ntconv.FlagLate
		}
		var report ntconv.Report
		r := parse(t, write(t, ntconvtest.NewSource(nil, events...), &writer.Options{Ordered: true, Report: &report}))
		for i, want := range []bool{true, true, false, false, false, false} {
			if r.events[i].Sorted != want {
				t.Errorf("event %d: sorted %v", i, r.events[i].Sorted)
			}
		}
		if n := report.Count(ntconv.CodeOutOfOrder); (n == 0) != counted || n > 1 {
			t.Errorf("counted %v: report: %v", counted, report.Entries())
		}
	}
}

func TestAttributesOnTheWire(t *testing.T) {
	m := ntconvtest.Fixtures()[3]
	r := parse(t, write(t, m.Source(), nil))
	want := map[string]int{"host.name": 6, "ntconv.process-name": 6, "ntconv.pointer-size": 2}
	got := map[string]int{}
	for _, th := range r.threads {
		for _, kv := range th.KeyValues {
			got[kv.Key]++
		}
		if !th.Has.Has(wire.ThreadPID) || !th.Has.Has(wire.ThreadTID) || th.Has.Has(wire.ThreadName) != (th.TID == 44) {
			t.Errorf("thread %+v", th)
		}
	}
	for key, n := range want {
		if got[key] != n {
			t.Errorf("%d threads with %s, want %d", got[key], key, n)
		}
	}
	r = parse(t, write(t, ntconvtest.Fixtures()[0].Source(), nil))
	if th := r.threads[0]; th.Has.Has(wire.ThreadTID) {
		t.Errorf("a thread with an unknown ID has the ID %d", th.TID)
	}
	list := r.labels[0]
	if len(list) != 7 || list[1].Kind != wire.LabelNumber || list[2].Kind != wire.LabelString || list[2].Key != "bytes#unit" || list[2].Str != "bytes" {
		t.Errorf("labels with units: %+v", list)
	}
	kvs := r.trace.KeyValues
	if n := len(kvs); kvs[n-2] != (wire.KeyValue{Key: "ntconv.labels", Value: "zigzag"}) || kvs[n-1] != (wire.KeyValue{Key: "ntconv.aggregate", Value: "true"}) {
		t.Errorf("trace: %+v", kvs)
	}
}

func TestNumbersAreMadeUp(t *testing.T) {
	events, _ := ntconvtest.Record(ticks(5, 0))
	other := *events[0].Thread
	for i := range events {
		events[i].Seq = 0
	}
	events[2].Capture = &other
	events = append(events, &ntconv.Event{Kind: ntconv.KindMark, Mark: &ntconv.Mark{Kind: ntconv.MarkThreadsRemoved, Threads: []ntconv.ThreadSeq{{Thread: events[0].Thread}}}})
	r := parse(t, write(t, ntconvtest.NewSource(nil, events...), nil))
	for i, want := range []uint32{1, 2, 1, 3, 4} {
		if r.events[i].Sequence != want {
			t.Errorf("event %d has number %d, want %d", i, r.events[i].Sequence, want)
		}
	}
	if r.removed[0].Sequence != 4 {
		t.Errorf("the thread ends at %d", r.removed[0].Sequence)
	}
}

// TestRenumber checks that filtered events do not look lost, and that lost events still do.
func TestRenumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := eventgen.Traces().Draw(t, "trace")
		var lost uint64
		i := 0
		src := ntconv.Filter(tr.Source(), func(e *ntconv.Event) bool {
			if e.Kind == ntconv.KindLost {
				lost += uint64(e.Lost)
			}
			i++
			return e.Kind != ntconv.KindEvent || i%3 != 0
		})
		b := write(t, src, &writer.Options{Renumber: true})
		got, err := ntconvtest.Record(read(t, b))
		if err != nil {
			t.Fatal(err)
		}
		var found uint64
		for _, e := range got {
			found += uint64(e.Lost)
		}
		// Losses at the end of a thread, with no event or mark after them, cannot be detected.
		if found > lost {
			t.Fatalf("%d events are lost, but %d look lost", lost, found)
		}
	})
}

func TestWallClock(t *testing.T) {
	src := ntconvtest.Fixtures()[3]
	src.Info.Clock.Wall = src.Info.Clock.Wall.Add(123456) // a fraction of a millisecond
	r := read(t, write(t, src.Source(), nil))
	at := ntconv.Ticks(5000)
	if got, want := r.Info().Clock.Time(at), src.Info.Clock.Time(at); want.Sub(got) < 0 || want.Sub(got) > 200 {
		t.Errorf("%v became %v", want, got)
	}
	src = ntconvtest.Fixtures()[2] // has no wall-clock time
	if got := read(t, write(t, src.Source(), nil)).Info().Clock.Wall; !got.IsZero() {
		t.Errorf("an unknown time became %v", got)
	}
}

// TestNamesakes checks that a row with the name of an earlier one is written after the events that the earlier row
// describes.
func TestNamesakes(t *testing.T) {
	events, _ := ntconvtest.Record(ticks(3, 0))
	again := &ntconv.Type{Provider: "P", ID: 1, Name: "tock"}
	events[2].Type = again
	b := write(t, ntconvtest.NewSource(nil, events...), nil)
	r := parse(t, b)
	want := []wire.Kind{wire.KindTrace, wire.KindMetadata, wire.KindThread, wire.KindStack, wire.KindEvent, wire.KindMetadata, wire.KindStack, wire.KindEvent, wire.KindEnd}
	if len(r.kinds) != len(want) {
		t.Fatalf("blocks %v", r.kinds)
	}
	for i := range want {
		if r.kinds[i] != want[i] {
			t.Fatalf("blocks %v", r.kinds)
		}
	}
}
