package tracker_test

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/ntconvtest"
)

// playBytes builds a trace: each four bytes are an event, with type and labels, thread, time and payload. It returns the
// number of Start events without labels of a span, and the spans in labels.
func playBytes(t testing.TB, b []byte) (tr *trace, starts int, labeled map[spanID]bool) {
	tr = newTrace(t)
	labeled = make(map[spanID]bool)
	processes := [2]*ntconv.Process{{PID: 1, PointerSize: 8}, {PID: 1, Host: "other", PointerSize: 8}}
	var threads [6]*ntconv.Thread
	for i := range threads {
		threads[i] = &ntconv.Thread{TID: uint64(i), Process: processes[i%2]}
	}
	names := [...]string{"OrderStart", "OrderStop", "PayStart", "PayStop", "Note", "Ship", "Shipped", "EventCounters"}
	tr.typ("Shop", "Ship").Opcode, tr.typ("Shop", "Shipped").Opcode = 1, 2
	now := int64(0)
	for ; len(b) >= 4; b = b[4:] {
		th := threads[int(b[1])%len(threads)]
		now += int64(b[2] >> 5)
		labels, inSpan := labelsOf(b)
		switch {
		case b[2]&0x1f == 31 && b[3] > 200:
			tr.remove(now, th)
			now++ // otherwise spans on a thread with the same ID could get equal IDs
		case b[2]&0x1f == 30:
			tr.contention(now, now, th, labels...)
			if inSpan {
				labeled[spanID{th.Process, idsOf(b[2]%3+1, b[3]%7+1)}] = true
			}
		case b[2]&0x1f == 29:
			tr.collection(now, now+int64(b[3]), th, uint32(len(tr.events)))
			now += int64(b[3])
		case b[2]&0x1f == 28:
			tr.runtime(now, th, [...]uint32{gcStart, gcEnd, suspendBegin, restartEnd, contentionStart, contentionStop, exceptionThrown}[b[3]%7], b[3]%3, b[:b[3]%4])
		default:
			name := names[b[0]&7]
			tr.add(now, th, name, int32(b[3]%4), labels...)
			if inSpan {
				labeled[spanID{th.Process, idsOf(b[2]%3+1, b[3]%7+1)}] = true
			} else if name == "OrderStart" || name == "PayStart" || name == "Ship" {
				starts++
			}
		}
	}
	return tr, starts, labeled
}

// labelsOf returns the labels of an event, and whether they contain a span.
func labelsOf(b []byte) (labels []ntconv.Label, inSpan bool) {
	activities := [...]ntconv.GUID{path, child, explicit}
	if n := int(b[0]>>3) % 8; n < len(activities) {
		labels = append(labels, activityLabel(activities[n]))
		if b[1] > 200 {
			labels = append(labels, relatedLabel(activities[b[1]%3]))
		}
	}
	if inSpan = b[0]>>6 == 1; inSpan {
		labels = append(labels, traceLabel(b[2]%3+1), spanLabel(b[3]%7+1))
	}
	return labels, inSpan
}

type spanID struct {
	process *ntconv.Process
	span.Context
}

