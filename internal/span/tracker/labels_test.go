package tracker_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// short formats a label span: IDs, parent, name, times and events.
func short(s *span.Span) string {
	out := fmt.Sprintf("%d/%d<%d %s %d..%d", s.TraceID[15], s.ID[7], s.ParentID[7], s.Name, int64(s.Start-at(0)), int64(s.End-at(0)))
	for _, e := range s.Events {
		out += fmt.Sprintf(" %s@%d", e.Name, int64(e.Time-at(0)))
	}
	return out
}

func shorts(spans []*span.Span) (out []string) {
	for _, s := range spans {
		out = append(out, short(s))
	}
	return out
}

var labelSpanTests = []struct {
	name  string
	build func(tr *trace, a, b *ntconv.Thread)
	want  []string
}{
	{
		"from the first to the last event, named after the most frequent one",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(10, a, "Note", 1, traceLabel(1), spanLabel(1))
			tr.add(20, b, "Query", 2, traceLabel(1), spanLabel(1))
			tr.add(30, a, "Query", 3, traceLabel(1), spanLabel(1))
			tr.add(40, a, "Other", 4)
		},
		[]string{"1/1<0 Shop/Query 10..30 Shop/Note@10 Shop/Query@20 Shop/Query@30"},
	},
	{
		"from Start to Stop, whose payloads are not events",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(10, a, "OrderStart", 1, traceLabel(1), spanLabel(1))
			tr.add(20, a, "Note", 2, traceLabel(1), spanLabel(1))
			tr.add(30, b, "OrderStop", 1, traceLabel(1), spanLabel(1))
		},
		[]string{"1/1<0 Order 10..30 Shop/Note@20"},
	},
	{
		"events before Start and after Stop",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(10, a, "Note", 1, traceLabel(1), spanLabel(1))
			tr.add(20, a, "OrderStart", 2, traceLabel(1), spanLabel(1))
			tr.add(30, a, "OrderStop", 1, traceLabel(1), spanLabel(1))
			tr.add(40, a, "Note", 1, traceLabel(1), spanLabel(1))
		},
		[]string{"1/1<0 Order 20..30 Shop/Note@10"},
	},
	{
		"opcodes in labels",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(10, a, "Order", 1, traceLabel(1), spanLabel(1), opcodeLabel(1))
			tr.add(20, a, "OrderStop", 2, traceLabel(1), spanLabel(1), opcodeLabel(9))
			tr.add(30, a, "Order", 3, traceLabel(1), spanLabel(1), opcodeLabel(2))
		},
		[]string{"1/1<0 Order 10..30 Shop/OrderStop@20"},
	},
	{
		"tasks inside a span do not end it",
		func(tr *trace, a, b *ntconv.Thread) {
			for i, name := range []string{"OrderStart", "PayStart", "PayStop", "OrderStart", "OrderStop", "Note", "OrderStop"} {
				tr.add(int64(i), a, name, 1, traceLabel(1), spanLabel(1))
			}
		},
		[]string{"1/1<0 Order 0..6 Shop/PayStart@1 Shop/PayStop@2 Shop/OrderStart@3 Shop/OrderStop@4 Shop/Note@5"},
	},
	{
		"a Stop whose Start was not recorded",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(10, a, "Note", 1, traceLabel(1), spanLabel(1))
			tr.add(20, a, "OrderStop", 2, traceLabel(1), spanLabel(1))
		},
		[]string{"1/1<0 Order 10..20 Shop/Note@10"},
	},
	{
		"parents by nesting on the thread, in the same trace",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(1, a, "OrderStart", 1, traceLabel(1), spanLabel(1))
			tr.add(2, a, "PayStart", 1, traceLabel(1), spanLabel(2))
			tr.add(3, a, "QueryStart", 1, traceLabel(1), spanLabel(3))
			tr.add(3, a, "OtherStart", 1, traceLabel(2), spanLabel(9)) // another trace
			tr.add(3, b, "OrderStart", 1, traceLabel(1), spanLabel(4)) // another thread
			tr.add(4, a, "QueryStop", 1, traceLabel(1), spanLabel(3))
			tr.add(5, a, "PayStop", 1, traceLabel(1), spanLabel(2))
			tr.add(6, a, "ShipStart", 1, traceLabel(1), spanLabel(5))
			tr.add(7, a, "ShipStop", 1, traceLabel(1), spanLabel(5))
			tr.add(8, a, "OrderStop", 1, traceLabel(1), spanLabel(1))
			tr.add(9, b, "OrderStop", 1, traceLabel(1), spanLabel(4))
			tr.add(9, a, "OtherStop", 1, traceLabel(2), spanLabel(9))
		},
		[]string{"1/3<2 Query 3..4", "1/2<1 Pay 2..5", "1/5<1 Ship 6..7", "1/1<0 Order 1..8", "1/4<0 Order 3..9", "2/9<0 Other 3..9"},
	},
	{
		"a span inside another is its child, a span after it is not",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(1, a, "Outer", 1, traceLabel(1), spanLabel(1))
			tr.add(2, a, "First", 1, traceLabel(1), spanLabel(2))
			tr.add(3, a, "First", 1, traceLabel(1), spanLabel(2))
			tr.add(4, a, "Second", 1, traceLabel(1), spanLabel(3))
			tr.add(5, a, "Outer", 1, traceLabel(1), spanLabel(1))
			tr.add(6, a, "Third", 1, traceLabel(1), spanLabel(4))
		},
		[]string{"1/1<0 Shop/Outer 1..5 Shop/Outer@1 Shop/Outer@5", "1/2<1 Shop/First 2..3 Shop/First@2 Shop/First@3", "1/3<1 Shop/Second 4..4 Shop/Second@4", "1/4<0 Shop/Third 6..6 Shop/Third@6"},
	},
	{
		"a span that begins at the time of the last event is inside",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(1, a, "Outer", 1, traceLabel(1), spanLabel(1))
			tr.add(2, a, "Outer", 1, traceLabel(1), spanLabel(1))
			tr.add(2, a, "Inner", 1, traceLabel(1), spanLabel(2))
		},
		[]string{"1/1<0 Shop/Outer 1..2 Shop/Outer@1 Shop/Outer@2", "1/2<1 Shop/Inner 2..2 Shop/Inner@2"},
	},
	{
		"a trace ID alone makes no span",
		func(tr *trace, a, b *ntconv.Thread) { tr.add(1, a, "Note", 1, traceLabel(1)) },
		nil,
	},
	{
		"events after the Stop do not make the span again",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(1, a, "OrderStart", 1, traceLabel(1), spanLabel(1))
			tr.add(2, a, "OrderStop", 1, traceLabel(1), spanLabel(1))
			tr.add(3, b, "Note", 1, traceLabel(1), spanLabel(1))
		},
		[]string{"1/1<0 Order 1..2"},
	},
	{
		"a span that moves to another thread is the parent there",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(1, a, "OrderStart", 1, traceLabel(1), spanLabel(1))
			tr.add(2, b, "Note", 1, traceLabel(1), spanLabel(1))
			tr.add(3, b, "PayStart", 1, traceLabel(1), spanLabel(2))
			tr.add(4, b, "PayStop", 1, traceLabel(1), spanLabel(2))
			tr.add(5, b, "OrderStop", 1, traceLabel(1), spanLabel(1))
		},
		[]string{"1/2<1 Pay 3..4", "1/1<0 Order 1..5 Shop/Note@2"},
	},
	{
		"a parent by its activity ID, on another thread",
		func(tr *trace, a, b *ntconv.Thread) {
			order, other := ntconv.GUID{1, 2, 3}, ntconv.GUID{4}
			tr.add(1, a, "OrderStart", 1, traceLabel(1), spanLabel(1), activityLabel(order))
			tr.add(2, b, "PayStart", 1, traceLabel(1), spanLabel(2), activityLabel(other), relatedLabel(order))
			tr.add(3, b, "QueryStart", 1, traceLabel(2), spanLabel(3), relatedLabel(order)) // another trace
			tr.add(4, b, "QueryStop", 1, traceLabel(2), spanLabel(3))
			tr.add(4, b, "PayStop", 1, traceLabel(1), spanLabel(2))
			tr.add(5, b, "OrderStop", 1, traceLabel(1), spanLabel(1))
		},
		[]string{"2/3<0 Query 3..4", "1/2<1 Pay 2..4", "1/1<0 Order 1..5"},
	},
	{
		"it ends before it begins",
		func(tr *trace, a, b *ntconv.Thread) {
			tr.add(5, a, "OrderStart", 1, traceLabel(1), spanLabel(1))
			tr.add(2, b, "OrderStop", 1, traceLabel(1), spanLabel(1))
		},
		[]string{"1/1<0 Order 5..5"},
	},
}

