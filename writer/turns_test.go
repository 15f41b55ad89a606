package writer_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// microsoftLosses counts lost events as TraceEvent does: it attributes events to the capture thread of the last sorted
// event, or of the first event in the block. It counts a negative number if numbers go back.
func microsoftLosses(r *rows) (lost int64) {
	numbers := map[uint64]uint32{}
	events := r.events
	for _, n := range r.perBlock {
		thread := events[0].CaptureThread
		for _, e := range events[:n] {
			if e.Sorted {
				thread = e.CaptureThread
			}
			lost += int64(int32(e.Sequence - 1 - numbers[thread]))
			numbers[thread] = e.Sequence
		}
		events = events[n:]
	}
	return lost
}

// alternating generates events of up to four threads that alternate. Most times increase, but some go back, regardless
// of the flags.
func alternating(t *rapid.T) (events []*ntconv.Event, lost int64) {
	typ := &ntconv.Type{Provider: "P", ID: 1, Name: "turn"}
	process := &ntconv.Process{PID: 1}
	threads := make([]*ntconv.Thread, rapid.IntRange(1, 4).Draw(t, "threads"))
	for i := range threads {
		threads[i] = &ntconv.Thread{TID: uint64(i + 1), Process: process}
	}
	numbers := map[*ntconv.Thread]uint32{}
	now := ntconv.Ticks(1_000_000)
	for range rapid.IntRange(0, 60).Draw(t, "events") {
		th := rapid.SampledFrom(threads).Draw(t, "thread")
		now += rapid.SampledFrom([]ntconv.Ticks{0, 1, 1, 1, 2, 200, 20_000, -1, -3, -300}).Draw(t, "step")
		if gap := rapid.SampledFrom([]uint32{0, 0, 0, 0, 0, 0, 0, 5}).Draw(t, "gap"); gap > 0 {
			events = append(events, &ntconv.Event{Kind: ntconv.KindLost, Lost: gap, Time: now, Capture: th, CPU: ntconv.CPUUnknown, Offset: -1})
			numbers[th] += gap
			lost += int64(gap)
		}
		numbers[th]++
		e := &ntconv.Event{
			Time: now, Seq: numbers[th], CPU: rapid.Int32Range(-1, 1).Draw(t, "cpu"), Type: typ, Thread: th, Capture: th, Offset: -1,
			Payload: make([]byte, rapid.IntRange(0, 20).Draw(t, "payload")),
		}
		if rapid.IntRange(0, 3).Draw(t, "sorted") > 0 {
			e.Flags = ntconv.FlagSorted
		}
		events = append(events, e)
	}
	return events, lost
}

// falseFlags counts events that are earlier than a sorted one before them.
func falseFlags(r *rows) (n uint64) {
	latest := int64(math.MinInt64)
	for _, e := range r.events {
		if int64(e.Time) < latest {
			n++
		}
		if e.Sorted {
			latest = max(latest, int64(e.Time))
		}
	}
	return n
}

// TestLateEvents checks events of alternating threads with wrong flags, with and without Options.Ordered: no event
// looks lost to TraceEvent or to package reader, each flag is correct or reported, and rewriting yields the same bytes.
func TestLateEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events, lost := alternating(t)
		src := func() *ntconvtest.SliceSource { return ntconvtest.NewSource(nil, events...) }
		opts := writer.Options{
			BlockBytes:  rapid.SampledFrom([]int{0, 0, 1, 50, 100, 300}).Draw(t, "block size"),
			BlockEvents: rapid.SampledFrom([]int{0, 0, 3, 10}).Draw(t, "block events"),
			Ordered:     rapid.Bool().Draw(t, "ordered"),
		}
		var report ntconv.Report
		opts.Report = &report
		once := write(t, ntconvtest.Poison(src()), &opts)
		r := parse(t, once)
		if got := microsoftLosses(r); got != lost {
			t.Fatalf("TraceEvent counts %d lost events, want %d", got, lost)
		}
		if n := falseFlags(r); n > report.Count(ntconv.CodeOutOfOrder) {
			t.Fatalf("%d events are earlier than a sorted one, %v are reported", n, report.Count(ntconv.CodeOutOfOrder))
		}
		strict, err := reader.New(bytes.NewReader(once), &reader.Options{Order: reader.FileOrder, Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := ntconvtest.EqualStreams(src(), strict, &ntconvtest.Options{Sorted: true, EmptyMarks: true}); err != nil {
			t.Fatal(err)
		}
		opts.Ordered = opts.Ordered && rapid.Bool().Draw(t, "ordered again")
		if again := write(t, read(t, once), &opts); !bytes.Equal(again, once) {
			t.Fatal("rewriting it changes its bytes")
		}
	})
}

// TestTurnsWithoutFlags checks that an event that removes flags gives each run of unflagged events of one thread a
// block of its own, and no other event.
func TestTurnsWithoutFlags(t *testing.T) {
	events, _ := ntconvtest.Record(ticks(8, 0))
	other := *events[0].Thread
	for i, e := range events {
		e.Seq = []uint32{1, 1, 2, 2, 3, 3, 4, 4}[i]
		if slices.Contains([]int{1, 3, 4, 7}, i) { // a b a b b a a b
			e.Capture = &other
		}
	}
	for _, c := range []struct {
		late ntconv.Ticks
		want []int
	}{{1007, []int{8}}, {1003, []int{5, 2, 1}}, {1000, []int{1, 1, 1, 2, 2, 1}}} {
		events[7].Time = c.late
		r := parse(t, write(t, ntconvtest.NewSource(nil, events...), &writer.Options{Ordered: true}))
		if !slices.Equal(r.perBlock, c.want) {
			t.Errorf("late by %d: blocks of %v events, want %v", 1007-c.late, r.perBlock, c.want)
		}
		if lost := microsoftLosses(r); lost != 0 {
			t.Errorf("late by %d: TraceEvent counts %d lost events", 1007-c.late, lost)
		}
	}
}

// TestLargeBlocksAreDivided checks the same for blocks close to the maximum size.
func TestLargeBlocksAreDivided(t *testing.T) {
	events, _ := ntconvtest.Record(ticks(279, 0))
	other := *events[0].Thread
	for i, e := range events {
		e.Seq, e.Payload = uint32(i/2+1), make([]byte, 60_000)
		if i%2 == 1 {
			e.Capture = &other
		}
	}
	events[len(events)-1].Time = 1000
	b := write(t, ntconvtest.NewSource(nil, events...), &writer.Options{BlockBytes: 1 << 30, Ordered: true})
	r := parse(t, b)
	if lost := microsoftLosses(r); lost != 0 || len(r.perBlock) != len(events) { // the last event removes all flags
		t.Errorf("%d blocks of %d events, %d lost", len(r.perBlock), len(events), lost)
	}
	if err := ntconvtest.EqualStreams(ntconvtest.NewSource(nil, events...), read(t, b), &ntconvtest.Options{Sorted: true}); err != nil {
		t.Error(err)
	}
}
