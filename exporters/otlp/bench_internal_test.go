package otlp

import (
	"bytes"
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/reader"
)

var formNames = []string{"json", "protobuf", "delimited"}

// BenchmarkFile writes spans of six attributes, without reading a trace.
func BenchmarkFile(b *testing.B) {
	spans := make([]*span.Span, 10_000)
	for i := range spans {
		spans[i] = numbered(i, shop)
	}
	for form, name := range formNames {
		b.Run(name, func(b *testing.B) {
			info := &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}
			s := NewFile(io.Discard, Form(form), info, nil, nil)
			b.ReportAllocs()
			for i := range b.N {
				s.add(spans[i%len(spans)])
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(s.Summary().Bytes / int64(b.N))
		})
	}
}

// BenchmarkTrace converts a generated trace of Activities in memory: decoding, tracking and writing. The time is per
// span.
func BenchmarkTrace(b *testing.B) {
	var trace bytes.Buffer
	stats, err := tracegen.WriteSpans(&trace, tracegen.SpanOptions{Spans: 20_000, Starts: 4})
	if err != nil {
		b.Fatal(err)
	}
	run := func(b *testing.B, sink func(info *ntconv.Info) ntconv.Sink) {
		b.ReportAllocs()
		b.SetBytes(stats.Bytes / stats.Samples)
		for done := int64(0); done < int64(b.N); done += stats.Samples {
			src, err := reader.New(bytes.NewReader(trace.Bytes()), nil)
			if err != nil {
				b.Fatal(err)
			}
			to := sink(src.Info())
			if _, err := ntconv.Copy(to, src); err != nil {
				b.Fatal(err)
			}
			if err := to.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("read", func(b *testing.B) { run(b, func(*ntconv.Info) ntconv.Sink { return nothing{} }) })
	for form, name := range formNames {
		b.Run(name, func(b *testing.B) {
			run(b, func(info *ntconv.Info) ntconv.Sink { return NewFile(io.Discard, Form(form), info, nil, nil) })
		})
	}
}

// nothing is a sink that does nothing.
type nothing struct{}

func (nothing) Write(*ntconv.Event) error { return nil }
func (nothing) Close() error              { return nil }
