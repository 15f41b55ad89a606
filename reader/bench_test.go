package reader

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/corpus"
)

// BenchmarkReader reads whole traces: small ones of testdata, and larger ones where they lie beside the checkout. Compare ns/event
// with BenchmarkPlainLoop of internal/wire on the same file.
func BenchmarkReader(b *testing.B) {
	bench := func(name string, load func(*testing.B) []byte) {
		for _, order := range []struct {
			name  string
			order Order
		}{{"file", FileOrder}, {"time", ByTime}} {
			b.Run(name+"/"+order.name, func(b *testing.B) { benchRead(b, load(b), order.order) })
		}
	}
	for _, name := range []string{"cpu-env", "threads-reused", "cpu-v6", "cpu-netperf3"} {
		bench(name, func(b *testing.B) []byte { return corpus.Trace(b, name).Data })
	}
	for _, name := range []string{"perfview-dotnetcore3.0-win-x64", "roslyn-compile-net10", "perfview-only-managed-samples", "onecollect-3windows-v6", "roslyn-compile-v6"} {
		bench(name, func(b *testing.B) []byte { return corpus.SharedTrace(b, "nettrace/"+name).Data })
	}
}

func benchRead(b *testing.B, data []byte, order Order) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	events := 0
	for b.Loop() {
		r, err := NewBytes(data, &Options{Order: order})
		if err != nil {
			b.Fatal(err)
		}
		for e, err := range ntconv.Events(r) {
			if err != nil {
				b.Fatal(err)
			}
			if e.Kind == ntconv.KindEvent {
				events++
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}
