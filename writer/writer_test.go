package writer_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// write writes a source and returns the bytes.
func write(t tb, src ntconv.Source, opts *writer.Options) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := writer.New(&buf, src.Info(), opts)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	var source *ntconv.SourceError
	if _, err := ntconv.Copy(w, src); err != nil && !errors.As(err, &source) {
		t.Fatalf("Copy: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	return buf.Bytes()
}

// tb is what tests and rapid's checks have in common.
type tb interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// read opens a trace in file order.
func read(t tb, b []byte) *reader.Reader {
	t.Helper()
	r, err := reader.New(bytes.NewReader(b), &reader.Options{Order: reader.FileOrder, AllowPrerelease: true})
	if err != nil {
		t.Fatalf("reader.New: %v", err)
	}
	return r
}

// asWritten gives a source the one property of a trace that stands in an attribute only.
func asWritten(src ntconv.Source) ntconv.Source {
	info := *src.Info()
	aggregate, _ := info.Attrs.Get("ntconv.aggregate")
	info.Aggregate = info.Aggregate || aggregate == "true"
	return withInfo{src, &info}
}

type withInfo struct {
	ntconv.Source
	info *ntconv.Info
}

func (s withInfo) Info() *ntconv.Info { return s.info }

func TestFixturesComeBack(t *testing.T) {
	for _, f := range ntconvtest.Fixtures() {
		var report ntconv.Report
		b := write(t, ntconvtest.Poison(f.Source()), &writer.Options{Report: &report})
		if err := ntconvtest.EqualStreams(f.Source(), asWritten(read(t, b)), &ntconvtest.Options{Frames: true}); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		frames := 0
		counted := map[*ntconv.Stack]bool{}
		for _, e := range f.Events {
			if e.Stack != nil && !counted[e.Stack] {
				counted[e.Stack] = true
				frames += len(e.Stack.Frames)
			}
		}
		if got := report.Count(ntconv.CodeNamesDropped); got != uint64(frames) {
			t.Errorf("%s: %d names of %d frames are said to be dropped", f.Name, got, frames)
		}
	}
}

func TestGeneratedTracesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := ntconvtest.Traces().Draw(t, "trace")
		opts := &writer.Options{BlockBytes: rapid.SampledFrom([]int{0, 1, 50, 500}).Draw(t, "block size"), BlockEvents: rapid.IntRange(0, 3).Draw(t, "block events")}
		b := write(t, ntconvtest.Poison(tr.Source()), opts)
		if err := ntconvtest.EqualStreams(tr.Source(), read(t, b), nil); err != nil {
			t.Fatalf("%v", err)
		}
	})
}

func TestRealTracesComeBack(t *testing.T) {
	for _, f := range corpus.SharedTraces(t) {
		t.Run(f.Name, func(t *testing.T) {
			b := write(t, ntconvtest.Poison(read(t, f.Data)), nil)
			if err := ntconvtest.EqualStreams(read(t, f.Data), read(t, b), &ntconvtest.Options{Errors: true}); err != nil {
				t.Error(err)
			}
		})
	}
}
