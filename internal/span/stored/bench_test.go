package stored_test

import (
	"fmt"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/stored"
)

// typical returns spans like those of a web service: eight attributes each, and a shared scope and resource with eight
// attributes.
func typical(n int) (spans []*span.Span) {
	attributes := func(prefix string) (list []span.Attribute) {
		for i := range 8 {
			v := span.String(fmt.Sprintf("value %d of %s", i, prefix))
			if i%4 == 0 {
				v = span.Int(200)
			}
			list = append(list, span.Attribute{Key: fmt.Sprintf("%s.attribute%d", prefix, i), Value: v})
		}
		return list
	}
	scope, resource := &span.Scope{Name: "scope"}, &span.Resource{Attributes: attributes("service")}
	for i := range n {
		spans = append(spans, &span.Span{
			Context: span.Context{TraceID: span.TraceID{1, byte(i)}, ID: span.ID{1, byte(i), byte(i >> 8)}}, Name: "GET /cart/{id}", Kind: span.KindServer,
			Start: uint64(i), End: uint64(i + 5), Attributes: attributes("http"), Scope: scope, Resource: resource,
		})
	}
	return spans
}

func perSpan(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/span")
}

func BenchmarkEncoder(b *testing.B) {
	spans, thread := typical(1000), newThread()
	enc := stored.NewEncoder(stored.Spans)
	like := &ntconv.Event{Thread: thread, Capture: thread}
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range spans {
			for enc.Encode(s, like); enc.Next() != nil; {
			}
		}
	}
	perSpan(b, len(spans))
}

func BenchmarkDecoder(b *testing.B) {
	events := encode(newThread(), typical(1000)...)
	d := stored.NewDecoder(stored.Spans, nil)
	b.ReportAllocs()
	for b.Loop() {
		for _, e := range events {
			if _, ok := d.Decode(e); !ok {
				b.Fatal("no span")
			}
		}
	}
	perSpan(b, len(events))
}
