package tracegen_test

import (
	"bytes"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/pprof"
	"github.com/ntconv/ntconv/internal/testing/tracegen"
	"github.com/ntconv/ntconv/internal/trace/wire"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// TestWrite: a generated trace is valid for the strict reader, contains what Stats states, and every frame has a
// symbol.
func TestWrite(t *testing.T) {
	for _, o := range []tracegen.Options{
		{Version: wire.V4, Events: 30_000},
		{Version: wire.V4, Bytes: 1 << 20, Unsorted: true, Window: 1000},
		{Version: wire.V4, Events: 3000, Window: -1, Threads: 3, Stacks: 70, Depth: 5, Payload: 8},
		{Version: wire.V6, Events: 30_000},
		{Version: wire.V6, Bytes: 1 << 20, Unsorted: true, Window: 1000},
		{Version: wire.V6, Events: 3000, Window: -1, Threads: 3, Stacks: 70, Depth: 5, Payload: 8},
	} {
		var b, out bytes.Buffer
		stats, err := tracegen.Write(&b, o)
		if err != nil {
			t.Fatal(err)
		}
		if int64(b.Len()) != stats.Bytes || o.Events > 0 && stats.Events < o.Events || stats.Bytes < o.Bytes {
			t.Errorf("%+v: %d bytes, %+v", o, b.Len(), stats)
		}
		var report ntconv.Report
		src, err := reader.New(&b, &reader.Options{Strict: true, Report: &report})
		if err != nil {
			t.Fatal(err)
		}
		names := symbol.New(nil)
		sink := pprof.New(&out, src.Info(), names, nil)
		events := int64(0)
		watch := ntconv.Observe(symbol.Watch(src, names), func(e *ntconv.Event) {
			if e.Kind == ntconv.KindEvent && e.Type.Provider != "Microsoft-Windows-DotNETRuntimeRundown" && e.Type.Provider != "Universal.System" {
				events++
			}
		})
		if _, err := ntconv.Copy(sink, watch); err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		if list := report.Entries(); len(list) > 0 || events != stats.Events {
			t.Errorf("%+v: %d events, want %d; %v", o, events, stats.Events, list)
		}
		if s := sink.Summary(); int64(s.Events) != stats.Samples || s.Unresolved.Frames != 0 {
			t.Errorf("%+v: %+v, want %d samples and all names", o, s, stats.Samples)
		}
		if p, err := profile.Parse(&out); err != nil || p.CheckValid() != nil {
			t.Errorf("%+v: %v, %v", o, err, p.CheckValid())
		}
	}
}

// TestShapes: a reader recognizes every shape as a trace. A shape grows with n, and ends as Many states.
func TestShapes(t *testing.T) {
	for _, s := range tracegen.Shapes() {
		var small, large bytes.Buffer
		if err := s.Write(&small, 100); err != nil {
			t.Fatal(err)
		}
		if s.Many {
			if err := s.Write(&large, 21_000); err != nil || large.Len() <= small.Len() {
				t.Errorf("%s does not grow: %v", s.Name, err)
			}
		}
		src, err := reader.New(&small, &reader.Options{Order: reader.FileOrder})
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		for _, err := range ntconv.Events(src) {
			if err != nil && s.Many {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	}
}
