package chrome_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// traces calls f for every real trace.
func traces(t *testing.T, f func(t *testing.T, data []byte)) {
	files := corpus.Traces(t)
	if _, err := corpus.Find("data"); err == nil && !testing.Short() {
		files = append(files, corpus.SharedTraces(t)...)
	}
	for _, file := range files {
		t.Run(file.Name, func(t *testing.T) { f(t, file.Data) })
	}
}

// copyTo writes a trace to sinks, and closes them. What can be read of a damaged trace is written.
func copyTo(tb testing.TB, data []byte, create func(*ntconv.Info, ntconv.Namer) []ntconv.Sink) {
	tb.Helper()
	r, err := reader.NewBytes(data, nil)
	if err != nil {
		tb.Skip(err) // TestTraces of package reader says which
	}
	names := symbol.New(nil)
	sinks := create(r.Info(), names)
	src := ntconvtest.Poison(symbol.Watch(r, names))
	for {
		e, err := src.Next()
		if err != nil {
			if err != io.EOF && !errors.Is(err, ntconv.ErrTruncated) && !errors.Is(err, ntconv.ErrCorrupt) && !errors.Is(err, ntconv.ErrUnsupported) {
				tb.Fatal(err)
			}
			break
		}
		for _, s := range sinks {
			if err := s.Write(e); err != nil {
				tb.Fatal(err)
			}
		}
	}
	for _, s := range sinks {
		if err := s.Close(); err != nil {
			tb.Fatal(err)
		}
	}
}

// exported writes a trace as one file.
func exported(tb testing.TB, data []byte, o chrome.Options) ([]byte, chrome.Summary) {
	tb.Helper()
	var out bytes.Buffer
	var sink *chrome.Sink
	o.TempDir = tb.TempDir()
	copyTo(tb, data, func(info *ntconv.Info, names ntconv.Namer) []ntconv.Sink {
		sink = chrome.New(&out, info, names, &o)
		return []ntconv.Sink{sink}
	})
	if left, _ := os.ReadDir(o.TempDir); len(left) > 0 {
		tb.Errorf("%d temporary files are left", len(left))
	}
	return out.Bytes(), sink.Summary()
}

// compare compares what a document has with what the sink says.
func compare(t testing.TB, f found, s chrome.Summary) {
	t.Helper()
	if f.slices != s.Slices || f.lanes != s.Lanes || f.instants != s.Instants || f.losses != s.Losses || f.unfinished != s.Unfinished {
		t.Errorf("found %+v\nsummary %+v", f, s)
	}
	if f.flows+s.LostFlows != s.Flows || f.counters+s.NotNumbers != s.Counters {
		t.Errorf("found %d flows and %d counters, summary %+v", f.flows, f.counters, s)
	}
}

// TestTraces: the output for every real trace has the properties that viewers expect, and holds what the timeline holds.
func TestTraces(t *testing.T) {
	traces(t, func(t *testing.T, data []byte) {
		out, s := exported(t, data, chrome.Options{})
		if !strings.HasPrefix(string(out), `{"displayTimeUnit":"ns","metadata":{`) {
			t.Errorf("the beginning is %.40s", out)
		}
		f := check(t, parse(t, out))
		compare(t, f, s)
		if f.samples != s.Samples {
			t.Errorf("found %d samples, summary %+v", f.samples, s)
		}
		f.weights = nil
		t.Logf("%d bytes, %+v, %+v", len(out), s, f)
	})
}
