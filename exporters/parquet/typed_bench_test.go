package parquet

import (
	"io"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/schema"
)

// eventsNamed returns copies of the events of that name in a trace.
func eventsNamed(t testing.TB, trace, name string) (info *ntconv.Info, events []*ntconv.Event) {
	t.Helper()
	var schemas schema.Table
	eachEvent(t, corpus.Trace(t, trace), func(i *ntconv.Info, e *ntconv.Event) {
		if schemas.Of(e).Name == name {
			kept := *e
			kept.Payload = slices.Clone(e.Payload)
			info, events = i, append(events, &kept)
		}
	})
	if len(events) == 0 {
		t.Fatalf("%s has no events %s", trace, name)
	}
	return info, events
}

// discard is a file that discards everything.
type discard struct{ io.Writer }

func (discard) Close() error { return nil }

// BenchmarkTyped measures typed tables from the event to the file: b.N events of a real trace again and again.
func BenchmarkTyped(b *testing.B) {
	for _, c := range []struct{ trace, event string }{
		{"alloc-verbose", "GCAllocationTick"}, {"cpu-default", "ThreadSample"}, {"cpu-default", "MethodDCEndVerbose"},
	} {
		b.Run(c.event, func(b *testing.B) {
			info, events := eventsNamed(b, c.trace, c.event)
			sink, err := New(func(string) (io.WriteCloser, error) { return discard{io.Discard}, nil }, info, nil, &Options{
				Typed: []string{"all"}, Tables: []string{Typed}, Ordered: true, TempDir: b.TempDir(),
			})
			if err != nil {
				b.Fatal(err)
			}
			var schemas schema.Table
			part, it := sink.parts[0], item{process: 1, pid: 4711}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N { // not b.Loop, which would not measure Close
				e := events[i%len(events)]
				it.id += 3
				it.nanos += 10_000 + int64(i*7919%5000)
				it.thread = int32(i / 50 % 40)
				it.tid = int64(it.thread) + 1000
				it.stack = int64(i*7919%3000) + 1
				it.schema = schemas.Of(e)
				if err := part.write(e, &it); err != nil {
					b.Fatal(err)
				}
			}
			if err := sink.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
