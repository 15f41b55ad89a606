package merge_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/merge"
	"github.com/ntconv/ntconv/ntconvtest"
)

var mergeWall = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func mergeEvent(th *ntconv.Thread, at ntconv.Ticks, seq uint32) *ntconv.Event {
	return &ntconv.Event{Time: at, Seq: seq, Type: &ntconv.Type{Provider: "p"}, Thread: th, Capture: th, Offset: -1}
}

// Merge delivers every event of every source once, in time order, and those of one source in its order.
func TestMergeOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sources []ntconv.Source
		var want []ntconv.Ticks
		for s := range rapid.IntRange(2, 4).Draw(t, "sources") {
			th := &ntconv.Thread{TID: uint64(s), Process: &ntconv.Process{PID: 7}}
			at := ntconv.Ticks(0)
			var events []*ntconv.Event
			for i := range rapid.IntRange(0, 8).Draw(t, "events") {
				at += ntconv.Ticks(rapid.IntRange(0, 3).Draw(t, "later"))
				events = append(events, mergeEvent(th, at, uint32(i+1)))
				want = append(want, at)
			}
			sources = append(sources, ntconvtest.Poison(ntconvtest.NewSource(&ntconv.Info{Clock: ntconv.Clock{Freq: 1000}}, events...)))
		}
		slices.Sort(want)
		got, err := ntconvtest.Record(merge.ByTime(sources...))
		if err != nil {
			t.Fatal(err)
		}
		seq, pids := map[*ntconv.Thread]uint32{}, map[uint64]uint64{}
		for i, e := range got {
			if i >= len(want) || e.Time != want[i] {
				t.Fatalf("event %d is at %d, want %v", i, e.Time, want)
			}
			if seq[e.Thread]++; e.Seq != seq[e.Thread] {
				t.Fatalf("event %d of thread %d comes as number %d", e.Seq, e.Thread.TID, seq[e.Thread])
			}
			if tid, known := pids[e.Thread.Process.PID]; known && tid != e.Thread.TID {
				t.Fatalf("process %d belongs to two sources", e.Thread.Process.PID)
			}
			pids[e.Thread.Process.PID] = e.Thread.TID
			if recorded, changed := e.Thread.Process.Attrs.Get(ntconv.AttrPID); changed != (e.Thread.Process.PID != 7) || changed && recorded != "7" {
				t.Fatalf("process %+v", e.Thread.Process)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d events, want %d", len(got), len(want))
		}
	})
}

// If one input flushes its thread table and restarts the numbers of its events, the merged numbers continue, because
// those of the other input do not restart. Losses are unchanged.
func TestMergeNumbersGoOn(t *testing.T) {
	a, b := &ntconv.Thread{TID: 1}, &ntconv.Thread{TID: 2}
	flush := func(at ntconv.Ticks, flags ntconv.MarkFlags, seq uint32) *ntconv.Event {
		return &ntconv.Event{Kind: ntconv.KindMark, Time: at, Mark: &ntconv.Mark{Kind: ntconv.MarkSequencePoint, Flags: flags, Threads: []ntconv.ThreadSeq{{Thread: a, Seq: seq}}}}
	}
	first := ntconvtest.NewSource(&ntconv.Info{Clock: ntconv.Clock{Freq: 1000}},
		mergeEvent(a, 1, 1), mergeEvent(a, 2, 2), flush(3, 0, 4), mergeEvent(a, 4, 5), flush(5, ntconv.MarkFlushThreads, 7),
		mergeEvent(a, 6, 1), mergeEvent(a, 7, 4), mergeEvent(a, 8, 0), flush(9, ntconv.MarkFlushThreads, 4),
		&ntconv.Event{Kind: ntconv.KindLost, Time: 10, Capture: a, Lost: 8}, mergeEvent(a, 10, 9))
	second := ntconvtest.NewSource(&ntconv.Info{Clock: ntconv.Clock{Freq: 1000}}, mergeEvent(b, 1, 3), mergeEvent(b, 6, 4), mergeEvent(b, 20, 7))
	got, err := ntconvtest.Record(merge.ByTime(first, second))
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[uint64][]uint32{}
	for _, e := range got {
		switch e.Kind {
		case ntconv.KindEvent:
			numbers[e.Capture.TID] = append(numbers[e.Capture.TID], e.Seq)
		case ntconv.KindMark:
			numbers[0] = append(numbers[0], e.Mark.Threads[0].Seq)
		}
	}
	if want := map[uint64][]uint32{0: {4, 7, 11}, 1: {1, 2, 5, 8, 11, 0, 20}, 2: {3, 4, 7}}; !reflect.DeepEqual(numbers, want) {
		t.Errorf("numbers %v, want %v", numbers, want)
	}
}

// Equal times on two clocks are the same tick of the result.
func TestMergeClocks(t *testing.T) {
	a, b := &ntconv.Thread{Process: &ntconv.Process{PID: 1}}, &ntconv.Thread{Process: &ntconv.Process{PID: 2}}
	slow := ntconvtest.NewSource(&ntconv.Info{Format: "a", PointerSize: 4, Clock: ntconv.Clock{Freq: 1000, Tick: 50, Wall: mergeWall.Add(time.Second)}},
		mergeEvent(a, 50, 1), mergeEvent(a, 2050, 2))
	fast := ntconvtest.NewSource(&ntconv.Info{Format: "b", PointerSize: 8, Clock: ntconv.Clock{Freq: 10_000_000, Tick: 9, Wall: mergeWall}},
		mergeEvent(b, 9, 1), mergeEvent(b, 9+20_000_000, 2))
	src := merge.ByTime(slow, fast)
	if i := src.Info(); i.Clock.Freq != 1e9 || i.PointerSize != 8 || !i.Clock.Wall.Equal(mergeWall) {
		t.Errorf("info %+v", *i)
	}
	var got []time.Duration
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, src.Info().Clock.Time(e.Time).Sub(mergeWall))
	}
	if want := []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}; !slices.Equal(got, want) {
		t.Errorf("times %v, want %v", got, want)
	}
}

