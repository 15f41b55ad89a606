package tracker_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
)

// IDs of runtime events.
const (
	gcStart, gcEnd                  = 1, 2
	suspendBegin, restartEnd        = 9, 3
	contentionStart, contentionStop = 81, 91
	exceptionThrown                 = 80
	enqueue, dequeue                = 61, 62
	backgroundStart, backgroundStop = 283, 284
	jittingStarted, methodLoad      = 145, 143
)

// runtime appends an event of the runtime, whose metadata has no fields.
func (tr *trace) runtime(ticks int64, th *ntconv.Thread, id uint32, version uint8, payload []byte, labels ...ntconv.Label) {
	typ := tr.types[[2]string{clr.Runtime, string(rune(id))}]
	if typ == nil {
		typ = &ntconv.Type{Provider: clr.Runtime, ID: id, Version: version, Level: 4}
		tr.types[[2]string{clr.Runtime, string(rune(id))}] = typ
	}
	tr.addType(ticks, th, typ, 0, labels...).Payload = payload
}

func numbers(values ...any) (out []byte) {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			for _, u := range append(utf16.Encode([]rune(v)), 0) {
				out = binary.LittleEndian.AppendUint16(out, u)
			}
		default:
			var err error
			if out, err = binary.Append(out, binary.LittleEndian, v); err != nil {
				panic(err)
			}
		}
	}
	return out
}

// contention appends a wait for a lock.
func (tr *trace) contention(from, to int64, th *ntconv.Thread, labels ...ntconv.Label) {
	tr.runtime(from, th, contentionStart, 2, numbers(uint8(0), uint16(1), uint64(0xbeef), uint64(0xcafe), uint64(7)), labels...)
	tr.runtime(to, th, contentionStop, 1, numbers(uint8(0), uint16(1), float64(to-from)), labels...)
}

func (tr *trace) collection(from, to int64, th *ntconv.Thread, number uint32) {
	tr.runtime(from, th, suspendBegin, 1, numbers(uint32(1), number-1, uint16(1)))
	tr.runtime(from+1, th, gcStart, 2, numbers(number, uint32(2), uint32(1), uint32(0), uint16(1), uint64(0)))
	tr.runtime(to-1, th, gcEnd, 1, numbers(number, uint32(2), uint16(1)))
	tr.runtime(to, th, restartEnd, 1, numbers(uint16(1)))
}

// named returns the span with a name, which must be unique.
func named(t testing.TB, spans []*span.Span, name string) *span.Span {
	t.Helper()
	var found *span.Span
	for _, s := range spans {
		if s.Name == name {
			if found != nil {
				t.Fatalf("two spans have the name %s", name)
			}
			found = s
		}
	}
	if found == nil {
		t.Fatalf("no span has the name %s:\n%s", name, describeAll(spans))
	}
	return found
}

func activityID(text string) ntconv.GUID {
	id, err := ntconv.ParseGUID(text)
	if err != nil {
		panic(err)
	}
	return id
}

func TestActiveOption(t *testing.T) {
	tr := newTrace(t)
	a := tr.thread(1)
	tr.add(1, a, "OrderStart", 1)
	tr.contention(2, 3, a)
	tr.collection(4, 8, a, 1)
	tr.add(9, a, "OrderStop", 1)
	want := idsOf(3, 4)
	spans, _ := tr.spans(&tracker.Options{Sources: all, Active: func(e *ntconv.Event) (span.Context, bool) {
		return want, e.Time >= 2
	}})
	if s := named(t, spans, "Lock contention"); s.TraceID != want.TraceID || s.ParentID != want.ID {
		t.Errorf("%s is not a child of the active span", describe(s))
	}
	if s := named(t, spans, "GC"); len(s.Links) != 1 || s.Links[0].Context != want || s.TraceID == want.TraceID || !s.ParentID.IsZero() {
		t.Errorf("%s has no link to the active span", describe(s))
	}
}

