package inventory_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/ntconv/ntconv/importers/chrome"
	"io"
	"maps"
	"math"
	"path/filepath"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/otlp"
	"github.com/ntconv/ntconv/internal/show/inventory"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
)

// The description of a trace has the counts of Microsoft's TraceEvent library, which printed every event.
func TestCountsAreThoseOfTheReference(t *testing.T) {
	for _, name := range []string{"cpu-v6", "threads", "exceptions", "three-processes-v6"} {
		want := map[[3]any]int64{}
		for line := range bytes.Lines(corpus.Read(t, corpus.Path(name+".events.jsonl.zst"))) {
			var e struct {
				Provider string
				ID       float64
				PID, TID uint64
			}
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			want[[3]any{e.Provider, e.ID, nil}]++
			want[[3]any{"thread", e.PID, e.TID}]++
		}
		d := describe(t, name)
		got := map[[3]any]int64{}
		for _, p := range d.Providers {
			for _, typ := range p.Types {
				got[[3]any{p.Name, float64(typ.ID), nil}] += typ.Events
			}
		}
		for _, th := range d.Threads {
			got[[3]any{"thread", *th.PID, *th.TID}] += th.Events
		}
		if !maps.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: counts\n%v, want\n%v", name, got, want)
		}
	}
}

func describe(t *testing.T, name string) *inventory.Description {
	t.Helper()
	src, err := reader.NewBytes(corpus.Trace(t, name).Data, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := inventory.New(src.Info())
	if _, err := ntconv.Copy(v, src); err != nil {
		t.Fatal(err)
	}
	return v.Describe(src.Info(), new(ntconv.NoNames), "IN")
}

// The description does not depend on the order of the events, so file order, which needs no windows, is sufficient.
func TestFileOrderIsEnough(t *testing.T) {
	unsorted := 0
	late := corpus.File{Path: filepath.Join(corpus.Shared(t, "data", "vectors"), "V6NegativeTimestampDelta.nettrace")}
	late.Data = corpus.Read(t, late.Path)
	for _, f := range append(append(corpus.Traces(t), corpus.SharedTraces(t)...), late) {
		var descriptions [2]string
		for i, order := range []reader.Order{reader.ByTime, reader.FileOrder} {
			var report ntconv.Report
			src, err := reader.NewBytes(f.Data, &reader.Options{Order: order, Report: &report})
			if err != nil {
				continue // a version that cannot be read
			}
			v := inventory.New(src.Info())
			last, ordered := ntconv.Ticks(math.MinInt64), true
			for e, err := range ntconv.Events(src) {
				if err != nil {
					break // truncated
				}
				if e.Kind == ntconv.KindEvent {
					ordered, last = ordered && e.Time >= last, max(last, e.Time)
				}
				if err := v.Write(e); err != nil {
					t.Fatal(err)
				}
			}
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
			n := report.Count(ntconv.CodeOutOfOrder)
			if order == reader.FileOrder {
				n = v.Late().Events
				if !ordered {
					unsorted++
				}
			}
			text, err := json.Marshal(v.Describe(src.Info(), new(ntconv.NoNames), "IN"))
			if err != nil {
				t.Fatal(err)
			}
			if f.Path == late.Path && n != 1 {
				t.Errorf("%s: %d events are late, want 1", f.Path, n)
			}
			descriptions[i] = fmt.Sprintf("%d late, %s", n, text)
		}
		if descriptions[0] != descriptions[1] {
			t.Errorf("%s: in time order\n%s\nin file order\n%s", f.Path, descriptions[0], descriptions[1])
		}
	}
	if unsorted < 10 {
		t.Errorf("only %d traces that are not sorted by time", unsorted)
	}
}

// The description names the command for spans if and only if the exporter of spans writes one.
func TestSpansAreThoseOfTheExporter(t *testing.T) {
	files := append(corpus.Traces(t), corpus.SharedTraces(t)...)
	vectors, err := filepath.Glob(filepath.Join(corpus.Shared(t, "data", "vectors"), "*.nettrace"))
	if err != nil || len(vectors) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, path := range vectors {
		files = append(files, corpus.File{Path: path, Data: corpus.Read(t, path)})
	}
	for _, events := range []string{
		`{"ph":"X","name":"a","ts":1,"dur":2}`, `{"ph":"B","name":"a","ts":1},{"ph":"i","name":"b","ts":1},{"ph":"E","ts":2}`,
		`{"ph":"b","cat":"c","id":1,"name":"Stop","ts":1},{"ph":"e","cat":"c","id":1,"name":"Stop","ts":1}`,
		`{"ph":"B","name":"a","ts":1},{"ph":"i","name":"FooStop","ts":1}`, `{"ph":"E","name":"a","ts":1}`,
	} {
		files = append(files, corpus.File{Path: events, Data: []byte(`{"traceEvents":[` + events + `]}`)})
	}
	some, none := 0, 0
	for _, f := range files {
		var src ntconv.Source
		src, err := reader.NewBytes(f.Data, nil)
		if f.Data[0] == '{' {
			src, err = chrome.New(bytes.NewReader(f.Data), &chrome.Options{TempDir: t.TempDir()})
		}
		if err != nil {
			continue // a version that cannot be read
		}
		v, sink := inventory.New(src.Info()), otlp.NewFile(io.Discard, otlp.Protobuf, src.Info(), nil, nil)
		for e, err := range ntconv.Events(src) {
			if err != nil {
				break // truncated
			}
			if err := errors.Join(v.Write(e), sink.Write(e)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(v.Close(), sink.Close()); err != nil {
			t.Fatal(err)
		}
		ends, spans := int64(0), sink.Summary().Items
		for _, x := range v.Extract("IN") {
			if x.Command == "ntconv to otlp IN" {
				ends += x.Events
			}
		}
		shown := ends > 0
		if shown != (spans > 0) || f.Data[0] == '{' && ends != spans {
			t.Errorf("%s: the exporter writes %d spans, the description shows %d ends", f.Path, spans, ends)
		}
		if shown {
			some++
		} else {
			none++
		}
	}
	if some < 20 || none < 20 {
		t.Errorf("%d traces with spans, %d without", some, none)
	}
}
