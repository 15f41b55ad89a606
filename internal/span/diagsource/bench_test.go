package diagsource_test

import (
	"bytes"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/diagsource"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/schema"
)

// recorded is an event of the provider, kept, with its schema.
type recorded struct {
	event  *ntconv.Event
	schema *schema.Schema
}

// eventsOf returns the events of the provider in a trace.
func eventsOf(tb testing.TB, data []byte) (*ntconv.Info, []recorded) {
	tb.Helper()
	src, err := reader.New(bytes.NewReader(data), nil)
	if err != nil {
		tb.Fatal(err)
	}
	var table schema.Table
	var out []recorded
	for e, err := range ntconv.Events(src) {
		if err != nil {
			tb.Fatal(err)
		}
		if s := table.Of(e); s.Provider == diagsource.Provider {
			out = append(out, recorded{e.Clone(), s})
		}
	}
	return src.Info(), out
}

// BenchmarkAdd decodes the Activities of real traces again and again: of a program that records only the Stop events of spans with few tags,
// as most do, of a web application, and of one that records everything.
func BenchmarkAdd(b *testing.B) {
	cases := []struct{ name, trace string }{{"own", "own/spans-stop"}, {"web", "otel/otel-web-tags"}, {"events", "otel/otel-spans-events"}, {"both", "otel/otel-spans-both"}}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			info, all := eventsOf(b, corpus.SharedTrace(b, c.trace).Data)
			events := all[:0]
			for _, r := range all {
				if len(r.event.Payload) < 4096 { // spans with a hundred tags or events are no usual load
					events = append(events, r)
				}
			}
			spans := 0
			d := diagsource.New(info, func(*ntconv.Event, *span.Span) { spans++ }, nil)
			b.ReportAllocs()
			for b.Loop() {
				for _, r := range events {
					d.Add(r.event, r.schema)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(spans), "ns/span")
			b.ReportMetric(float64(spans)/float64(b.N), "spans/op")
		})
	}
}
