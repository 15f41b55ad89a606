package split_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/sample"
	"pgregory.net/rapid"
)

var (
	sampleType = &ntconv.Type{Provider: clr.SampleProfiler, ID: 0}
	otherType  = &ntconv.Type{Provider: "Shop", ID: 1, Name: "Sale"}
)

// processTrace generates samples, other events and losses of threads of three processes. Threads exit.
func processTrace(t *rapid.T) (list []*ntconv.Event) {
	var threads []*ntconv.Thread
	for pid := range uint64(3) {
		p := &ntconv.Process{PID: 10 + pid}
		for range 2 {
			threads = append(threads, &ntconv.Thread{TID: 100 + uint64(len(threads)), Process: p})
		}
	}
	for at := range ntconv.Ticks(rapid.IntRange(0, 20).Draw(t, "events")) {
		i := rapid.IntRange(0, len(threads)-1).Draw(t, "thread")
		th := threads[i]
		e := &ntconv.Event{Time: 10 * at, Thread: th, Capture: th, CPU: ntconv.CPUUnknown, Type: otherType}
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
		case 6:
			e.Kind, e.Type, e.Thread, e.Lost = ntconv.KindLost, nil, nil, uint32(at)+1
		case 1:
			mark := &ntconv.Mark{Kind: ntconv.MarkThreadsRemoved, Threads: []ntconv.ThreadSeq{{Thread: th}}}
			e = &ntconv.Event{Kind: ntconv.KindMark, CPU: ntconv.CPUUnknown, Time: 10 * at, Mark: mark}
			threads[i] = &ntconv.Thread{TID: th.TID, Process: th.Process, Name: fmt.Sprint("after ", at)}
		default:
			e.Type, e.Payload, e.Stack = sampleType, []byte{2, 0, 0, 0}, &ntconv.Stack{PCs: []uint64{1}}
		}
		list = append(list, e)
	}
	return list
}

// Samples of kind Wall have the same weight in the part of their process as in the whole trace, with and without a
// selection, even if a thread has only one sample followed by other events.
func TestPartsKeepWeights(t *testing.T) {
	info := &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}
	rapid.Check(t, func(t *rapid.T) {
		list := processTrace(t)
		parts := map[uint64]*ntconvtest.Recorder{}
		s := split.NewProcessSplit(func(p *ntconv.Process) (ntconv.Sink, error) {
			parts[p.PID] = &ntconvtest.Recorder{}
			return parts[p.PID], nil
		})
		src, modulus := ntconv.Source(ntconvtest.NewSource(info, list...)), ntconv.Ticks(rapid.IntRange(1, 3).Draw(t, "modulus"))
		selects := func(e *ntconv.Event) bool { return e.Kind != ntconv.KindEvent || e.Time/10%modulus == 0 }
		if modulus > 1 {
			src = rounds.NewWeights(src, selects, nil)
		}
		if _, err := ntconv.Copy(s, src); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for pid, part := range parts {
			whole, alone := profile.New(info, nil, &profile.Options{Kind: sample.Wall}), profile.New(info, nil, &profile.Options{Kind: sample.Wall})
			for _, e := range list {
				whole.Watch(e)
				if selects(e) && (e.Kind == ntconv.KindMark || e.Kind == ntconv.KindEvent && e.Thread.Process.PID == pid) {
					whole.Add(e)
				}
			}
			for _, e := range part.Events {
				alone.Add(e)
			}
			if got, want := totals(alone.Finish()), totals(whole.Finish()); got != want {
				t.Fatalf("process %d: %s, want %s", pid, got, want)
			}
		}
	})
}

// Each part has the losses of its process, including those before its first event.
func TestPartsKeepLosses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := processTrace(t)
		want, got := map[uint64]uint32{}, map[uint64]uint32{}
		for _, e := range list {
			if e.Kind == ntconv.KindLost {
				want[e.Capture.Process.PID] += e.Lost
			}
		}
		parts := map[uint64]*ntconvtest.Recorder{}
		s := split.NewProcessSplit(func(p *ntconv.Process) (ntconv.Sink, error) {
			parts[p.PID] = &ntconvtest.Recorder{}
			return parts[p.PID], nil
		})
		if _, err := ntconv.Copy(s, ntconvtest.Poison(ntconvtest.NewSource(&ntconv.Info{}, list...))); err != nil {
			t.Fatal(err)
		}
		for pid, part := range parts {
			for _, e := range part.Events {
				if e.Kind == ntconv.KindLost {
					got[e.Capture.Process.PID] += e.Lost
				}
				if e.Kind == ntconv.KindLost && e.Capture.Process.PID != pid {
					t.Fatalf("process %d has losses of %d", pid, e.Capture.Process.PID)
				}
			}
		}
		for pid := range want {
			if parts[pid] == nil {
				delete(want, pid) // the process has no event
			}
		}
		if !maps.Equal(got, want) {
			t.Fatalf("losses by process: %v, want %v", got, want)
		}
	})
}

// totals returns the number of samples and the ticks of each thread.
func totals(p *profile.Profile) string {
	sums := map[string][2]int64{}
	for s := range p.Samples() {
		name := fmt.Sprint(s.Thread.TID, s.Thread.Name)
		sums[name] = [2]int64{sums[name][0] + s.Values[0], sums[name][1] + s.Values[1]}
	}
	return fmt.Sprint(sums)
}
