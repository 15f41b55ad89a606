package active_test

import (
	"runtime"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span/active"
)

// workTrace returns n operations of an event source on 16 threads.
func workTrace(tb testing.TB, n int) (*recording, []*ntconv.Thread) {
	r := record(tb)
	p := process(1)
	var threads []*ntconv.Thread
	for i := range 16 {
		threads = append(threads, thread(p, uint64(100+i)))
	}
	for i := range int64(n) {
		th := threads[i%16]
		r.work(th, 10*i, 10*i+100)
	}
	return r, threads
}

// BenchmarkIndex measures the time to build an index, and the memory per span.
func BenchmarkIndex(b *testing.B) {
	const spans = 100_000
	r, _ := workTrace(b, spans)
	r.index(nil) // sorts the events
	var before, after runtime.MemStats
	b.ResetTimer()
	for range b.N {
		runtime.GC()
		runtime.ReadMemStats(&before)
		x := r.index(nil)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if x.Len() != spans {
			b.Fatal(x.Len())
		}
		runtime.KeepAlive(x)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*spans), "ns/span")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/spans, "B/span")
}

// BenchmarkFind measures Find for samples in time order and in random order.
func BenchmarkFind(b *testing.B) {
	const spans = 100_000
	r, threads := workTrace(b, spans)
	x := r.index(nil)
	e := &ntconv.Event{Type: sampleType}
	for name, step := range map[string]int64{"ordered": 3, "random": 7_654_321} {
		b.Run(name, func(b *testing.B) {
			at := int64(0)
			for i := range b.N {
				at = (at + step) % (10 * spans)
				e.Thread, e.Time = threads[i%16], r.at(at)
				x.Find(e, active.All)
			}
		})
	}
}

// BenchmarkDetector measures Shows for a trace without spans, in which two types of events alternate.
func BenchmarkDetector(b *testing.B) {
	r := record(b)
	th := thread(process(1), 10)
	events := []*ntconv.Event{r.sample(th, 1), r.add(th, 1, noteType, nil)}
	d := active.NewDetector()
	b.ResetTimer()
	for i := range b.N {
		if d.Shows(events[i%2]) {
			b.Fatal("shown")
		}
	}
}