func TestMergeOfOneAndNone(t *testing.T) {
	src := ntconvtest.NewSource(nil)
	if merge.ByTime(src) != ntconv.Source(src) {
		t.Error("one source is not itself")
	}
	if _, err := merge.ByTime().Next(); err != io.EOF {
		t.Errorf("nothing merged gives %v", err)
	}
}

// If a source fails, the events of the others are delivered, and its error is returned on each later call.
func TestMergeError(t *testing.T) {
	th := &ntconv.Thread{Process: &ntconv.Process{PID: 1}}
	for _, c := range []struct {
		name   string
		failed []error // by source
	}{
		{"the first", []error{ntconv.ErrTruncated, nil, nil}},
		{"the last", []error{nil, nil, ntconv.ErrTruncated}},
		{"two", []error{ntconv.ErrLimit, nil, ntconv.ErrTruncated}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sources []ntconv.Source
			want := 0
			for i, err := range c.failed {
				var events []*ntconv.Event
				for n := range 2 * (i + 1) {
					events = append(events, mergeEvent(th, ntconv.Ticks(3*n+i), uint32(n+1)))
				}
				src := ntconvtest.NewSource(nil, events...)
				src.Err = err
				sources, want = append(sources, src), want+len(events)
			}
			m := merge.ByTime(sources...)
			got, err := ntconvtest.Record(m)
			if _, again := m.Next(); len(got) != want || again != err {
				t.Errorf("%d events, want %d; %v, then %v", len(got), want, err, again)
			}
			for _, e := range c.failed {
				if e != nil && !errors.Is(err, e) {
					t.Errorf("%v, want %v", err, e)
				}
			}
		})
	}
}

// The IDs are those of a search for the next free ID, one by one.
func TestMergeProcessIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sources []ntconv.Source
		type described struct {
			source int
			host   string
			pid    uint64
		}
		var order []described
		at := ntconv.Ticks(0)
		events := make([][]*ntconv.Event, 3)
		for range rapid.IntRange(0, 40).Draw(t, "events") {
			p := &ntconv.Process{
				Host: rapid.SampledFrom([]string{"", "h"}).Draw(t, "host"),
				PID:  rapid.OneOf(rapid.Uint64Range(1, 6), rapid.Just(uint64(1<<63))).Draw(t, "pid"),
			}
			n := rapid.IntRange(0, 2).Draw(t, "source")
			at++
			events[n] = append(events[n], mergeEvent(&ntconv.Thread{Process: p}, at, 1))
			order = append(order, described{n, p.Host, p.PID})
		}
		for _, list := range events {
			sources = append(sources, ntconvtest.NewSource(nil, list...))
		}
		got, err := ntconvtest.Record(merge.ByTime(sources...))
		if err != nil {
			t.Fatal(err)
		}
		ids, taken := map[described]uint64{}, map[described]bool{}
		for i, d := range order {
			id, known := ids[d]
			if !known {
				for id = d.pid; taken[described{0, d.host, id}]; {
					id++
				}
				ids[d], taken[described{0, d.host, id}] = id, true
			}
			p := got[i].Thread.Process
			recorded, changed := p.Attrs.Get(ntconv.AttrPID)
			if p.PID != id || p.Host != d.host || changed != (id != d.pid) || changed && recorded != fmt.Sprint(d.pid) {
				t.Fatalf("event %d: process %+v of %+v, want id %d", i, p, d, id)
			}
		}
	})
}

// All of many IDs are taken. Visiting all of them for each ID would need 10,000,000,000 steps.
func TestMergeManyProcesses(t *testing.T) {
	const n = 100_000
	var sources []ntconv.Source
	for range 2 {
		var events []*ntconv.Event
		for i := range uint64(n) {
			events = append(events, mergeEvent(&ntconv.Thread{Process: &ntconv.Process{PID: i + 1}}, ntconv.Ticks(i), 1))
		}
		sources = append(sources, ntconvtest.NewSource(nil, events...))
	}
	pids, m := map[uint64]bool{}, merge.ByTime(sources...)
	for e, err := range ntconv.Events(m) {
		if err != nil {
			t.Fatal(err)
		}
		pids[e.Thread.Process.PID] = true
	}
	if len(pids) != 2*n {
		t.Errorf("%d ids, want %d", len(pids), 2*n)
	}
}

// The attributes of the result are those of the first source that has the key, with the value that Get returns there.
func TestMergeAttributes(t *testing.T) {
	first := ntconvtest.NewSource(&ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, Attrs: ntconv.Attrs{{Key: "a", Value: "1"}, {Key: "a", Value: "2"}}})
	second := ntconvtest.NewSource(&ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, Attrs: ntconv.Attrs{
		{Key: "a", Value: "3"}, {Key: "b", Value: "4"}, {Key: "b", Value: "5"},
	}})
	attrs := merge.ByTime(first, second).Info().Attrs
	for key, want := range map[string]string{"a": "2", "b": "5"} {
		if got, _ := attrs.Get(key); got != want {
			t.Errorf("%s is %q, want %q: %v", key, got, want, attrs)
		}
	}
}