// checkInvariants checks the properties of the spans of any events: every Start is one span, equal labels are one span,
// IDs are unique, a parent is a span of the same trace that began no later (except for a label span, which may have
// events before its Start), no span ends before it begins, and the tracker is empty at the end.
func checkInvariants(t testing.TB, b []byte, maxOpen int) {
	tr, starts, labeled := playBytes(t, b)
	o := &tracker.Options{Sources: all, Unfinished: tracker.OpenUnfinished, MaxOpen: maxOpen, MaxEvents: 4}
	spans, counts := track(t, ntconvtest.Poison(tr.source()), o)
	seen := make(map[spanID]*span.Span)
	pairs := 0
	for _, s := range spans {
		key := spanID{s.Process, s.Context}
		if s.TraceID.IsZero() || s.ID.IsZero() || seen[key] != nil {
			t.Fatalf("%s: no IDs, or twice:\n%v", describe(s), seen[key])
		}
		seen[key] = s
		if s.End != 0 && s.End < s.Start || (s.End == 0) != s.Unfinished || len(s.Events) > 4 {
			t.Fatalf("%s: ends before it begins, or has too many events", describe(s))
		}
		switch s.Evidence {
		case span.FromPair:
			pairs++
		case span.FromLabels:
			if !labeled[key] {
				t.Fatalf("%s: no event has its labels", describe(s))
			}
			delete(labeled, key)
		}
	}
	for _, s := range spans {
		if s.ParentID.IsZero() {
			continue
		}
		p := seen[spanID{s.Process, span.Context{TraceID: s.TraceID, ID: s.ParentID}}]
		if p == nil || p == s || p.Start > s.Start && s.Name != "GC pause" && p.Evidence != span.FromLabels {
			t.Fatalf("%s\nhas no parent, or one that began later", describe(s))
		}
	}
	if pairs != starts || len(labeled) != 0 || counts.Spans != int64(len(spans)) {
		t.Fatalf("%d spans of %d Start events, no spans of the labels %v, counts %+v of %d spans", pairs, starts, labeled, counts, len(spans))
	}
	if maxOpen == 0 && counts.Evicted != 0 {
		t.Fatalf("%d spans were evicted", counts.Evicted)
	}
	again, _ := track(t, tr.source(), o)
	if describeAll(again) != describeAll(spans) {
		t.Fatal("another run makes other spans")
	}
}

func TestLaws(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		b := make([]byte, r.IntN(2000))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		checkInvariants(t, b, []int{0, 1, 2, 5}[seed%4])
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzTracker(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 0, 255, 0}, byte(0))
	f.Add(bytes.Repeat([]byte{64, 0, 32, 1, 66, 1, 64, 2, 67, 1, 30, 2, 4, 200, 28, 3}, 8), byte(3))
	f.Fuzz(func(t *testing.T, b []byte, maxOpen byte) {
		checkInvariants(t, b[:min(len(b), 1<<12)], int(maxOpen%16))
	})
}

// The invariants hold for arbitrary payloads and labels.
func TestGeneratedTraces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := eventgen.Traces().Draw(rt, "trace")
		o := &tracker.Options{Sources: all, Unfinished: tracker.CloseUnfinished, MaxOpen: 3}
		first, _ := track(t, tr.Source(), o)
		second, _ := track(t, ntconvtest.Poison(tr.Source()), o)
		if describeAll(first) != describeAll(second) {
			rt.Fatal("poison changes spans")
		}
	})
}

// Memory is proportional to the open spans and live threads, not to ended spans and removed threads.
func TestMemoryIsBounded(t *testing.T) {
	build := newTrace(t)
	start, stop, note := build.typ("Shop", "OrderStart"), build.typ("Shop", "OrderStop"), build.typ("Shop", "Note")
	tr := tracker.New(build.info, func(*span.Span) {}, &tracker.Options{MaxOpen: 1000})
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var before uint64
	payload := numbers(int32(1))
	for i := range int64(100_000) {
		if i == 30_000 {
			before = heap()
		}
		th := &ntconv.Thread{TID: uint64(i), Process: build.process}
		e := ntconv.Event{Type: start, Thread: th, Capture: th, Time: ntconv.Ticks(i), Payload: payload}
		tr.Add(&e)
		if i%2 == 0 { // every second span never ends
			e.Type = stop
			tr.Add(&e)
		}
		id := spanLabel(0)
		for k := range 8 {
			id.ID[k] = byte(i >> (8 * k))
		}
		e.Type, e.Labels = note, ntconv.NewLabels([]ntconv.Label{traceLabel(1), id})
		tr.Add(&e)
		tr.Add(&ntconv.Event{Kind: ntconv.KindMark, Mark: &ntconv.Mark{Kind: ntconv.MarkThreadsRemoved, Threads: []ntconv.ThreadSeq{{Thread: th}}}})
		if tr.Open() > 1000 || tr.Threads() > 1 {
			t.Fatalf("%d spans are open, %d threads are known", tr.Open(), tr.Threads())
		}
	}
	if after := heap(); after > before+1<<20 {
		t.Errorf("the heap grows from %d to %d bytes", before, after)
	}
	runtime.KeepAlive(tr)
	if c := tr.Counts(); c.Evicted < 120_000 {
		t.Errorf("%d spans were evicted, want all that did not end", c.Evicted)
	}
}

