package reader

import (
	"bytes"
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/wiretest"
)

// BenchmarkReader reads whole traces in memory, and as streams, which costs a copy. It reads small traces of testdata,
// and larger ones if they exist next to the checkout. Compare the results with BenchmarkPlainLoop of internal/trace/wire for
// the same file, which does not read tables, check anything or resolve references.
func BenchmarkReader(b *testing.B) {
	bench := func(name string, load func(*testing.B) []byte) {
		b.Run(name+"/file", func(b *testing.B) { benchRead(b, load(b), FileOrder, NewBytes) })
		b.Run(name+"/time", func(b *testing.B) { benchRead(b, load(b), ByTime, NewBytes) })
		b.Run(name+"/stream", func(b *testing.B) {
			benchRead(b, load(b), FileOrder, func(data []byte, opts *Options) (*Reader, error) {
				return New(bytes.NewReader(data), opts)
			})
		})
	}
	for _, name := range []string{"cpu-env", "threads-reused", "cpu-v6", "cpu-netperf3"} {
		bench(name, func(b *testing.B) []byte { return corpus.Trace(b, name).Data })
	}
	for _, name := range []string{"perfview-dotnetcore3.0-win-x64", "roslyn-compile-net10", "perfview-only-managed-samples",
		"perfview-heartratemonitor-arm32", "onecollect-3windows-v6", "roslyn-compile-v6"} {
		bench(name, func(b *testing.B) []byte { return corpus.SharedTrace(b, "nettrace/"+name).Data })
	}
}

func benchRead(b *testing.B, data []byte, order Order, open func([]byte, *Options) (*Reader, error)) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	events := 0
	var pace wiretest.Pace
	for b.Loop() {
		pace.Start()
		r, err := open(data, &Options{Order: order})
		if err != nil {
			b.Fatal(err)
		}
		for events = 0; ; {
			e, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			if e.Kind == ntconv.KindEvent {
				events++
			}
		}
		pace.Stop()
	}
	pace.Report(b, events)
}
