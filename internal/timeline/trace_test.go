package timeline_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/internal/timeline"
)

// build writes a trace to a timeline and finishes it.
func build(tb testing.TB, data []byte, o *timeline.Options) *timeline.Timeline {
	tb.Helper()
	src, names := timelines.Open(tb, data)
	return buildFrom(tb, src, names, o)
}

func buildFrom(tb testing.TB, src ntconv.Source, names ntconv.Namer, o *timeline.Options) *timeline.Timeline {
	tb.Helper()
	tl := timeline.New(src.Info(), names, o)
	tb.Cleanup(func() { tl.Close() })
	if _, err := ntconv.Copy(tl, src); err != nil {
		tb.Fatal(err)
	}
	if err := tl.Finish(); err != nil {
		tb.Fatal(err)
	}
	return tl
}

// collect returns copies of all items.
func collect(t *testing.T, tl *timeline.Timeline) (items []timeline.Item) {
	t.Helper()
	if err := tl.Each(func(it *timeline.Item) error {
		c := *it
		c.Encoded, c.Weight = append([]byte(nil), it.Encoded...), nil
		items = append(items, c)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return items
}

// The items of every real trace have all properties of a timeline.
func TestTraces(t *testing.T) {
	timelines.Traces(t, func(t *testing.T, file corpus.File) {
		tl := build(t, file.Data, &timeline.Options{Args: testArgs})
		got := check(t, tl)
		again := check(t, tl)
		if got.hash != again.hash {
			t.Error("a second Each passes other items")
		}
		if n, want := tl.Accounted(), tl.Counts().Events; n != want {
			t.Errorf("%d of %d events are accounted for", n, want)
		}
	})
}