// An irrelevant event causes no allocation, and neither does an event of a pair in the steady state.
func TestAllocations(t *testing.T) {
	build := newTrace(t)
	th := build.thread(1)
	sample := &ntconv.Type{Provider: clr.SampleProfiler, ID: 0}
	events := []*ntconv.Event{build.addType(1, th, sample, 0), build.addType(1, th, sample, 0, activityLabel(ntconv.GUID{1}))}
	pair := []*ntconv.Event{
		build.add(1, th, "OrderStart", 1, activityLabel(ntconv.GUID{2})), build.add(2, th, "Note", 1, activityLabel(ntconv.GUID{2})),
		build.add(3, th, "OrderStop", 1, activityLabel(ntconv.GUID{2})),
	}
	tr := tracker.New(build.info, func(*span.Span) {}, nil)
	for name, list := range map[string][]*ntconv.Event{"samples": events, "pairs": pair} {
		if n := testing.AllocsPerRun(100, func() {
			for _, e := range list {
				tr.Add(e)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Types with very many fields, lists with very many elements and deep objects do not take more than linear time.
func TestWidePayloads(t *testing.T) {
	deep := ntconv.FieldType{Code: ntconv.TypeInt8}
	for range 30 {
		deep = ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{{Name: "in", Type: deep}}}
	}
	tests := []struct {
		name    string
		fields  []ntconv.Field
		payload []byte
		kept    int
		dropped uint32
	}{
		{"a list", []ntconv.Field{{Name: "list", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeInt8}}}}, numbers(uint16(1000), make([]byte, 1000)), 1, 0},
		{"a long list", []ntconv.Field{{Name: "list", Type: ntconv.FieldType{Code: ntconv.TypeArray, Elem: &ntconv.FieldType{Code: ntconv.TypeInt8}}}}, numbers(uint16(60000), make([]byte, 60000)), 0, 1},
		{"a deep object", []ntconv.Field{{Name: "deep", Type: deep}}, []byte{1}, 0, 1},
		{"an object without a name", []ntconv.Field{{Type: ntconv.FieldType{Code: ntconv.TypeObject, Fields: []ntconv.Field{{Name: "a", Type: ntconv.FieldType{Code: ntconv.TypeInt8}}, {Name: "b", Type: ntconv.FieldType{Code: ntconv.TypeInt8}}}}}}, []byte{1, 2}, 2, 0},
		{"a short payload", []ntconv.Field{{Name: "n", Type: ntconv.FieldType{Code: ntconv.TypeInt32}}, {Name: "s", Type: ntconv.FieldType{Code: ntconv.TypeInt64}}}, []byte{1, 0, 0, 0, 5}, 1, 1},
	}
	many := tests[0]
	many.name, many.fields, many.payload, many.kept, many.dropped = "many fields", nil, make([]byte, 4096), 256, 4096-256
	for range 4096 {
		many.fields = append(many.fields, ntconv.Field{Name: "same", Type: ntconv.FieldType{Code: ntconv.TypeInt8}})
	}
	for _, test := range append(tests, many) {
		build := newTrace(t)
		start := &ntconv.Type{Provider: "Shop", Name: "OrderStart", ID: 1, Fields: test.fields}
		stop := &ntconv.Type{Provider: "Shop", Name: "OrderStop", ID: 2}
		for i := range int64(100) {
			build.addType(i, build.thread(uint64(i)), start, 0).Payload = test.payload
		}
		for i := range int64(100) {
			build.addType(i, build.events[i].Thread, stop, 0)
		}
		spans, _ := track(t, build.source(), nil)
		s := spans[0]
		if n := len(s.Attributes) - 1; n != test.kept || s.DroppedAttributes != test.dropped {
			t.Errorf("%s: %d attributes, %d dropped, want %d and %d", test.name, n, s.DroppedAttributes, test.kept, test.dropped)
		}
	}
}
