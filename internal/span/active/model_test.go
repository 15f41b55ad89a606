package active_test

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/ntconvtest"
	"pgregory.net/rapid"
)

// located is an Activity of a generated trace that starts and ends on one thread.
type located struct {
	activity
	th *ntconv.Thread
}

// generate returns Activities on a few threads. They overlap in all possible ways; the parent of an Activity is any
// earlier one.
func generate(t *rapid.T, threads []*ntconv.Thread) (list []located) {
	for i := range rapid.IntRange(0, 12).Draw(t, "spans") {
		from := rapid.Int64Range(0, 60).Draw(t, "from")
		a := activity{
			trace: 1, id: uint64(i + 1), name: fmt.Sprint("span ", i+1), from: from, to: from + rapid.Int64Range(1, 40).Draw(t, "length"),
			unrecorded: rapid.IntRange(0, 4).Draw(t, "unrecorded") == 0,
		}
		if i > 0 {
			a.parent = rapid.Uint64Range(0, uint64(i)).Draw(t, "parent")
		}
		list = append(list, located{a, rapid.SampledFrom(threads).Draw(t, "thread")})
	}
	return list
}

// For any overlapping spans, Find returns the span that the rules determine, and During is true while a selected span
// or its descendant is active. The index retains no borrowed event.
func TestModel(t *testing.T) {
	p := process(1)
	threads := []*ntconv.Thread{thread(p, 10), thread(p, 11), thread(process(2), 10)}
	rapid.Check(t, func(rt *rapid.T) {
		r := record(t)
		list := generate(rt, threads)
		picked := rapid.Uint64Range(0, 12).Draw(rt, "picked")
		for _, a := range list {
			r.start(a.th, a.activity)
			r.stop(a.th, a.activity)
		}
		slices.SortStableFunc(r.events, func(a, b *ntconv.Event) int { return cmp.Compare(a.Time, b.Time) })
		x := active.New(r.info, &active.Options{Pick: func(s *span.Span) bool { return s.ID == spanID(picked) }})
		src := ntconvtest.Poison(ntconvtest.NewSource(r.info, r.events...))
		for e := range ntconv.Events(src) {
			x.Add(e)
		}
		x.Finish()
		for _, th := range threads {
			for at := range int64(101) {
				var open []located
				for _, a := range list {
					if a.th == th && a.from <= at && at <= a.to {
						open = append(open, a)
					}
				}
				want := ""
				if len(open) > 0 {
					want = slices.MinFunc(open, func(a, b located) int { return innerFirst(list, a, b) }).name
				}
				if got := found(x, r, th, at); got != want {
					rt.Fatalf("pid %d tid %d at %d: %q, want %q", th.Process.PID, th.TID, at, got, want)
				}
				during := slices.ContainsFunc(open, func(a located) bool { return descends(list, a, picked) })
				if got := x.During(copyOf(r, th, at), active.All); got != during {
					rt.Fatalf("pid %d tid %d at %d: during %v, want %v", th.Process.PID, th.TID, at, got, during)
				}
			}
		}
	})
}

// innerFirst orders spans that are active at the same time: recorded ones first, then by latest start, most ancestors,
// earliest end, and ID.
func innerFirst(list []located, a, b located) int {
	weak := func(l located) int {
		if l.unrecorded {
			return 1
		}
		return 0
	}
	return cmp.Or(weak(a)-weak(b), cmp.Compare(b.from, a.from), depth(list, b)-depth(list, a), cmp.Compare(a.to, b.to), cmp.Compare(a.id, b.id))
}

// parentOf returns the parent in the same process.
func parentOf(list []located, a located) (located, bool) {
	if a.parent == 0 {
		return a, false
	}
	p := list[a.parent-1]
	return p, p.th.Process == a.th.Process
}

func depth(list []located, a located) (n int) {
	for p, ok := parentOf(list, a); ok; p, ok = parentOf(list, p) {
		n++
	}
	return n
}

func descends(list []located, a located, from uint64) bool {
	for ok := true; ok; a, ok = parentOf(list, a) {
		if a.id == from {
			return true
		}
	}
	return false
}

