package otlp

import (
	"io"
	"runtime"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/reader"
)

// TestMemory checks that memory does not depend on the number of spans.
func TestMemory(t *testing.T) {
	n := int64(20_000)
	if testing.Short() {
		n /= 4
	}
	for form := range formNames {
		held(t, Form(form), n) // allocations of the first run are not counted
		small, large := held(t, Form(form), n), held(t, Form(form), 4*n)
		if large > small+small/4 { // 10 bytes per span would be more
			t.Errorf("%s: %d KiB in use after %d spans, %d KiB after %d", formNames[form], small>>10, n, large>>10, 4*n)
		}
		t.Logf("%s: %d KiB", formNames[form], large>>10)
	}
}

// held returns how much memory is in use after a number of spans.
func held(t *testing.T, form Form, spans int64) int64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // frees the contents of pools
	runtime.ReadMemStats(&before)
	in, out := io.Pipe()
	go func() {
		_, err := tracegen.WriteSpans(out, tracegen.SpanOptions{Spans: spans, Starts: 4})
		out.CloseWithError(err)
	}()
	src, err := reader.New(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	sink := NewFile(io.Discard, form, src.Info(), nil, nil)
	if _, err := ntconv.Copy(sink, src); err != nil {
		t.Fatal(err)
	}
	if err := sink.Flush(); err != nil {
		t.Fatal(err)
	}
	// How many batches were in use at the same time depends on the scheduler.
	sink.delivery.free = slices.Clone(sink.delivery.free[:1])
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if err := sink.Close(); err != nil || sink.Summary().Sent != spans {
		t.Fatalf("%v, %+v", err, sink.Summary())
	}
	runtime.KeepAlive(src)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}