func TestLabelSpans(t *testing.T) {
	for _, test := range labelSpanTests {
		t.Run(test.name, func(t *testing.T) {
			tr := newTrace(t)
			test.build(tr, tr.thread(1), tr.thread(2))
			spans, counts := tr.spans(nil)
			if got := shorts(spans); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			if counts.Spans != int64(len(spans)) || counts.MadeIDs != 0 || counts.Unfinished != 0 {
				t.Errorf("counts are %+v", counts)
			}
			for _, s := range spans {
				if s.Evidence != span.FromLabels || s.Process == nil || s.Process.PID != 42 || s.Thread == nil || s.EndThread == nil {
					t.Errorf("%s: evidence %d, process %v, threads %v and %v", short(s), s.Evidence, s.Process, s.Thread, s.EndThread)
				}
			}
		})
	}
}

func TestLabelSpanAttributes(t *testing.T) {
	tr := newTrace(t)
	a := tr.thread(1)
	tr.add(1, a, "OrderStart", 7, traceLabel(1), spanLabel(1))
	tr.add(2, a, "OrderStop", 8, traceLabel(1), spanLabel(1))
	tr.add(3, a, "OrderStop", 9, traceLabel(1), spanLabel(2))
	spans, _ := tr.spans(nil)
	for i, want := range []string{"id=7 stop.id=8", "id=9"} {
		if got := describeAttributes(spans[i].Attributes); got != want {
			t.Errorf("attributes are %s, want %s", got, want)
		}
	}
}

