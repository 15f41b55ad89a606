package otlp_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/importers/otlp"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/spangen"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// service returns a message of spans such as a web service sends: eight attributes each, and a resource of eight.
func service(spans int) *tracepb.TracesData {
	attributes := func(prefix string) (list []*commonpb.KeyValue) {
		for i := range 8 {
			v := &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: fmt.Sprintf("value %d of %s", i, prefix)}}
			if i%4 == 0 {
				v = &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: 200}}
			}
			list = append(list, &commonpb.KeyValue{Key: fmt.Sprintf("%s.attribute%d", prefix, i), Value: v})
		}
		return list
	}
	data := oneScope()
	for i := range spans {
		if i%512 == 0 {
			data.ResourceSpans = append(data.ResourceSpans, &tracepb.ResourceSpans{
				Resource: resource(attributes("service")), ScopeSpans: []*tracepb.ScopeSpans{{Scope: &commonpb.InstrumentationScope{Name: "scope"}}},
			})
		}
		s := validSpan("GET /cart/{id}")
		s.SpanId = []byte(fmt.Sprintf("%08d", i))
		s.StartTimeUnixNano, s.EndTimeUnixNano = 1_772_323_198_250_000_000+uint64(i)*1000, 1_772_323_198_255_000_000+uint64(i)*1000
		s.Attributes = attributes("http")
		last := data.ResourceSpans[len(data.ResourceSpans)-1].ScopeSpans[0]
		last.Spans = append(last.Spans, s)
	}
	return data
}

// The source's cost per span, and that of decoding its events again.
func BenchmarkSource(b *testing.B) {
	const spans = 4096
	data := service(spans)
	for name, input := range map[string][]byte{"protobuf": marshal(b, data), "JSON": spangen.JSON(data, spangen.Style{})} {
		for _, decode := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/decode=%v", name, decode), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(input)))
				for b.Loop() {
					src, err := otlp.New(bytes.NewReader(input), nil)
					if err != nil {
						b.Fatal(err)
					}
					d := span.NewDecoder(nil)
					for {
						e, err := src.Next()
						if err == io.EOF {
							break
						}
						if err != nil {
							b.Fatal(err)
						}
						if decode && e.Kind == ntconv.KindEvent {
							if _, ok := d.Decode(e); !ok {
								b.Fatal("no span")
							}
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/spans, "ns/span")
			})
		}
	}
}
