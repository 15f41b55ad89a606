package e2e

import (
	"errors"
	"os"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/reader"
)

// A recording is the reader's result for a trace of a program that numbers its events.
type recording struct {
	events []numbered
	lost   uint64
	err    error
}

// A numbered event is one in which the program wrote its thread number and the count of the event.
type numbered struct {
	name   string
	thread *ntconv.Thread
	number [2]int64
}

// record reads a trace with the library. fields are the names of the two numbers in every event of provider.
func record(t *testing.T, tr trace, order reader.Order, provider string) (r recording) {
	t.Helper()
	f, err := os.Open(tr.path)
	must(t, err)
	defer f.Close()
	src, err := reader.New(f, &reader.Options{Order: order})
	must(t, err)
	for e, err := range ntconv.Events(src) {
		switch {
		case err != nil:
			r.err = err
		case e.Kind == ntconv.KindLost:
			r.lost += uint64(e.Lost)
		case e.Kind == ntconv.KindEvent && e.Type.Provider == provider:
			n := numbered{name: e.Type.Name, thread: e.Thread}
			i := 0
			for _, v := range e.Fields() {
				if i < len(n.number) {
					n.number[i] = v.Int()
				}
				i++
			}
			r.events = append(r.events, n)
		}
	}
	return r
}

func inBothOrders(t *testing.T, name string, test func(t *testing.T, tr trace, order reader.Order)) {
	tr := find(t, name)
	t.Run("by time", func(t *testing.T) { test(t, tr, reader.ByTime) })
	t.Run("file order", func(t *testing.T) { test(t, tr, reader.FileOrder) })
}

// The reader distinguishes threads as the program that started them did, including threads with a reused ID.
func TestThreads(t *testing.T) {
	for _, name := range []string{"threads", "threads-reused"} {
		inBothOrders(t, name, func(t *testing.T, tr trace, order reader.Order) {
			var truth struct{ PID, Threads, DistinctTids, ReusedTids int }
			readTruth(t, tr.truth[0], &truth)
			r := record(t, tr, order, "Shop-Threads")
			threads := map[*ntconv.Thread]int64{}
			used := map[uint64]map[*ntconv.Thread]bool{}
			for _, e := range r.events {
				if number, ok := threads[e.thread]; ok && number != e.number[0] {
					t.Errorf("threads %d and %d of the program are one", number, e.number[0])
				}
				threads[e.thread] = e.number[0]
				if e.thread.TID != uint64(e.number[1]) || e.thread.Process.PID != uint64(truth.PID) {
					t.Errorf("thread %d of process %d, want %d of %d", e.thread.TID, e.thread.Process.PID, e.number[1], truth.PID)
				}
				if used[e.thread.TID] == nil {
					used[e.thread.TID] = map[*ntconv.Thread]bool{}
				}
				used[e.thread.TID][e.thread] = true
			}
			reused := 0
			for _, threads := range used {
				if len(threads) > 1 {
					reused++
				}
			}
			if len(r.events) != truth.Threads || len(threads) != truth.Threads || len(used) != truth.DistinctTids || reused != truth.ReusedTids {
				t.Errorf("%d events of %d threads, %d thread ids, %d of them reused; want %+v", len(r.events), len(threads), len(used), reused, truth)
			}
			if r.lost != 0 || r.err != nil {
				t.Errorf("%d events lost, %v; the program lost none", r.lost, r.err)
			}
		})
	}
}

// stressTruth is what the program wrote.
type stressTruth struct {
	Threads []struct{ Thread, TID, Ticks, Done int64 }
}

// ticks checks that the events of each thread are in the order in which the thread wrote them. It returns the number of
// existing events, and of those missing before the last one of each thread.
func (truth *stressTruth) ticks(t *testing.T, r recording) (there, missing map[int64]int64) {
	t.Helper()
	there, missing = map[int64]int64{}, map[int64]int64{}
	last := map[int64]int64{}
	for _, e := range r.events {
		thread, number := e.number[0], e.number[1]
		if e.name == "Done" { // it contains the number of ticks before it
			number++
		}
		if number <= last[thread] {
			t.Fatalf("thread %d: %s %d after %d", thread, e.name, number, last[thread])
		}
		missing[thread] += number - last[thread] - 1
		there[thread]++
		last[thread] = number
		for _, th := range truth.Threads {
			if th.Thread == thread && (uint64(th.TID) != e.thread.TID || number > th.Ticks+th.Done) {
				t.Fatalf("thread %d: event %d of thread id %d, want %+v", thread, number, e.thread.TID, th)
			}
		}
	}
	return there, missing
}

// If a buffer overflows, the reported losses are at most the number of missing events, and at least the number of
// missing events between existing ones.
func TestLosses(t *testing.T) {
	inBothOrders(t, "stress-drop", func(t *testing.T, tr trace, order reader.Order) {
		var truth stressTruth
		readTruth(t, tr.truth[0], &truth)
		r := record(t, tr, order, "Shop-Stress")
		there, missing := truth.ticks(t, r)
		var written, kept, gaps int64
		for _, th := range truth.Threads {
			written += th.Ticks + th.Done
			kept += there[th.Thread]
			gaps += missing[th.Thread]
		}
		if r.err != nil || kept == 0 || int64(r.lost) < gaps || int64(r.lost) > written-kept {
			t.Errorf("%d of %d events, %d reported as lost, %d missing in between; %v", kept, written, r.lost, gaps, r.err)
		}
	})
}

// A truncated stream, or one of a killed program, contains all events that the program wrote before its end.
func TestStreams(t *testing.T) {
	for _, name := range []string{"stress-streamed", "stress-killed", "stress-cut"} {
		inBothOrders(t, name, func(t *testing.T, tr trace, order reader.Order) {
			var truth stressTruth
			readTruth(t, tr.truth[0], &truth)
			r := record(t, tr, order, "Shop-Stress")
			there, missing := truth.ticks(t, r)
			for _, th := range truth.Threads {
				if missing[th.Thread] != 0 {
					t.Errorf("thread %d: %d events missing in between", th.Thread, missing[th.Thread])
				}
				if want := th.Ticks + th.Done; name != "stress-cut" && there[th.Thread] != want {
					t.Errorf("thread %d: %d events, want %d", th.Thread, there[th.Thread], want)
				}
			}
			if len(there) == 0 || r.lost != 0 || errors.Is(r.err, ntconv.ErrTruncated) != truncated[name] {
				t.Errorf("%d threads, %d events lost, %v", len(there), r.lost, r.err)
			}
		})
	}
}
