package scrub_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/trace/scrub"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// BenchmarkScrub reads, scrubs and writes traces. The throughput is that of the decompressed input.
func BenchmarkScrub(b *testing.B) {
	for _, name := range []string{"cpu-env", "jit", "sources", "spans-stop", "alloc-verbose"} {
		data := corpus.Trace(b, name).Data
		for _, scrubs := range []bool{false, true} {
			what := map[bool]string{false: "rewrite", true: "scrub"}[scrubs]
			b.Run(name+"/"+what, func(b *testing.B) {
				s, err := scrub.New(scrub.Options{Key: key})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					var src ntconv.Source
					if src, err = reader.New(bytes.NewReader(data), nil); err != nil {
						b.Fatal(err)
					}
					if scrubs {
						src = s.Source(src)
					}
					sink, err := writer.New(io.Discard, src.Info(), nil)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := ntconv.Copy(sink, src); err != nil {
						b.Fatal(err)
					}
					if err := sink.Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// A repeater repeats the events of a trace.
type repeater struct {
	info   *ntconv.Info
	events []*ntconv.Event
	next   int
}

func (r *repeater) Info() *ntconv.Info { return r.info }

func (r *repeater) Next() (*ntconv.Event, error) {
	r.next = (r.next + 1) % len(r.events)
	return r.events[r.next], nil
}

// recorded returns the events of a trace in testdata.
func recorded(tb testing.TB, name string) *repeater {
	src, err := reader.New(bytes.NewReader(corpus.Trace(tb, name).Data), nil)
	if err != nil {
		tb.Fatal(err)
	}
	events, err := ntconvtest.Record(src)
	if err != nil {
		tb.Fatal(err)
	}
	return &repeater{info: src.Info(), events: events}
}

// BenchmarkEvents scrubs events alone. The throughput is that of the payloads.
func BenchmarkEvents(b *testing.B) {
	for _, name := range []string{"cpu-env", "jit", "sources", "spans-stop"} {
		b.Run(name, func(b *testing.B) {
			r := recorded(b, name)
			s, err := scrub.New(scrub.Options{Key: key})
			if err != nil {
				b.Fatal(err)
			}
			src := s.Source(r)
			total := 0
			for _, e := range r.events {
				total += len(e.Payload)
			}
			b.SetBytes(int64(total / len(r.events)))
			for b.Loop() {
				if _, err := src.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Once its texts are known, an event costs no allocation.
func TestAllocations(t *testing.T) {
	for _, name := range []string{"cpu-env", "cpu-v6", "jit", "alloc-verbose", "spans-stop"} {
		r := recorded(t, name)
		s, err := scrub.New(scrub.Options{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		src := s.Source(r)
		run := func() {
			for range r.events {
				if _, err := src.Next(); err != nil {
					t.Fatal(err)
				}
			}
		}
		run()
		run()
		if n := testing.AllocsPerRun(3, run) / float64(len(r.events)); n > 0.01 {
			t.Errorf("%s: %.3f allocations per event", name, n)
		}
	}
}
