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
	})
	if len(w.events) == 0 {
		tb.Fatalf("%s has no %s", trace, name)
	}
	return w
}

// TestAllocations checks that usual payloads are converted to JSON and to cells without an allocation.
func TestAllocations(t *testing.T) {
	for _, c := range []struct{ trace, name string }{
		{"alloc-verbose", "GCAllocationTick"}, {"cpu-env", "ThreadSample"}, {"cpu-env", "MethodDCEndVerbose"}, {"cpu-env", "GCSuspendEEBegin"},
		{"waits-v6", "ProcessMapping"}, {"counters", "EventCounters"}, {"gcdump", "BulkType"},
	} {
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
