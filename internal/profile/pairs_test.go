package profile_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

var (
	contentionStart = &ntconv.Type{Provider: clr.Runtime, ID: 81, Version: 1}
	contentionStop  = &ntconv.Type{Provider: clr.Runtime, ID: 91}
)

// A waitModel is the model of a trace of waits for locks: which starts and stops belong together, computed with a list
// of open starts per thread.
type waitModel struct {
	open map[*ntconv.Thread][]*ntconv.Event
	sums map[string][2]int64 // count and ticks, by stack and thread
	cuts map[string]uint64   // selected starts and stops that are in no sample, by reason
}

func (m *waitModel) add(e *ntconv.Event, selected func(*ntconv.Event) bool, inTime func(ntconv.Ticks) bool) {
	switch {
	case e.Kind == ntconv.KindLost:
		m.drop(e.Capture, "loss", selected)
	case e.Kind == ntconv.KindMark:
		m.drop(e.Mark.Threads[0].Thread, "edge", selected)
	case e.Type == contentionStart:
		m.open[e.Thread] = append(m.open[e.Thread], e)
	case len(m.open[e.Thread]) == 0:
		if selected(e) {
			m.cuts["edge"]++
		}
	default:
		list := m.open[e.Thread]
		start := list[len(list)-1]
		m.open[e.Thread] = list[:len(list)-1]
		switch {
		case !selected(start) && !selected(e):
		case e.Time != start.Time && !(inTime(start.Time) && inTime(e.Time)):
			m.cuts["selection"]++
		default:
			key := fmt.Sprint(start.Stack.PCs, e.Thread.TID)
			sum := m.sums[key]
			m.sums[key] = [2]int64{sum[0] + 1, sum[1] + int64(e.Time-start.Time)}
		}
	}
}

func (m *waitModel) drop(t *ntconv.Thread, reason string, selected func(*ntconv.Event) bool) {
	for _, e := range m.open[t] {
		if selected(e) {
			m.cuts[reason]++
		}
	}
	delete(m.open, t)
}

// randomWaits returns starts and stops of three threads, nested and incomplete, with losses and threads that exit.
func randomWaits(rng *rand.Rand) (list []*ntconv.Event) {
	process := &ntconv.Process{PID: 1}
	var threads []*ntconv.Thread
	for i := range 3 {
		threads = append(threads, &ntconv.Thread{Process: process, TID: uint64(i + 1)})
	}
	var stacks []*ntconv.Stack
	for i := range 4 {
		stacks = append(stacks, stack(uint64(0x10+i), 0x20))
	}
	at := ntconv.Ticks(0)
	for range rng.IntN(60) {
		at += ntconv.Ticks(rng.IntN(3))
		th := threads[rng.IntN(3)]
		e := &ntconv.Event{Thread: th, Capture: th, Time: at, Offset: int64(len(list))}
		switch n := rng.IntN(40); {
		case n == 0:
			e.Kind, e.Lost = ntconv.KindLost, 1
		case n == 1:
			e.Kind = ntconv.KindMark
			e.Mark = &ntconv.Mark{Kind: ntconv.MarkThreadsRemoved, Threads: []ntconv.ThreadSeq{{Thread: th}}}
		case n < 22:
			e.Type, e.Stack, e.Payload = contentionStart, stacks[rng.IntN(4)], []byte{0, 1, 0}
		default:
			e.Type, e.Payload = contentionStop, []byte{0, 1, 0}
		}
		list = append(list, e)
	}
	return list
}

// Samples of pairs are those of the model, for every selection of events and times, with and without a selection that
// omits events, and every selected start and stop is in a sample or is counted as cut.
func TestPairsOfRandomTraces(t *testing.T) {
	info := testInfo()
	whole := 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		list := randomWaits(rng)
		from, to := ntconv.Ticks(rng.IntN(20)), ntconv.Ticks(20+rng.IntN(60))
		inTime := func(at ntconv.Ticks) bool { return at >= from && at < to }
		names := [][]*ntconv.Type{{contentionStart, contentionStop}, {contentionStart}, {contentionStop}}[rng.IntN(3)]
		selected := func(e *ntconv.Event) bool {
			return inTime(e.Time) && (e.Type == names[0] || e.Type == names[len(names)-1])
		}
		all := rng.IntN(4) == 0
		if all {
			inTime, selected = func(ntconv.Ticks) bool { return true }, func(*ntconv.Event) bool { return true }
			whole++
		}
		m := waitModel{map[*ntconv.Thread][]*ntconv.Event{}, map[string][2]int64{}, map[string]uint64{}}
		report := new(ntconv.Report)
		b := profile.New(info, &fakeNamer{}, &profile.Options{Kind: sample.Contention, Report: report, Window: inTime})
		for _, e := range list {
			m.add(e, selected, inTime)
			if !all {
				b.Watch(e)
			}
			if e.Kind != ntconv.KindEvent || selected(e) {
				b.Add(e)
			}
		}
		for th := range m.open {
			m.drop(th, "edge", selected)
		}
		got := map[string][2]int64{}
		for s := range b.Finish().Samples() {
			got[fmt.Sprint([]uint64{s.Frames[0].PC, s.Frames[1].PC}, s.Thread.TID)] = [2]int64{s.Values[0], s.Values[1] / 100}
		}
		if !maps.Equal(got, m.sums) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, m.sums)
		}
		var cuts uint64
		for _, n := range m.cuts {
			cuts += n
		}
		if n := report.Count(ntconv.CodeUnpaired); n != cuts {
			t.Fatalf("seed %d: %d cut %v, want %v", seed, n, report.Entries(), m.cuts)
		}
	}
	if whole < 100 {
		t.Errorf("only %d traces without a selection", whole)
	}
}

// A Stream emits the samples whose starts are selected, with the values of a Builder and the subject of the start.
func TestStreamOfRandomPairs(t *testing.T) {
	samples := 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		list := randomWaits(rng)
		watch := rng.IntN(2) == 0
		m := waitModel{map[*ntconv.Thread][]*ntconv.Event{}, map[string][2]int64{}, map[string]uint64{}}
		got := map[string][2]int64{}
		s := profile.NewStream(testInfo(), func(w *profile.Weighed[*ntconv.Event]) {
			key := fmt.Sprint(w.Subject.Stack.PCs, w.Subject.Thread.TID)
			sum := got[key]
			got[key] = [2]int64{sum[0] + 1, sum[1] + w.Values[0]/100}
			samples++
		}, &profile.StreamOptions{Kinds: []sample.Kind{sample.Wall, sample.Contention}})
		for _, e := range list {
			m.add(e, func(*ntconv.Event) bool { return true }, func(ntconv.Ticks) bool { return true })
			if watch {
				s.Watch(e)
			}
			s.Add(e, e)
		}
		s.Finish()
		if !maps.Equal(got, m.sums) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, m.sums)
		}
	}
	if samples < 1000 {
		t.Errorf("only %d samples", samples)
	}
}