// Two processes with the same ID on different hosts may have spans with equal IDs, as after a fork or a replayed
// request.
func TestLabelSpansOfProcesses(t *testing.T) {
	tr := newTrace(t)
	var threads []*ntconv.Thread
	for _, host := range []string{"alpha", "beta"} {
		threads = append(threads, &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 42, Host: host, PointerSize: 8}})
	}
	for i := range int64(4) {
		tr.add(i, threads[i%2], "Note", int32(i), traceLabel(1), spanLabel(1))
	}
	spans, _ := track(t, tr.source(), nil)
	if len(spans) != 2 || spans[0].Process == spans[1].Process || len(spans[0].Events) != 2 || len(spans[1].Events) != 2 {
		t.Errorf("spans are %s", describeAll(spans))
	}
}

func TestSpanIDByteOrder(t *testing.T) {
	for _, reversed := range []bool{false, true} {
		tr := newTrace(t)
		tr.add(1, tr.thread(1), "Note", 1, traceLabel(1), ntconv.Label{Kind: ntconv.LabelSpanID, ID: [16]byte{1, 2, 3, 4, 5, 6, 7, 8}})
		spans, _ := tr.spans(&tracker.Options{SpanIDReversed: reversed})
		want := span.ID{1, 2, 3, 4, 5, 6, 7, 8}
		if reversed {
			binary.BigEndian.PutUint64(want[:], binary.LittleEndian.Uint64(want[:]))
		}
		if len(spans) != 1 || spans[0].ID != want {
			t.Errorf("reversed %t: spans are %s, want the ID %v", reversed, describeAll(spans), want)
		}
	}
}

func TestSpanIDWithoutTraceID(t *testing.T) {
	tr := newTrace(t)
	a := tr.thread(1)
	tr.add(1, a, "OrderStart", 1, spanLabel(1))
	tr.add(2, a, "PayStart", 1, spanLabel(2))
	tr.add(3, a, "PayStop", 1, spanLabel(2))
	tr.add(4, a, "OrderStop", 1, spanLabel(1))
	spans, counts := tr.spans(nil)
	if len(spans) != 2 || spans[0].TraceID.IsZero() || spans[0].TraceID != spans[1].TraceID || spans[0].ParentID != spans[1].ID {
		t.Fatalf("spans are %s", describeAll(spans))
	}
	if _, ok := attribute(spans[0], "ntconv.synthetic"); !ok || !spans[0].MadeID || counts.MadeIDs != 2 {
		t.Errorf("span is %s, counts are %+v, want a made ID", describe(spans[0]), counts)
	}
}

func TestMaxEvents(t *testing.T) {
	for _, limit := range []int{0, 3} {
		tr := newTrace(t)
		a := tr.thread(1)
		for i := range int64(200) {
			tr.add(i, a, "Note", int32(i), traceLabel(1), spanLabel(1))
		}
		spans, _ := tr.spans(&tracker.Options{MaxEvents: limit})
		want := limit
		if want == 0 {
			want = 128
		}
		if s := spans[0]; len(s.Events) != want || int(s.DroppedEvents) != 200-want || s.End != at(199) {
			t.Errorf("limit %d: %d events, %d dropped, end %d", limit, len(s.Events), s.DroppedEvents, int64(s.End-at(0)))
		}
	}
}

