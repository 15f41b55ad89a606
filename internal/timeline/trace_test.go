package timeline_test

import (
	"errors"
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// traces calls f for every real trace.
func traces(t *testing.T, f func(t *testing.T, file corpus.File)) {
	files := corpus.Traces(t)
	if _, err := corpus.Find("data"); err == nil {
		files = append(files, corpus.SharedTraces(t)...)
	}
	for _, file := range files {
		t.Run(file.Name, func(t *testing.T) { f(t, file) })
	}
}

// build writes a trace to a timeline and finishes it. It returns what was lost of a truncated trace as well.
func build(tb testing.TB, data []byte, o *timeline.Options) *timeline.Timeline {
	tb.Helper()
	r, err := reader.NewBytes(data, nil)
	if err != nil {
		tb.Skip(err) // TestTraces of package reader says which
	}
	names := symbol.New(nil)
	tl := timeline.New(r.Info(), names, o)
	tb.Cleanup(func() { tl.Close() })
	src := ntconvtest.Poison(symbol.Watch(r, names))
	for {
		e, err := src.Next()
		if err != nil {
			if err != io.EOF && !errors.Is(err, ntconv.ErrTruncated) && !errors.Is(err, ntconv.ErrCorrupt) && !errors.Is(err, ntconv.ErrUnsupported) {
				tb.Fatal(err)
			}
			break
		}
		if err := tl.Write(e); err != nil {
			tb.Fatal(err)
		}
	}
	if err := tl.Finish(); err != nil {
		tb.Fatal(err)
	}
	return tl
}

// TestTraces: the items of every real trace have all properties of a timeline.
func TestTraces(t *testing.T) {
	traces(t, func(t *testing.T, file corpus.File) {
		tl := build(t, file.Data, &timeline.Options{Args: testArgs})
		got := check(t, tl)
		again := check(t, tl)
		if got.hash != again.hash {
			t.Error("a second Each passes other items")
		}
		t.Logf("%+v", tl.Counts())
	})
}
