package ntconv_test

import (
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/ntconvtest"
)

var mergeWall = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func mergeEvent(th *ntconv.Thread, at ntconv.Ticks, seq uint32) *ntconv.Event {
	return &ntconv.Event{Time: at, Seq: seq, Type: &ntconv.Type{Provider: "p"}, Thread: th, Capture: th, Offset: -1}
}

// Merge delivers every event of every source once, in the order of time, and those of one source in its order.
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
		got, err := ntconvtest.Record(ntconv.Merge(sources...))
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

// The same moment on two clocks is the same tick of the result.
func TestMergeClocks(t *testing.T) {
	a, b := &ntconv.Thread{Process: &ntconv.Process{PID: 1}}, &ntconv.Thread{Process: &ntconv.Process{PID: 2}}
	slow := ntconvtest.NewSource(&ntconv.Info{Format: "a", PointerSize: 4, Clock: ntconv.Clock{Freq: 1000, Tick: 50, Wall: mergeWall.Add(time.Second)}},
		mergeEvent(a, 50, 1), mergeEvent(a, 2050, 2))
	fast := ntconvtest.NewSource(&ntconv.Info{Format: "b", PointerSize: 8, Clock: ntconv.Clock{Freq: 10_000_000, Tick: 9, Wall: mergeWall}},
		mergeEvent(b, 9, 1), mergeEvent(b, 9+20_000_000, 2))
	src := ntconv.Merge(slow, fast)
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
	if ntconv.Merge(src) != ntconv.Source(src) {
		t.Error("one source is not itself")
	}
	if _, err := ntconv.Merge().Next(); err != io.EOF {
		t.Errorf("nothing merged gives %v", err)
	}
}

func TestMergeError(t *testing.T) {
	th := &ntconv.Thread{Process: &ntconv.Process{PID: 1}}
	bad := ntconvtest.NewSource(nil, mergeEvent(th, 5, 1))
	bad.Err = ntconv.ErrTruncated
	m := ntconv.Merge(ntconvtest.NewSource(nil, mergeEvent(th, 1, 1)), bad)
	for n := 0; ; n++ {
		if _, err := m.Next(); err != nil {
			if _, again := m.Next(); n != 2 || !errors.Is(err, ntconv.ErrTruncated) || again != err {
				t.Errorf("after %d events: %v, then %v", n, err, again)
			}
			return
		}
	}
}
