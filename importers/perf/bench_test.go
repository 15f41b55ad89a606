package perf_test

import (
	"bytes"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/perf"
)

// BenchmarkNew reads a text whose lines repeat, as those of a long recording do.
func BenchmarkNew(b *testing.B) {
	text := bytes.Repeat(file(b, "go.perf.zst"), 200)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		src, err := perf.New(bytes.NewReader(text), nil)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for e, err := range ntconv.Events(src) {
			if err != nil {
				b.Fatal(err)
			}
			if e.Kind == ntconv.KindEvent {
				n++
			}
		}
		if err := src.Close(); err != nil || n < 10_000 {
			b.Fatal(n, err)
		}
	}
}
