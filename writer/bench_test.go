package writer_test

import (
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/writer"
)

// BenchmarkWrite writes the events of a trace from memory: what the reader costs is not in it.
func BenchmarkWrite(b *testing.B) {
	for _, name := range []string{"nettrace/roslyn-compile-net10", "nettrace/roslyn-compile-v6", "own/cpu-default"} {
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
				if _, err := ntconv.Copy(w, ntconvtest.NewSource(src.Info(), events...)); err != nil {
					b.Fatal(err)
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(events)), "ns/event")
		})
	}
}