// linkable returns a trace with a span from 10 to 50, and samples in and around it, some with labels.
func linkable(t *testing.T) *recording {
	r := record(t)
	one := thread(process(1), 10)
	a := activity{trace: 0xab, id: 0xcd, name: "request", from: 10, to: 50}
	r.start(one, a)
	r.stop(one, a)
	own := ntconv.Label{Kind: ntconv.LabelString, Key: "own", Str: "x"}
	r.sample(one, 5)
	r.sample(one, 15)
	r.sample(one, 16)
	r.sample(one, 17, own)
	r.sample(one, 18, traceLabel(0xab), spanLabel(0xcd))
	r.sample(one, 19, traceLabel(0xab), spanLabel(0xee))
	r.add(one, r.at(20), noteType, []byte("note"), own)
	r.sample(one, 60, own)
	return r
}

// Samples get the IDs of their span, the evidence and, on request, the name. All other properties and all other events
// are unchanged, and so are the events of the source.
func TestLinker(t *testing.T) {
	const ids = "trace_id=ab span_id=cd"
	for _, c := range []struct {
		o      active.LinkOptions
		counts active.Counts
		want   []string
	}{
		{
			active.LinkOptions{Use: active.All, Name: true}, active.Counts{Samples: 7, Label: 2, Thread: 3},
			[]string{
				"5:", "15: " + ids + " span_link=thread span_name=request", "16: " + ids + " span_link=thread span_name=request",
				"17: " + ids + " span_link=thread span_name=request own=x", "18: span_name=request " + ids,
				"19: span_name=Microsoft-DotNETCore-SampleProfiler/ThreadSample trace_id=ab span_id=ee", "20: own=x", "60: own=x",
			},
		},
		{
			active.LinkOptions{Use: active.Thread}, active.Counts{Samples: 7, Thread: 5},
			[]string{
				"5:", "15: " + ids + " span_link=thread", "16: " + ids + " span_link=thread", "17: " + ids + " span_link=thread own=x",
				"18: " + ids + " span_link=thread", "19: trace_id=ab span_id=ee span_link=thread", "20: own=x", "60: own=x",
			},
		},
		{
			active.LinkOptions{Use: active.Label | active.Activity}, active.Counts{Samples: 7, Label: 2},
			[]string{"5:", "15:", "16:", "17: own=x", "18: " + ids, "19: trace_id=ab span_id=ee", "20: own=x", "60: own=x"},
		},
	} {
		r := linkable(t)
		x := r.index(nil)
		before := make([]ntconv.Event, len(r.events))
		for i, e := range r.events {
			before[i] = *e
		}
		got, counts := link(t, r, x, c.o)
		if !slices.Equal(got, c.want) || counts != c.counts {
			t.Errorf("%v:\n%s\nwant\n%s\ncounts %+v, want %+v", c.o.Use, strings.Join(got, "\n"), strings.Join(c.want, "\n"), counts, c.counts)
		}
		for i, e := range r.events {
			if b := before[i]; e.Labels != b.Labels || e.Time != b.Time || e.Type != b.Type {
				t.Errorf("event %d of the source was changed", i)
			}
		}
	}
}

// link returns the samples and notes of a trace after a Linker as text.
func link(t *testing.T, r *recording, x *active.Index, o active.LinkOptions) (got []string, counts active.Counts) {
	o.Sample = func(t *ntconv.Type) bool { return t == sampleType }
	l := active.NewLinker(ntconvtest.NewSource(r.info, r.events...), x, o)
	for e, err := range ntconv.Events(l) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == sampleType || e.Type == noteType {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%d: %s", (e.Time-r.info.Clock.Tick)/us, labelText(e.Labels))))
		}
	}
	return got, l.Counts(o.Sample)
}

func labelText(l *ntconv.Labels) string {
	var b strings.Builder
	for _, l := range l.List() {
		switch l.Kind {
		case ntconv.LabelTraceID:
			fmt.Fprintf(&b, "trace_id=%s ", strings.TrimLeft(hex.EncodeToString(l.ID[:]), "0"))
		case ntconv.LabelSpanID:
			fmt.Fprintf(&b, "span_id=%s ", strings.TrimLeft(hex.EncodeToString(l.ID[:8]), "0"))
		default:
			fmt.Fprintf(&b, "%s=%s ", l.Key, l.Str)
		}
	}
	return b.String()
}

