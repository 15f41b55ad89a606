package reader

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ntconv/ntconv"
)

// load returns a trace of the reference data, decompressed.
func load(tb testing.TB, path ...string) []byte {
	tb.Helper()
	packed, err := os.ReadFile(shared(tb, append([]string{"data"}, path...)...))
	if err != nil {
		tb.Fatal(err)
	}
	if filepath.Ext(path[len(path)-1]) != ".zst" {
		return packed
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer d.Close()
	data, err := d.DecodeAll(packed, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// BenchmarkReader reads whole traces. Compare ns/event with BenchmarkPlainLoop of internal/wire on the same file.
func BenchmarkReader(b *testing.B) {
	for _, name := range []string{"perfview-dotnetcore3.0-win-x64", "roslyn-compile-net10", "perfview-only-managed-samples", "onecollect-3windows-v6", "roslyn-compile-v6"} {
		data := load(b, "nettrace", name+".nettrace.zst")
		for _, order := range []struct {
			name  string
			order Order
		}{{"file", FileOrder}, {"time", ByTime}} {
			b.Run(name+"/"+order.name, func(b *testing.B) { benchRead(b, data, order.order) })
		}
	}
}

func benchRead(b *testing.B, data []byte, order Order) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	events := 0
	for b.Loop() {
		r, err := New(bytes.NewReader(data), &Options{Order: order})
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
