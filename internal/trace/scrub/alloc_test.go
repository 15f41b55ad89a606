package scrub_test

import (
	"bytes"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/trace/scrub"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
)

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
