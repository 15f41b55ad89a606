package parquet

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// TestEventsDoNotAllocate: once types, threads, stacks and buffers are known, an event costs no allocation of its own.
func TestEventsDoNotAllocate(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: the race detector, under which the short tests run, empties pools of buffers")
	}
	const warm, measured = 40_000, 100_000
	var trace bytes.Buffer
	if _, err := tracegen.Write(&trace, tracegen.Options{Version: 4, Events: warm + measured + 1000}); err != nil {
		t.Fatal(err)
	}
	src, err := reader.New(&trace, &reader.Options{Order: reader.ByTime})
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(nil)
	create := func(string) (io.WriteCloser, error) { return byteCounter{new(int64)}, nil }
	sink, err := New(create, src.Info(), names, &Options{Ordered: true, TempDir: t.TempDir(), Tables: []string{"events", "labels", "stacks", "frames", "losses", "marks"}})
	if err != nil {
		t.Fatal(err)
	}
	// Reading allocates, too, so events are read before.
	var events []*ntconv.Event
	for e, err := range ntconv.Events(symbol.Watch(src, names)) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e.Clone())
	}
	write := func(events []*ntconv.Event) {
		for _, e := range events {
			if err := sink.Write(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(events[:warm])
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	write(events[warm : warm+measured])
	runtime.ReadMemStats(&after)
	if n := float64(after.Mallocs-before.Mallocs) / measured; n > 0.02 {
		t.Errorf("%.3f allocations per event, want at most 0.02", n)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestManyStacksNeedBoundedMemory: distinct stacks are written to a file, and only their sums are kept.
func TestManyStacksNeedBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it needs a million stacks")
	}
	const stacks, depth = 200_000, 40
	info := &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}, PointerSize: 8}
	create := func(string) (io.WriteCloser, error) { return byteCounter{new(int64)}, nil }
	sink, err := New(create, info, nil, &Options{Ordered: true, TempDir: t.TempDir(), Tables: []string{"stacks"}})
	if err != nil {
		t.Fatal(err)
	}
	typ, thread := &ntconv.Type{Provider: "P", ID: 1}, &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range stacks {
		pcs := make([]uint64, depth)
		for j := range pcs {
			pcs[j] = uint64(j % 8)
		}
		pcs[0] = uint64(i)
		if err := sink.Write(&ntconv.Event{Type: typ, Thread: thread, Capture: thread, Time: ntconv.Ticks(i), Stack: &ntconv.Stack{PCs: pcs}}); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := int64(after.HeapAlloc) - int64(before.HeapAlloc); n > stacks*100 {
		t.Errorf("%d bytes per stack are kept, want at most 100; a stack has %d", n/stacks, 8*depth)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}