// A foreground collection interrupts a background collection: each pause belongs to the collection that began last.
func TestBackgroundGC(t *testing.T) {
	tr := newTrace(t)
	a, gc := tr.thread(1), tr.thread(2)
	number := func(n uint32) []byte { return numbers(n, uint32(2), uint32(1), uint32(1), uint16(1), uint64(0)) }
	tr.runtime(10, gc, suspendBegin, 1, numbers(uint32(1), uint32(0), uint16(1)))
	tr.runtime(11, gc, gcStart, 2, number(1))
	tr.runtime(15, gc, restartEnd, 1, numbers(uint16(1)))
	tr.collection(20, 30, a, 2)
	tr.runtime(40, gc, suspendBegin, 1, numbers(uint32(6), uint32(0), uint16(1)))
	tr.runtime(43, gc, restartEnd, 1, numbers(uint16(1)))
	tr.runtime(50, gc, gcEnd, 1, numbers(uint32(1), uint32(2), uint16(1)))
	tr.runtime(60, a, suspendBegin, 1, numbers(uint32(5), uint32(0), uint16(1))) // for a debugger
	tr.runtime(69, a, restartEnd, 1, numbers(uint16(1)))
	spans, _ := tr.spans(&tracker.Options{Sources: operation.GC})
	var got []string
	gcs := make(map[span.ID]int64)
	for _, s := range spans {
		number, ok := attribute(s, "dotnet.gc.number")
		if ok {
			gcs[s.ID] = number.Int()
			pause, _ := attribute(s, "dotnet.gc.pause_ns")
			got = append(got, s.Name, describeValue(number), describeValue(pause))
		}
	}
	if want := []string{"GC", "2", "10", "GC", "1", "8"}; !slices.Equal(got, want) {
		t.Errorf("collections are %v, want %v", got, want)
	}
	for _, s := range spans {
		want := int64(0)
		switch int64(s.Start - at(0)) {
		case 10, 40:
			want = 1
		case 20:
			want = 2
		default:
			if s.Name != "GC" {
				t.Errorf("span %s", describe(s))
			}
			continue
		}
		if s.Name != "GC pause" || gcs[s.ParentID] != want {
			t.Errorf("%s\nbelongs to collection %d, want %d", describe(s), gcs[s.ParentID], want)
		}
	}
}

// An exception in an activity is an event of its span, whether or not exceptions are also spans.
func TestExceptionEvent(t *testing.T) {
	for _, sources := range []operation.Sources{operation.Default, all} {
		tr := newTrace(t)
		a := tr.thread(1)
		tr.add(1, a, "OrderStart", 1)
		tr.runtime(2, a, exceptionThrown, 1, numbers("Shop.SoldOut", "no carrots", uint64(0), uint32(0x80131500), uint16(16), uint16(1)))
		tr.add(3, a, "OrderStop", 1)
		spans, _ := tr.spans(&tracker.Options{Sources: sources})
		s := named(t, spans, "Order")
		if len(s.Events) != 1 || s.Events[0].Name != "exception" || describeAttributes(s.Events[0].Attributes) != `exception.type="Shop.SoldOut" exception.message="no carrots"` {
			t.Errorf("span is %s", describe(s))
		}
	}
}

func TestOmitExporter(t *testing.T) {
	tr := newTrace(t)
	request := &ntconv.Type{Provider: "System.Net.Http", Name: "RequestStart", ID: 1, Opcode: 1, Fields: []ntconv.Field{{Name: "pathAndQuery", Type: ntconv.FieldType{Code: ntconv.TypeUTF16String}}}}
	response := &ntconv.Type{Provider: "System.Net.Http", Name: "RequestStop", ID: 2, Opcode: 2}
	for i, path := range []string{"/v1/traces?*", "/orders/v1/traces/1", "/opentelemetry.proto.collector.trace.v1.TraceService/Export"} {
		th, start := tr.thread(uint64(i+1)), int64(10*i)
		tr.addType(start, th, request, 0)
		tr.events[len(tr.events)-1].Payload = numbers(path)
		tr.add(start+1, th, "ConnectStart", int32(i))
		tr.add(start+2, th, "ConnectStop", int32(i))
		tr.addType(start+3, th, response, 0)
	}
	spans, counts := tr.spans(&tracker.Options{OmitExporter: true})
	if len(spans) != 2 || counts.Exporter != 4 || counts.Spans != 2 {
		t.Errorf("%d spans, counts are %+v\n%s", len(spans), counts, describeAll(spans))
	}
	if spans, counts = tr.spans(nil); len(spans) != 6 || counts.Exporter != 0 {
		t.Errorf("%d spans, counts are %+v, want all", len(spans), counts)
	}
}

