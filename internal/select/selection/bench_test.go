package selection

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span/active"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
)

// BenchmarkLearn measures the reading ahead of traces with pairs (jit) and with samples only, for expressions about
// something else, about compilations, and about spans. The unit is an event.
func BenchmarkLearn(b *testing.B) {
	for _, trace := range []string{"jit", "cpu-env"} {
		events, info := recorded(b, trace)
		for _, text := range []string{"contention", "jit", "span", "pair"} {
			b.Run(trace+"/"+text, func(b *testing.B) {
				for b.Loop() {
					f := NewDuringFilter(parse(b, text))
					see, end := f.Learn(info)
					for _, e := range events {
						see(e)
					}
					end()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
			})
		}
	}
}

// BenchmarkKeep measures the selection of events.
func BenchmarkKeep(b *testing.B) {
	events, info := recorded(b, "jit")
	for _, text := range []string{"contention", "jit", "pair"} {
		f := NewDuringFilter(parse(b, text))
		see, end := f.Learn(info)
		for _, e := range events {
			see(e)
		}
		end()
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, e := range events {
					f.Keep(e, active.All)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
		})
	}
}

func recorded(tb testing.TB, trace string) ([]*ntconv.Event, *ntconv.Info) {
	tb.Helper()
	src, err := reader.NewBytes(corpus.Trace(tb, trace).Data, nil)
	if err != nil {
		tb.Fatal(err)
	}
	events, err := ntconvtest.Record(src)
	if err != nil {
		tb.Fatal(err)
	}
	return events, src.Info()
}

func parse(tb testing.TB, text string) []*DuringCondition {
	tb.Helper()
	c, err := ParseDuring(text)
	if err != nil {
		tb.Fatal(err)
	}
	return []*DuringCondition{c}
}
