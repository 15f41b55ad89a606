package otlp

import (
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
)

// BenchmarkFile writes spans of six attributes, without reading a trace.
func BenchmarkFile(b *testing.B) {
	spans := make([]*span.Span, 10_000)
	for i := range spans {
		spans[i] = numbered(i, shop)
	}
	for form, name := range []string{"json", "protobuf", "delimited"} {
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