// Events with the IDs of an Activity as labels become events of its span and create no span: before its Start, during
// it, and after its Stop.
func TestActivityWithLabels(t *testing.T) {
	for _, name := range []string{"own/spans-both", "own/spans-stop"} {
		t.Run(name, func(t *testing.T) {
			f := corpus.SharedTrace(t, name)
			recorded, err := ntconvtest.Record(open(t, f, reader.ByTime))
			if err != nil {
				t.Fatal(err)
			}
			info := open(t, f, reader.ByTime).Info()
			spans, _ := track(t, ntconvtest.NewSource(info, recorded...), nil)
			events, labeled := addNotes(t, recorded, spans)
			again, counts := track(t, ntconvtest.NewSource(info, events...), nil)
			if len(again) != len(spans) || len(labeled) < 10 {
				t.Fatalf("%d spans with labels on %d, %d without", len(again), len(labeled), len(spans))
			}
			late := 0
			for i, s := range again {
				want := spangen.Clone(spans[i])
				if labeled[s.Context] {
					first := 0
					for first < len(s.Events) && s.Events[first].Name != "Shop/Note" {
						first++
					}
					if first == len(s.Events) {
						t.Fatalf("%s has no note", describe(s))
					}
					s.Events = slices.Delete(s.Events, first, first+1)
					late++
				}
				if describe(s) != describe(want) {
					t.Errorf("labels change\n%s\nto\n%s", describe(want), describe(s))
				}
			}
			if counts.Late != int64(late) {
				t.Errorf("%d late events, want %d", counts.Late, late)
			}
		})
	}
}

// addNotes returns the events with notes added before the first and before the last one. The notes have the IDs of the
// Activities as labels.
func addNotes(t *testing.T, recorded []*ntconv.Event, spans []*span.Span) (events []*ntconv.Event, labeled map[span.Context]bool) {
	note := newTrace(t).typ("Shop", "Note")
	labeled = make(map[span.Context]bool)
	for i, e := range recorded {
		for _, s := range spans {
			if s.MadeID || s.Evidence != span.FromActivity || s.EndThread == nil || i != 0 && i != len(recorded)-1 {
				continue
			}
			id := [16]byte{}
			copy(id[:], s.ID[:])
			events = append(events, &ntconv.Event{
				Type: note, Payload: numbers(int32(i)), Time: e.Time, Thread: s.EndThread, Capture: s.EndThread, Offset: -1, CPU: ntconv.CPUUnknown,
				Labels: ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelTraceID, ID: s.TraceID}, {Kind: ntconv.LabelSpanID, ID: id}}),
			})
			labeled[s.Context] = true
		}
		events = append(events, e)
	}
	return events, labeled
}

// Time in a queue is a child of the span that queued the work, regardless of the thread that executes it. Compilations
// are children of the background compilation.
func TestQueueAndCompilations(t *testing.T) {
	tr := newTrace(t)
	a, b := tr.thread(1), tr.thread(2)
	tr.add(1, a, "OrderStart", 1)
	tr.runtime(2, a, enqueue, 0, numbers(uint64(77), uint16(1)))
	tr.runtime(3, b, enqueue, 0, numbers(uint64(78), uint16(1)))
	tr.add(4, a, "OrderStop", 1)
	tr.runtime(5, b, dequeue, 0, numbers(uint64(77), uint16(1)))
	tr.runtime(6, b, backgroundStart, 0, numbers(uint16(1), uint32(1)))
	tr.runtime(7, b, jittingStarted, 1, numbers(uint64(9), uint64(8), uint32(7), uint32(6), "Shop.Cart", "Total", "instance int32  ()", uint16(1)))
	tr.runtime(8, b, methodLoad, 1, numbers(uint64(9), uint64(8), uint64(0x1000), uint32(55), uint32(7), uint32(1), "Shop.Cart", "Total", "instance int32  ()", uint16(1)))
	tr.add(9, b, "PayStart", 1)
	tr.contention(10, 11, b)
	tr.add(12, b, "PayStop", 1)
	tr.runtime(13, b, backgroundStop, 0, numbers(uint16(1), uint32(0), uint32(1)))
	spans, counts := tr.spans(&tracker.Options{Sources: all})
	queue := named(t, spans, "Thread pool queue")
	checkParent(t, queue, named(t, spans, "Order"))
	if describeAttributes(queue.Attributes) != "dotnet.thread_pool.work_id=77 ntconv.synthetic=true" || queue.Start != at(2) || queue.End != at(5) {
		t.Errorf("span %s", describe(queue))
	}
	jit := named(t, spans, "JIT")
	checkParent(t, jit, named(t, spans, "Background JIT"))
	if want := `dotnet.jit.il_size=6 code.function.name="Shop.Cart.Total()" dotnet.jit.code_size=55 ntconv.synthetic=true`; describeAttributes(jit.Attributes) != want {
		t.Errorf("attributes are %s, want %s", describeAttributes(jit.Attributes), want)
	}
	checkParent(t, named(t, spans, "Lock contention"), named(t, spans, "Pay")) // both began in the background compilation
	if counts.Unfinished != 1 {
		t.Errorf("counts are %+v, want work that was not done unfinished", counts)
	}
}

