package timeline_test

import (
	"errors"
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/kind"
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
		if testing.Short() && len(file.Data) > 1<<20 {
			continue // they take minutes with the race detector, which short tests use
		}
		t.Run(file.Name, func(t *testing.T) { f(t, file) })
	}
}

// open returns a source of the events of a trace and a Namer.
func open(tb testing.TB, data []byte) (ntconv.Source, *symbol.Table) {
	tb.Helper()
	r, err := reader.NewBytes(data, nil)
	if err != nil {
		tb.Fatal(err)
	}
	names := symbol.New(nil)
	return symbol.Watch(r, names), names
}

// read passes the events of a trace to f, up to its end or the first error.
func read(tb testing.TB, src ntconv.Source, f func(*ntconv.Event)) {
	tb.Helper()
	for {
		e, err := src.Next()
		if err != nil {
			if err != io.EOF && !errors.Is(err, ntconv.ErrTruncated) && !errors.Is(err, ntconv.ErrCorrupt) && !errors.Is(err, ntconv.ErrUnsupported) {
				tb.Fatal(err)
			}
			return
		}
		f(e)
	}
}

// build writes a trace to a timeline and finishes it.
func build(tb testing.TB, data []byte, o *timeline.Options) *timeline.Timeline {
	tb.Helper()
	src, names := open(tb, data)
	return buildFrom(tb, src, names, o)
}

func buildFrom(tb testing.TB, src ntconv.Source, names ntconv.Namer, o *timeline.Options) *timeline.Timeline {
	tb.Helper()
	tl := timeline.New(src.Info(), names, o)
	tb.Cleanup(func() { tl.Close() })
	read(tb, ntconvtest.Poison(src), func(e *ntconv.Event) {
		if err := tl.Write(e); err != nil {
			tb.Fatal(err)
		}
	})
	if err := tl.Finish(); err != nil {
		tb.Fatal(err)
	}
	return tl
}

// The items of every real trace have all properties of a timeline.
func TestTraces(t *testing.T) {
	traces(t, func(t *testing.T, file corpus.File) {
		tl := build(t, file.Data, &timeline.Options{Args: testArgs})
		got := check(t, tl)
		again := check(t, tl)
		if got.hash != again.hash {
			t.Error("a second Each passes other items")
		}
		if n, want := tl.Accounted(), tl.Counts().Events; n != want {
			t.Errorf("%d of %d events are accounted for", n, want)
		}
		checkWeights(t, tl, file)
	})
}

// checkWeights compares the total weights of samples with those of profile.Builder.
func checkWeights(t *testing.T, tl *timeline.Timeline, file corpus.File) {
	t.Helper()
	got, samples := map[string]int64{}, map[string]int64{}
	if err := tl.Each(func(it *timeline.Item) error {
		if it.Kind == timeline.Sample {
			kind := it.Weight.Kind.String()
			samples[kind]++
			for i, typ := range it.Weight.Types {
				got[kind+" "+typ.Type] += it.Weight.Values[i]
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, k := range []kind.Kind{kind.Wall, kind.CPU, kind.Imported} {
		src, names := open(t, file.Data)
		b := profile.New(src.Info(), names, &profile.Options{Kind: k})
		read(t, src, func(e *ntconv.Event) { b.Add(e) })
		p := b.Finish()
		if int64(p.Events) != samples[k.String()] {
			t.Errorf("%d samples of kind %v, the profile has %d", samples[k.String()], k, p.Events)
		}
		total += int64(p.Events)
		want := map[string]int64{}
		for s := range p.Samples() {
			for i, typ := range p.Types {
				want[k.String()+" "+typ.Type] += s.Values[i]
			}
		}
		for name, n := range want {
			if name == k.String()+" samples" && k != kind.Imported {
				continue // the number of items
			}
			if d := got[name] - n; d > int64(p.Events) || -d > int64(p.Events) {
				t.Errorf("%s: %d, the profile has %d", name, got[name], n)
			}
		}
	}
	if total != tl.SampleEvents() {
		t.Errorf("%d events are samples, profiles have %d", tl.SampleEvents(), total)
	}
}
