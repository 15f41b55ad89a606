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