// A span without an end lasts until the end of the recording: neither until the rundown, nor until a replica.
func TestUnfinishedPairs(t *testing.T) {
	tr := newTrace(t)
	a := tr.thread(1)
	tr.add(3, a, "PayStart", 1)
	tr.add(9, a, "Note", 1)
	tr.add(1, tr.thread(2), "OrderStart", 1) // events of threads are not in order
	tr.addType(12, a, tr.typ("Microsoft-Windows-DotNETRuntimeRundown", "MethodDCEndVerbose"), 1)
	tr.add(15, a, "Note", 1, ntconv.Label{Kind: ntconv.LabelString, Key: recording.LabelReplica, Str: recording.After})
	for unfinished, want := range map[tracker.Unfinished]string{
		tracker.DropUnfinished: "", tracker.OpenUnfinished: "Order id=1 ntconv.synthetic=true,Pay id=1 ntconv.synthetic=true,",
		tracker.CloseUnfinished: "Order id=1 ntconv.unfinished=true ntconv.synthetic=true,Pay id=1 ntconv.unfinished=true ntconv.synthetic=true,",
	} {
		spans, counts := tr.spans(&tracker.Options{Unfinished: unfinished})
		got := ""
		for _, s := range spans {
			got += s.Name + " " + describeAttributes(s.Attributes) + ","
			if end := s.End; !s.Unfinished || unfinished == tracker.OpenUnfinished && end != 0 || unfinished == tracker.CloseUnfinished && end != at(9) {
				t.Errorf("span %s", describe(s))
			}
		}
		if got != want || counts.Unfinished != 2 {
			t.Errorf("spans are %s, want %s; counts are %+v", got, want, counts)
		}
	}
}

// A collection ends although the end of its pause is missing.
func TestPauseWithoutEnd(t *testing.T) {
	tr := newTrace(t)
	a := tr.thread(1)
	tr.collection(1, 5, a, 1)
	tr.collection(6, 10, a, 2)
	tr.events = slices.DeleteFunc(tr.events, func(e *ntconv.Event) bool { return e.Type.ID == restartEnd })
	spans, counts := tr.spans(&tracker.Options{Sources: operation.GC})
	if len(spans) != 2 || spans[0].Name != "GC" || spans[0].End != at(4) || spans[1].End != at(9) || spans[1].Unfinished || counts.Unfinished != 2 {
		t.Errorf("counts are %+v, spans are\n%s", counts, describeAll(spans))
	}
}

// Selecting intervals of the runtime does not change the IDs of other spans.
func TestIDsDoNotDependOnSources(t *testing.T) {
	tr := newTrace(t)
	a := tr.thread(1)
	tr.contention(1, 1, a)
	tr.add(1, a, "OrderStart", 1)
	tr.add(1, a, "OrderStart", 2)
	tr.add(2, a, "OrderStop", 2)
	tr.add(2, a, "OrderStop", 1)
	few, _ := tr.spans(nil)
	many, _ := tr.spans(&tracker.Options{Sources: all})
	if len(few) != 2 || len(many) != 3 || describeAll(few) != describeAll(many[1:]) || few[0].ID == few[1].ID {
		t.Errorf("spans are\n%s\nand with those of the runtime\n%s", describeAll(few), describeAll(many))
	}
}

func TestOmitExporterOfActivities(t *testing.T) {
	f := corpus.SharedTrace(t, "otel/otel-web-stop")
	spans, counts := track(t, open(t, f, reader.ByTime), &tracker.Options{OmitExporter: true})
	for _, s := range spans {
		if s.Name == "POST" {
			t.Errorf("span %s", describe(s))
		}
	}
	if counts.Exporter != 4 || len(spans) != 19 { // what the program's SDK sent
		t.Errorf("%d spans, %d omitted, want 19 and 4", len(spans), counts.Exporter)
	}
}
