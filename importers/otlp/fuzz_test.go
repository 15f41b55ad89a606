package otlp

import (
	"bufio"
	"bytes"
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collect returns copies of the spans that a decoder yields, and the error that ends them if that is not io.EOF.
func collect(s spans) (list []*span.Span, err error) {
	for {
		one, err := s.next()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, spangen.Clone(one))
	}
}

// seeds returns small messages.
func seeds() (list []*tracepb.TracesData) {
	for i := range 5 {
		list = append(list, spangen.Proto(spangen.Spans().Example(i)))
	}
	return list
}

// FuzzProtobuf: whatever google.golang.org/protobuf decodes is decoded to the same spans, and nothing else panics.
func FuzzProtobuf(f *testing.F) {
	for _, data := range seeds() {
		b, err := proto.Marshal(data)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		Recognize(input)
		var report ntconv.Report
		d := &decoder{limits: Limits{Depth: span.MaxDepth, Message: 1 << 20}.Defaults(), report: &report}
		got, err := collect(newProtoReader(bufio.NewReader(bytes.NewReader(input)), formProto, d))
		data := new(tracepb.TracesData)
		if proto.Unmarshal(input, data) != nil {
			return
		}
		for _, rs := range data.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				if len(ss.Spans) > 0 {
					if first, err := proto.Marshal(ss.Spans[0]); err != nil || signalOf(first) != traces {
						return // refused, or decoded as what it merely may be
					}
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		want := spangen.FromProto(data)
		if len(got) != len(want) {
			t.Fatalf("want %d spans, got %d", len(want), len(got))
		}
		for i := range want {
			if err := spangen.Equal(want[i], got[i]); err != nil {
				t.Fatal(err)
			}
		}
	})
}