// A Linker allocates per combination of labels and span, not per sample, even if the samples of two spans alternate.
func TestLinkerAllocates(t *testing.T) {
	r := record(t)
	p := process(1)
	one, two := thread(p, 10), thread(p, 11)
	for i, th := range []*ntconv.Thread{one, two} {
		a := activity{trace: 1, id: uint64(i + 1), name: "request", from: 10, to: 5000}
		r.start(th, a)
		r.stop(th, a)
	}
	x := r.index(nil)
	var samples []*ntconv.Event
	for i := range int64(1000) {
		samples = append(samples, copyOf(r, []*ntconv.Thread{one, two}[i%2], 100+i))
		samples[i].Thread = []*ntconv.Thread{one, two}[i%2]
	}
	run := func(n int) float64 {
		return testing.AllocsPerRun(10, func() {
			o := active.LinkOptions{Use: active.All, Name: true, Sample: func(*ntconv.Type) bool { return true }}
			l := active.NewLinker(ntconvtest.NewSource(r.info, samples[:n]...), x, o)
			for e := range ntconv.Events(l) {
				if e.Labels.Find(ntconv.LabelSpanID) == nil {
					t.Fatal("not linked")
				}
			}
		})
	}
	if few, many := run(10), run(1000); many > few {
		t.Errorf("%v allocations for 1,000 samples, %v for 10", many, few)
	}
}

// Shows is true only for events that are part of spans.
func TestDetector(t *testing.T) {
	r := record(t)
	one := thread(process(1), 10)
	a := activity{trace: 1, id: 1, name: "request", from: 10, to: 50}
	r.start(one, a)
	r.stop(one, a)
	r.work(one, 60, 70)
	r.sample(one, 80, spanLabel(3))
	r.add(one, r.at(81), noteType, nil, traceLabel(1), spanLabel(3))
	for _, e := range r.events {
		if !active.NewDetector().Shows(e) {
			t.Errorf("%s %v shows no span", e.Type.Name, e.Labels)
		}
	}
	d := active.NewDetector()
	for range 2 {
		for _, e := range []*ntconv.Event{
			r.sample(one, 90), r.sample(one, 91, activityLabel(pathID(1, 1))), r.add(one, 92, noteType, nil, traceLabel(1)),
			r.add(one, 93, &ntconv.Type{Provider: "Microsoft-Windows-DotNETRuntime", ID: 1, Version: 2}, nil), // GCStart
			r.add(one, 94, &ntconv.Type{Provider: "System.Threading.Tasks.TplEventSource", ID: 10, Name: "TaskWaitBegin", Opcode: 1, HasOpcode: true}, nil),
		} {
			if d.Shows(e) {
				t.Errorf("%s/%d shows a span", e.Type.Provider, e.Type.ID)
			}
		}
	}
}

// Invalid threads, parents and times are harmless.
func TestHostile(t *testing.T) {
	r := record(t)
	p := process(1)
	one, unknown := thread(p, 10), thread(p, ntconv.TIDUnknown)
	noProcess := &ntconv.Thread{TID: 10}
	for i := range uint64(200) { // a cycle, and more ancestors than the limit
		r.stop(one, activity{trace: 1, id: i + 1, parent: (i+1)%200 + 1, name: "cycle", from: 10, to: int64(50 + i)})
	}
	r.stop(one, activity{trace: 1, id: 500, parent: 500, name: "own parent", from: 10, to: 50})
	r.stop(one, activity{trace: 1, id: 501, name: "negative", from: 90, to: 20})
	r.stop(one, activity{trace: 1, id: 502, name: "far", from: -1 << 40, to: 1 << 43})
	r.stop(unknown, activity{trace: 1, id: 503, name: "unknown", from: 10, to: 50})
	r.stop(noProcess, activity{trace: 1, id: 504, name: "no process", from: 10, to: 50})
	x := r.index(&active.Options{Pick: func(s *span.Span) bool { return s.Name == "cycle" }})
	if x.Len() < 200 {
		t.Errorf("%d spans", x.Len())
	}
	e := &ntconv.Event{Type: sampleType, Time: r.at(20), Thread: unknown}
	if f, ok := x.Find(e, active.All); ok {
		t.Errorf("a thread without an ID has the span %+v", f)
	}
	e.Thread = noProcess
	if f, ok := x.Find(e, active.All); !ok || f.Name != "no process" {
		t.Errorf("a thread without a process has %+v", f)
	}
	e.Thread = nil
	if f, ok := x.Find(e, active.All); ok || x.During(e, active.All) {
		t.Errorf("an event without a thread has the span %+v", f)
	}
}
