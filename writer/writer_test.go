package writer_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/eventgen"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/writer"
)

// write writes the events of a source and returns the bytes.
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

// A tb is a test or a check of package rapid.
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

func TestFixturesComeBack(t *testing.T) {
	for _, f := range ntconvtest.Fixtures() {
		var report ntconv.Report
		b := write(t, ntconvtest.Poison(f.Source()), &writer.Options{Report: &report})
		if err := ntconvtest.EqualStreams(f.Source(), read(t, b), &ntconvtest.Options{Frames: true}); err != nil {
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
		tr := eventgen.Traces().Draw(t, "trace")
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
			if again := write(t, read(t, b), nil); !bytes.Equal(again, b) {
				t.Error("rewriting it again changes its bytes")
			}
		})
	}
}

// TestRealTracesByTime writes traces in time order, with the sequence points that this allows.
func TestRealTracesByTime(t *testing.T) {
	byTime := func(b []byte) *reader.Reader {
		r, err := reader.New(bytes.NewReader(b), &reader.Options{Order: reader.ByTime, AllowPrerelease: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, f := range corpus.SharedTraces(t) {
		var report ntconv.Report
		b := write(t, byTime(f.Data), &writer.Options{BlockBytes: 10_000, Ordered: true, Report: &report})
		opts := &ntconvtest.Options{Errors: true, EmptyMarks: true, Sorted: true}
		if err := ntconvtest.EqualStreams(byTime(f.Data), read(t, b), opts); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		if again := write(t, byTime(b), &writer.Options{BlockBytes: 10_000, Ordered: true}); !bytes.Equal(again, b) {
			t.Errorf("%s: rewriting it again changes its bytes", f.Name)
		}
		if report.Count(ntconv.CodeOutOfOrder) == 0 {
			// If the file is in time order, both orders are equal.
			if err := ntconvtest.EqualStreams(read(t, b), byTime(b), opts); err != nil {
				t.Errorf("%s: read by time: %v", f.Name, err)
			}
		}
	}
}

// TestVectors rewrites small files with rare features of the format, up to the first error of the reader.
func TestVectors(t *testing.T) {
	dir := corpus.Shared(t, "data", "vectors")
	paths, err := filepath.Glob(filepath.Join(dir, "*.nettrace"))
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d vectors, %v", len(paths), err)
	}
	opened := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		open := func() ntconv.Source {
			r, err := reader.New(bytes.NewReader(data), &reader.Options{Order: reader.FileOrder})
			if err != nil {
				return nil
			}
			return r
		}
		src := open()
		if src == nil {
			continue
		}
		opened++
		b := write(t, ntconvtest.Poison(src), &writer.Options{AllowLarge: true})
		parse(t, b)
		opts := &ntconvtest.Options{Errors: true}
		opts.Sorted = strings.Contains(path, "NegativeTimestampDelta") // it has a wrong flag
		if err := ntconvtest.EqualStreams(open(), read(t, b), opts); err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
		if again := write(t, read(t, b), &writer.Options{AllowLarge: true}); !bytes.Equal(again, b) {
			t.Errorf("%s: rewriting it again changes its bytes", filepath.Base(path))
		}
	}
	if opened < 90 {
		t.Errorf("only %d vectors could be opened", opened)
	}
}

func TestWritingDoesNotAllocate(t *testing.T) {
	f := corpus.SharedTrace(t, "own/cpu-default")
	events, err := ntconvtest.Record(read(t, f.Data))
	if err != nil {
		t.Fatal(err)
	}
	w, err := writer.New(io.Discard, read(t, f.Data).Info(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var some []*ntconv.Event // definitions allocate once
	for _, e := range events {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			some = append(some, e)
		} else {
			some = some[:0]
		}
	}
	if len(some) == 0 {
		for _, e := range events {
			if e.Kind == ntconv.KindEvent && e.Stack == nil && e.Labels == nil {
				some = append(some, e)
			}
		}
	}
	i := 0
	if n := testing.AllocsPerRun(10_000, func() {
		if err := w.Write(some[i%len(some)]); err != nil {
			t.Fatal(err)
		}
		i++
	}); n > 0 {
		t.Errorf("%v allocations per event", n)
	}
}

// FuzzCopy checks that every trace that can be read can be written as a valid file with the same events. It does not
// compare whole streams: in a corrupt file two equal rows can be two threads in ways that a valid file cannot
// represent.
func FuzzCopy(f *testing.F) {
	for _, fix := range ntconvtest.Fixtures() {
		f.Add(write(f, fix.Source(), nil), true)
	}
	for i := range 20 {
		tr := eventgen.Traces().Example(i)
		f.Add(write(f, tr.Source(), nil), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, b []byte, small bool) {
		open := func(b []byte) ntconv.Source {
			r, err := reader.New(bytes.NewReader(b), &reader.Options{Order: reader.FileOrder})
			if err != nil {
				return nil
			}
			return ntconv.Filter(r, func(e *ntconv.Event) bool {
				e.Flags &^= ntconv.FlagSorted // may be wrong; the writer then removes it
				return e.Kind != ntconv.KindDefine && e.Kind != ntconv.KindLost
			})
		}
		src := open(b)
		if src == nil || bytes.Contains(b, []byte("#unit")) || bytes.Contains(b, []byte("ntconv.p")) {
			return // reserved names with values that the writer does not use
		}
		opts := &writer.Options{AllowLarge: true}
		if small {
			opts.BlockBytes = 100
		}
		once := write(t, src, opts)
		parse(t, once)
		x, y := open(b), open(once)
		for n := 0; ; n++ {
			e, err := x.Next()
			again, err2 := y.Next()
			if err != nil || err2 != nil {
				if (err == nil) != (err2 == nil) {
					t.Fatalf("event %d: %v and %v", n, err, err2)
				}
				break
			}
			if err := ntconvtest.Equal(e, again); err != nil {
				t.Fatalf("event %d: %v", n, err)
			}
		}
	})
}