// Samples with the labels of a span extend it but are not its events.
func TestSamplesAreNoEvents(t *testing.T) {
	tr := newTrace(t)
	a := tr.thread(1)
	sample := &ntconv.Type{Provider: "Universal.Events", Name: "cpu", ID: 500, Fields: []ntconv.Field{{Name: "Value", Type: ntconv.FieldType{Code: ntconv.TypeInt32}}}}
	for i := range int64(5) {
		tr.addType(i, a, sample, 1, traceLabel(1), spanLabel(1))
	}
	tr.add(3, a, "Note", 1, traceLabel(1), spanLabel(1))
	tr.addType(9, a, sample, 1, traceLabel(1), spanLabel(2))
	spans, _ := tr.spans(nil)
	want := []string{"1/1<0 Shop/Note 0..4 Shop/Note@3", "1/2<0 Universal.Events/cpu 9..9"}
	if got := shorts(spans); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestEviction(t *testing.T) {
	tr := newTrace(t)
	a := tr.thread(1)
	tr.add(1, a, "OrderStart", 1, traceLabel(1), spanLabel(1))
	tr.add(2, a, "Note", 2, traceLabel(2), spanLabel(2))
	tr.add(3, a, "Note", 3, traceLabel(1), spanLabel(1)) // so that span 2 is the idle one
	tr.add(4, a, "Note", 4, traceLabel(3), spanLabel(3)) // evicts 2
	tr.add(5, a, "Note", 5, traceLabel(4), spanLabel(4)) // evicts 1, which has begun and not ended
	tr.add(6, a, "Note", 6, traceLabel(2), spanLabel(2)) // late
	for _, unfinished := range []tracker.Unfinished{tracker.DropUnfinished, tracker.OpenUnfinished, tracker.CloseUnfinished} {
		var report ntconv.Report
		spans, counts := track(t, tr.source(), &tracker.Options{MaxOpen: 2, Unfinished: unfinished, Report: &report})
		want := []string{"2/2<0 Shop/Note 2..2 Shop/Note@2"}
		switch unfinished {
		case tracker.OpenUnfinished:
			want = append(want, fmt.Sprintf("1/1<0 Order 1..%d Shop/Note@3", -wall.UnixNano()))
		case tracker.CloseUnfinished:
			want = append(want, "1/1<0 Order 1..5 Shop/Note@3")
		}
		want = append(want, "3/3<0 Shop/Note 4..4 Shop/Note@4", "4/4<0 Shop/Note 5..5 Shop/Note@5")
		if got := shorts(spans); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if counts.Evicted != 2 || counts.Unfinished != 1 || counts.Late != 1 || report.Count(ntconv.CodeNotCarried) != 2 {
			t.Errorf("counts are %+v, %d reported", counts, report.Count(ntconv.CodeNotCarried))
		}
	}
}

func TestClampedEnd(t *testing.T) {
	tr := newTrace(t)
	tr.add(5, tr.thread(1), "OrderStart", 1, traceLabel(1), spanLabel(1))
	tr.add(2, tr.thread(2), "OrderStop", 1, traceLabel(1), spanLabel(1))
	spans, counts := tr.spans(nil)
	if v, ok := attribute(spans[0], "ntconv.end_time_unix_nano"); !ok || v.Int() != int64(at(2)) || spans[0].End != spans[0].Start || counts.Clamped != 1 {
		t.Errorf("span is %s, counts are %+v", describe(spans[0]), counts)
	}
}

// TestOverEpoch checks that a span from 1969 to 1970 keeps its end: times before 1970 are large unsigned numbers.
func TestOverEpoch(t *testing.T) {
	tr := newTrace(t)
	tr.info.Clock.Wall = time.Unix(0, -500)
	th := tr.thread(1)
	tr.add(100, th, "OrderStart", 1)
	tr.add(700, th, "OrderStop", 1)
	spans, counts := track(t, tr.source(), nil)
	if len(spans) != 1 || int64(spans[0].Start) != -400 || spans[0].End != 200 || counts.Clamped != 0 {
		t.Errorf("spans %v, counts %+v", spans, counts)
	}
}
