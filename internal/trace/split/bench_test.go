package split_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/reader"
)

func generated(b *testing.B) []byte {
	b.Helper()
	var buf bytes.Buffer
	if _, err := tracegen.Write(&buf, tracegen.Options{Version: wire.V6, Bytes: 64 << 20}); err != nil {
		b.Fatal(err)
	}
	return buf.Bytes()
}

// splitTo splits a trace in time order, including both readings.
func splitTo(b *testing.B, data []byte, text string, create func(*ntconv.Info, split.Part) (ntconv.Sink, error)) {
	b.Helper()
	every, err := split.ParseEvery(text)
	if err != nil {
		b.Fatal(err)
	}
	open := func() ntconv.Source {
		src, err := reader.New(bytes.NewReader(data), nil)
		if err != nil {
			b.Fatal(err)
		}
		return src
	}
	src := open()
	scan, err := split.NewScan(src.Info(), every, true, nil)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := ntconv.Copy(scan, src); err != nil {
		b.Fatal(err)
	}
	if err := scan.Close(); err != nil {
		b.Fatal(err)
	}
	src = open()
	s, err := split.New(src.Info(), scan, &split.Options{
		Create: func(p split.Part) (ntconv.Sink, error) { return create(src.Info(), p) },
		Part:   split.Part{ID: "bench", Every: text, ByTime: true},
	})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := ntconv.Copy(s, src); err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSplit splits a generated trace of 64 MiB: both readings and the writing, without a disk.
func BenchmarkSplit(b *testing.B) {
	data := generated(b)
	for _, every := range []string{"1s", "process", "$tid"} {
		b.Run(every, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				splitTo(b, data, every, func(info *ntconv.Info, p split.Part) (ntconv.Sink, error) {
					return sinkWithBlocks(io.Discard, info, p, 1<<20)
				})
			}
		})
	}
}

// BenchmarkJoin joins the parts of a generated trace of 64 MiB and writes the trace, without a disk.
func BenchmarkJoin(b *testing.B) {
	data := generated(b)
	for _, every := range []string{"1s", "$tid"} {
		b.Run(every, func(b *testing.B) {
			var outputs []*bytes.Buffer
			splitTo(b, data, every, func(info *ntconv.Info, p split.Part) (ntconv.Sink, error) {
				outputs = append(outputs, &bytes.Buffer{})
				return sinkWithBlocks(outputs[len(outputs)-1], info, p, 1<<20)
			})
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				joinTo(b, outputs)
			}
		})
	}
}

func joinTo(b *testing.B, outputs []*bytes.Buffer) {
	b.Helper()
	var sources []ntconv.Source
	for _, p := range outputs {
		src, err := reader.New(bytes.NewReader(p.Bytes()), &reader.Options{Order: reader.FileOrder})
		if err != nil {
			b.Fatal(err)
		}
		sources = append(sources, src)
	}
	j, err := split.Join(sources...)
	if err != nil {
		b.Fatal(err)
	}
	w, err := sinkWithBlocks(io.Discard, j.Info(), split.Part{ByTime: true}, 1<<20)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := ntconv.Copy(w, j); err != nil {
		b.Fatal(err)
	}
}
