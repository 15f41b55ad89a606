package perfetto

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/kind"
)

// benchItems returns items of one kind in time order. Their names and stacks repeat, as in real traces.
func benchItems(s *scenario, k timeline.Kind, n int) []timeline.Item {
	list := make([]timeline.Item, n)
	w := &timeline.Weight{Kind: kind.Wall, Types: wallTypes, Values: []int64{1, 1e6}}
	for i := range list {
		it := timeline.Item{Kind: k, Time: int64(i) * 12345, Track: s.tracks[2+i%2], ID: uint64(i + 1), Name: fmt.Sprintf("name %d", i%50), Category: "Provider"}
		switch k {
		case timeline.Counter:
			it.Track, it.Value = s.tracks[4], float64(i%100)
		case timeline.Sample:
			it.Stack, it.Weight = timeline.Node(i%len(s.tree.nodes)), w
		default:
			it.Encoded = s.args.append(nil, &timeline.Source{Values: []timeline.Value{
				{Name: "text", Text: "a value that repeats"}, {Name: "number", Kind: timeline.IntValue, Int: int64(i) * 1000}, {Name: "address", Kind: timeline.IntValue, Int: 0x7f00_1234_0000 + int64(i)},
			}})
		}
		list[i] = it
	}
	return list
}

// TestItemsDoNotAllocate encodes items whose names and stacks are known.
func TestItemsDoNotAllocate(t *testing.T) {
	for _, o := range []Options{{}, {Samples: StackSamples}, {Plain: true}} {
		for _, k := range []timeline.Kind{timeline.Instant, timeline.Counter, timeline.Sample, timeline.SliceBegin, timeline.SliceEnd} {
			s := newScenario(rand.New(rand.NewPCG(1, 1)))
			items := benchItems(s, k, 20000)
			e := newEncoder(io.Discard, s.tree, scenarioStart, &o)
			if err := e.begin(s.tracks, s.args); err != nil {
				t.Fatal(err)
			}
			encode := func() {
				e.last = 0
				e.samples.kinds[kind.Wall].last = 0
				for i := range items {
					if err := e.item(&items[i]); err != nil {
						t.Fatal(err)
					}
				}
			}
			encode()
			if n := testing.AllocsPerRun(1, encode); n > 2 {
				t.Errorf("%+v, kind %d: %.0f allocations for %d items", o, k, n, len(items))
			}
		}
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
			s := newScenario(rand.New(rand.NewPCG(1, 1)))
			items := benchItems(s, c.kind, 100_000)
			size := counter(0)
			b.ReportAllocs()
			for b.Loop() {
				size = 0
				e := newEncoder(&size, s.tree, scenarioStart, &c.o)
				if err := e.begin(s.tracks, s.args); err != nil {
					b.Fatal(err)
				}
				for i := range items {
					if err := e.item(&items[i]); err != nil {
						b.Fatal(err)
					}
				}
				if err := e.finish(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(items)), "ns/item")
			b.ReportMetric(float64(size)/float64(len(items)), "B/item")
		})
	}
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// eventsOf returns copies of the events of a trace.
func eventsOf(tb testing.TB, name string) (events []*ntconv.Event) {
	src, _ := source(tb, corpus.Trace(tb, name).Data)
	for e, err := src.Next(); err != io.EOF; e, err = src.Next() {
		if err != nil {
			tb.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			events = append(events, e.Clone())
		}
	}
	return events
}

// BenchmarkArgs encodes the payloads of a real trace.
func BenchmarkArgs(b *testing.B) {
	events := eventsOf(b, "jit")
	a := newArgEncoder(nil)
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		for _, e := range events {
			dst = a.append(dst[:0], &timeline.Source{Event: e})
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
