package payload

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/schema"
)

// A workload is a list of copied events of a trace, with their schemas.
type workload struct {
	events  []*ntconv.Event
	schemas []*schema.Schema
	bytes   int64
}

// load returns the events of a trace in testdata that have a payload. If name is not empty, it returns only the events
// with this name.
func load(tb testing.TB, trace, name string) (w workload) {
	var table schema.Table
	eachEvent(corpus.Trace(tb, trace).Data, func(e *ntconv.Event) {
		s := table.Of(e)
		if len(e.Payload) == 0 || name != "" && s.Name != name {
			return
		}
		w.events, w.schemas = append(w.events, e.Clone()), append(w.schemas, s)
		w.bytes += int64(len(e.Payload))
	})
	if len(w.events) == 0 {
		tb.Fatalf("%s has no %s", trace, name)
	}
	return w
}

var workloads = []struct{ trace, name string }{
	{"alloc-verbose", "GCAllocationTick"}, {"cpu-env", "ThreadSample"}, {"cpu-env", "MethodDCEndVerbose"}, {"cpu-env", "GCSuspendEEBegin"}, {"waits-v6", "ProcessMapping"},
	{"counters", "EventCounters"}, {"gcdump", "BulkType"}, {"activities", ""}, {"sources", ""},
}

func BenchmarkEncoder(b *testing.B) {
	for _, c := range workloads {
		w := load(b, c.trace, c.name)
		b.Run(c.trace+"/"+c.name, func(b *testing.B) {
			var enc Encoder
			var dst []byte
			b.ReportAllocs()
			size, n := 0, 0
			for b.Loop() {
				for i, e := range w.events {
					dst, _ = enc.Append(dst[:0], e, w.schemas[i])
					size += len(dst)
				}
				n += len(w.events)
			}
			report(b, n, size)
		})
	}
}

// report reports the time per event and the bytes of JSON per second.
func report(b *testing.B, events, size int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
	b.ReportMetric(float64(size)/float64(events), "B/event")
	b.ReportMetric(float64(size)/1e6/b.Elapsed().Seconds(), "MB/s")
}

func BenchmarkDecoder(b *testing.B) {
	for _, c := range workloads {
		w := load(b, c.trace, c.name)
		var enc Encoder
		var documents [][]byte
		var decoders []*Decoder
		known := map[*schema.Schema]*Decoder{}
		for i, e := range w.events {
			text, exact := enc.Append(nil, e, w.schemas[i])
			fields, ok := enc.Layout(w.schemas[i])
			if !exact || !ok {
				continue
			}
			if known[w.schemas[i]] == nil {
				known[w.schemas[i]] = NewDecoder(fields, e.PointerSize())
			}
			documents, decoders = append(documents, text), append(decoders, known[w.schemas[i]])
		}
		if len(documents) == 0 {
			continue
		}
		b.Run(c.trace+"/"+c.name, func(b *testing.B) {
			var dst []byte
			b.ReportAllocs()
			size, n := 0, 0
			for b.Loop() {
				for i, text := range documents {
					dst, _ = decoders[i].Append(dst[:0], text)
					size += len(text)
				}
				n += len(documents)
			}
			report(b, n, size)
		})
	}
}

func BenchmarkProgram(b *testing.B) {
	for _, c := range workloads[:6] {
		w := load(b, c.trace, c.name)
		p := Compile(w.schemas[0])
		cells := make([]Cell, len(w.schemas[0].Fields))
		b.Run(c.trace+"/"+c.name, func(b *testing.B) {
			var text []byte
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				for i, e := range w.events {
					if w.schemas[i] == w.schemas[0] {
						_, text, _ = p.Read(cells, text[:0], e.Payload, 8)
						n++
					}
				}
			}
			report(b, n, 0)
		})
	}
}

// TestAllocations checks that usual payloads are converted to JSON and to cells without an allocation.
func TestAllocations(t *testing.T) {
	for _, c := range workloads[:7] {
		w := load(t, c.trace, c.name)
		var enc Encoder
		dst := make([]byte, 0, 1<<20)
		each := func() {
			for i, e := range w.events {
				dst, _ = enc.Append(dst[:0], e, w.schemas[i])
			}
		}
		if n := testing.AllocsPerRun(3, each); n > 0 {
			t.Errorf("%s %s: %v allocations for %d events as JSON", c.trace, c.name, n, len(w.events))
		}
		programs := map[*schema.Schema]*Program{}
		var cells [64]Cell
		each = func() {
			for i, e := range w.events {
				s := w.schemas[i]
				if programs[s] == nil {
					programs[s] = Compile(s)
				}
				_, dst, _ = programs[s].Read(cells[:len(s.Fields)], dst[:0], e.Payload, e.PointerSize())
			}
		}
		if n := testing.AllocsPerRun(3, each); n > 0 {
			t.Errorf("%s %s: %v allocations for %d events as cells", c.trace, c.name, n, len(w.events))
		}
	}
}
