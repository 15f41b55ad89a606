package symbol_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/clr"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
	"github.com/ntconv/ntconv/symbol"
)

// Threads of real recordings are named after what they are for: those of the thread pool are the ones that the runtime
// flags as such when it creates them, the timer thread is known by its stacks, the others have no name.
func TestThreadNames(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"own/waits":     {".NET TP Worker": 3, ".NET Timer": 1, "": 17},
		"own/async-tpl": {".NET TP Worker": 3, "": 6},
		"own/cpu-env":   {"": 9},
	} {
		data := corpus.SharedTrace(t, name).Data
		table := scanned(t, data, nil)
		src, err := reader.NewBytes(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		var schemas schema.Table
		threads, flagged := map[uint64]*ntconv.Thread{}, map[uint64]bool{}
		for e, err := range ntconv.Events(src) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind != ntconv.KindEvent || e.Thread == nil {
				continue
			}
			threads[e.Thread.TID] = e.Thread
			if s := schemas.Of(e); s.Name == "ThreadCreated" {
				p, _ := s.Project("Flags", "OSThreadID")
				var v [2]ntconv.Value
				p.Read(e, v[:])
				flagged[v[1].Uint()] = v[0].Uint() == 4
			}
		}
		got := map[string]int{}
		for tid, th := range threads {
			n := table.ThreadName(th)
			if got[n]++; (n == ".NET TP Worker") != flagged[tid] {
				t.Errorf("%s: thread %d is %q, flagged %v", name, tid, n, flagged[tid])
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Flags and events name threads; an ID that was used again for another purpose has no name, and a recorded name counts
// more.
func TestThreadEvidence(t *testing.T) {
	table := symbol.New(nil)
	s := newStream(t, table)
	created := func(flags uint64, tid uint64) {
		s.event(1, clr.Runtime, 85, 0, ntconv.UintValue(1), ntconv.UintValue(1), ntconv.UintValue(flags), ntconv.UintValue(7),
			ntconv.UintValue(tid), ntconv.UintValue(0))
	}
	created(0, 10)
	created(1, 11)
	created(2, 12)
	created(4, 13)
	created(4, 14)
	created(2, 14)
	s.event(2, clr.Runtime, 283, 0, ntconv.UintValue(0), ntconv.UintValue(3)) // on thread 1
	name := func(tid uint64) string { return table.ThreadName(&ntconv.Thread{TID: tid, Process: s.proc}) }
	got := []string{name(10), name(11), name(12), name(13), name(14), name(1), name(99)}
	want := []string{"", ".NET GC", ".NET Finalizer", ".NET TP Worker", "", ".NET Tiered Compilation Worker", ""}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if created(4, 1); name(1) != ".NET TP Worker" { // .NET 5 compiles methods of higher tiers on threads of the pool
		t.Errorf("a thread of the pool that compiled is %q", name(1))
	}
	if got := table.ThreadName(&ntconv.Thread{TID: 13, Process: s.proc, Name: "mine"}); got != "mine" {
		t.Errorf("a recorded name became %q", got)
	}
	if got := table.ThreadName(&ntconv.Thread{TID: 13, Process: &ntconv.Process{PID: 43}}); got != "" {
		t.Errorf("a thread of another process is %q", got)
	}
}

// Threads of other recordings have the names that their events and stacks imply.
func TestThreadNamesOfTraces(t *testing.T) {
	for file, want := range map[string]string{
		"startup":     "map[:5 .NET Finalizer:1 .NET TP Worker:3]",
		"cpu-default": "map[:8 .NET Tiered Compilation Worker:1]",
		"gcdump":      "map[:2 .NET Finalizer:1]",
		"otel-cpu":    "map[:5 .NET Sockets:1 .NET TP Gate:1 .NET TP Worker:3 .NET Timer:1]",
	} {
		data := corpus.Trace(t, file).Data
		table, threads := scanned(t, data, nil), map[*ntconv.Thread]bool{}
		src, err := reader.NewBytes(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range ntconv.Events(src) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Thread != nil {
				threads[e.Thread] = true
			}
		}
		got := map[string]int{}
		for th := range threads {
			got[table.ThreadName(th)]++
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", file, got, want)
		}
	}
}
