package symbol_test

import (
	"runtime"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/symbol"
)

// heapOf returns the size of the heap that a value retains, in bytes.
func heapOf[T any](make func() T) (T, uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // sync.Pool releases its values in the second cycle
	runtime.ReadMemStats(&before)
	keep := make()
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc < before.HeapAlloc {
		return keep, 0
	}
	return keep, after.HeapAlloc - before.HeapAlloc
}

func recorded(tb testing.TB, name string) []*ntconv.Event {
	tb.Helper()
	events, err := ntconvtest.Record(open(tb, trace(tb, name)))
	if err != nil {
		tb.Fatal(err)
	}
	return events
}

// BenchmarkObserve measures learning from a whole trace, per event.
func BenchmarkObserve(b *testing.B) {
	for _, name := range []string{"roslyn-compile-net10", "roslyn-compile-v6", "perfview-dotnetcore3.0-win-x64"} {
		b.Run(name, func(b *testing.B) {
			events := recorded(b, name)
			table, heap := heapOf(func() *symbol.Table {
				t := symbol.New(nil)
				for _, e := range events {
					t.Observe(e)
				}
				return t
			})
			b.ReportAllocs()
			for b.Loop() {
				t := symbol.New(nil)
				for _, e := range events {
					t.Observe(e)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
			b.ReportMetric(float64(heap), "heap-B")
			runtime.KeepAlive(table)
		})
	}
}

// BenchmarkAppendFrames measures resolving all stacks of a trace with a table that has seen the whole trace, per frame.
func BenchmarkAppendFrames(b *testing.B) {
	for _, name := range []string{"roslyn-compile-net10", "roslyn-compile-v6"} {
		b.Run(name, func(b *testing.B) {
			events := recorded(b, name)
			t := symbol.New(nil)
			for _, e := range events {
				t.Observe(e)
			}
			var frames []ntconv.Frame
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n = 0
				for _, e := range events {
					if e.Kind == ntconv.KindEvent && e.Stack != nil {
						frames = t.AppendFrames(frames[:0], e.Thread.Process, e.Stack, e.Time)
						n += len(frames)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/frame")
		})
	}
}

// BenchmarkEpoch measures computing the epoch of every stack as events are read, per event with a stack.
func BenchmarkEpoch(b *testing.B) {
	for _, name := range []string{"roslyn-compile-net10", "jit"} {
		b.Run(name, func(b *testing.B) {
			events := recorded(b, name)
			n := 0
			for b.Loop() {
				t := symbol.New(nil)
				n = 0
				for _, e := range events {
					if e.Kind != ntconv.KindEvent || e.Stack == nil {
						continue
					}
					if e.Type.Provider == "Microsoft-Windows-DotNETRuntime" {
						t.Observe(e)
					}
					t.Epoch(e.Thread.Process, e.Stack, e.Time)
					n++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/stack")
		})
	}
}
