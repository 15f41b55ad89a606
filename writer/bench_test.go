package writer_test

import (
	"io"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/writer"
)

// BenchmarkWrite writes the events of a trace from memory, without the cost of the reader.
func BenchmarkWrite(b *testing.B) {
	for _, name := range []string{
		"nettrace/perfview-dotnetcore3.0-win-x64", "nettrace/perfview-only-managed-samples", // samples
		"nettrace/onecollect-3windows-v6",
		"nettrace/roslyn-compile-net10", "nettrace/roslyn-compile-v6", // payloads
		"nettrace/perfview-heartratemonitor-arm32", "own/cpu-default",
	} {
		b.Run(name, func(b *testing.B) {
			f := corpus.SharedTrace(b, name)
			src := read(b, f.Data)
			events, err := ntconvtest.Record(src)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(f.Data)))
			b.ReportAllocs()
			for b.Loop() {
				w, err := writer.New(io.Discard, src.Info(), nil)
				if err != nil {
					b.Fatal(err)
				}
				for _, e := range events {
					if err := w.Write(e); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			nanos := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(len(events))
			b.ReportMetric(nanos, "ns/event")
			b.ReportMetric(1000/nanos, "Mevents/s")
		})
	}
}
