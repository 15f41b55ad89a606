package perfetto

import (
	"fmt"
	"testing"

	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
)

// benchItems sets the items to some of one kind in time order. Their names and stacks repeat, as in real traces.
func benchItems(s *scenario, k timeline.Kind, n int) {
	s.Items = nil
	w := &timeline.Weight{Kind: sample.Wall, Types: timelines.Wall, Values: []int64{1, 1e6}}
	for i := range n {
		it := timeline.Item{Kind: k, Time: int64(i) * 12345, Track: s.Shown[2+i%2], ID: uint64(i + 1), Name: fmt.Sprintf("name %d", i%50), Category: "Provider"}
		switch k {
		case timeline.Counter:
			it.Track, it.Value = s.Shown[4], float64(i%100)
		case timeline.Sample:
			it.Stack, it.Weight = timeline.Node(i%len(s.Tree)), w
		default:
			it.Encoded = s.args.append(nil, &timeline.Source{Attributes: []span.Attribute{
				{Key: "text", Value: span.String("a value that repeats")}, {Key: "number", Value: span.Int(int64(i) * 1000)}, {Key: "address", Value: span.Int(0x7f00_1234_0000 + int64(i))},
			}})
		}
		s.Add(it)
	}
}

func BenchmarkEncoder(b *testing.B) {
	for _, c := range []struct {
		name string
		kind timeline.Kind
		o    Options
	}{
		{"instants", timeline.Instant, Options{}}, {"instants-plain", timeline.Instant, Options{Plain: true}}, {"counters", timeline.Counter, Options{}},
		{"samples", timeline.Sample, Options{}}, {"samples-plain", timeline.Sample, Options{Plain: true}},
		{"stack-samples", timeline.Sample, Options{Samples: StackSamples}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := newScenario(1)
			benchItems(s, c.kind, 100_000)
			size := counter(0)
			b.ReportAllocs()
			for b.Loop() {
				size = 0
				if err := newEncoder(&size, s, 0, &c.o).write(s.args); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(s.Items)), "ns/item")
			b.ReportMetric(float64(size)/float64(len(s.Items)), "B/item")
		})
	}
}

// BenchmarkArgs encodes the payloads of a real trace.
func BenchmarkArgs(b *testing.B) {
	events := timelines.Events(b, "jit")
	a, src := newArgEncoder(nil), new(timeline.Source)
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		for _, e := range events {
			src.Event = e
			dst = a.append(dst[:0], src)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
}

// BenchmarkSink converts real traces.
func BenchmarkSink(b *testing.B) {
	for _, name := range []string{"jit", "cpu-default"} {
		b.Run(name, func(b *testing.B) {
			data := corpus.Trace(b, name).Data
			var events int64
			for b.Loop() {
				_, done := convert(b, data, nil)
				events = done.Events
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(int64(b.N)*events), "ns/event")
		})
	}
}
