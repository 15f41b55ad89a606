package active_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/internal/span/tracker"
)

// Context returns only spans in the index. If a label refers to another span, it does not return the span that is
// active on the thread instead.
func TestContextIsOfTheIndex(t *testing.T) {
	r := record(t)
	one := thread(process(1), 10)
	r.stop(one, activity{trace: 1, id: 1, name: "outer", from: 10, to: 90})
	x := r.index(nil)
	e := copyOf(r, one, 50)
	if c, ok := x.Context(e); !ok || c.ID != spanID(1) || c.TraceID != traceID(1) {
		t.Errorf("without labels: %v %v", c, ok)
	}
	for n, want := range map[uint64]bool{1: true, 2: false} {
		e.Labels = ntconv.NewLabels([]ntconv.Label{traceLabel(1), spanLabel(n)})
		if c, ok := x.Context(e); ok != want || ok != (c.ID == spanID(n)) {
			t.Errorf("label %d: %v %v", n, c, ok)
		}
		if f, ok := x.Find(e, active.All); !ok || f.ID != spanID(n) {
			t.Errorf("label %d: %+v %v", n, f, ok)
		}
	}
}

// The tracker's options select the spans. Spans of Context sources are in the index if the trace contains their IDs.
// Intervals of the runtime never are, regardless of the sources.
func TestWhichSpans(t *testing.T) {
	r := record(t)
	one := thread(process(1), 10)
	r.start(one, activity{trace: 1, id: 1, name: "ended", from: 10, to: 90})
	r.work(one, 20, 30)
	r.stop(one, activity{trace: 1, id: 1, name: "ended", from: 10, to: 90})
	r.stop(one, activity{trace: 2, id: 2, name: "not recorded", from: 100, to: 110, unrecorded: true})
	r.start(one, activity{trace: 3, id: 3, name: "open", from: 120})
	pause := &ntconv.Type{Provider: "Microsoft-Windows-DotNETRuntime", ID: 81, Version: 1}
	end := &ntconv.Type{Provider: "Microsoft-Windows-DotNETRuntime", ID: 91}
	r.add(one, r.at(40), pause, []byte{0, 1, 0})
	r.add(one, r.at(41), end, []byte{0, 1, 0})
	const everything = operation.Default | operation.GC | operation.JIT | operation.Contention | operation.Waits | operation.Exceptions | operation.Requests
	for name, c := range map[string]struct {
		o    *active.Options
		want int
	}{
		"all":               {nil, 4},
		"with intervals":    {&active.Options{Tracker: &tracker.Options{Sources: everything, Unfinished: tracker.CloseUnfinished}}, 4},
		"finished":          {&active.Options{Tracker: &tracker.Options{Sources: everything}}, 3},
		"intervals alone":   {&active.Options{Tracker: &tracker.Options{Sources: operation.Contention}}, 0},
		"pairs":             {&active.Options{Tracker: &tracker.Options{Sources: operation.Pairs}}, 1},
		"parents elsewhere": {&active.Options{Tracker: &tracker.Options{Sources: operation.GC, Context: operation.Labels | operation.Activities}}, 1},
		"some omitted":      {&active.Options{Omit: func(s *span.Span) bool { return s.Name == "ended" }}, 3},
	} {
		if x := r.index(c.o); x.Len() != c.want || x.Evicted() != 0 {
			names, _ := x.Names()
			t.Errorf("%s: %d spans, want %d: %q", name, x.Len(), c.want, names)
		}
	}
	r.start(one, activity{trace: 4, id: 4, name: "open, too", from: 130})
	if x := r.index(&active.Options{Tracker: &tracker.Options{MaxOpen: 1}}); x.Evicted() == 0 {
		t.Error("no eviction")
	}
}
