package chrome_test

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/track"
)

// countsOf runs a timeline over a source and returns its counts.
func countsOf(t *testing.T, src ntconv.Source, names ntconv.Namer) track.Counts {
	t.Helper()
	tl := timeline.NewSink(src.Info(), names, &timeline.Options{NoSamples: true})
	if _, err := ntconv.Copy(tl.Timeline, src); err != nil {
		t.Fatal(err)
	}
	if err := tl.Close(func() error { return tl.Each(func(*timeline.Item) error { return nil }) }); err != nil {
		t.Fatal(err)
	}
	return tl.Counts()
}

// TestExportedArrows: a trace that was imported from this package's output has the slices and arrows of the exported
// trace.
func TestExportedArrows(t *testing.T) {
	arrows := int64(0)
	timelines.SmallTraces(t, func(t *testing.T, file corpus.File) {
		src, names := timelines.Open(t, file.Data)
		want := countsOf(t, src, names)
		text, _ := exported(t, file.Data, chrome.Options{})
		again := imported(t, string(text))
		names = symbol.New(nil)
		got := countsOf(t, symbol.Watch(again, names), names)
		arrows += got.Flows
		if got.Slices != want.Slices || got.Flows != want.Flows {
			t.Errorf("%d slices and %d arrows, want %d and %d", got.Slices, got.Flows, want.Slices, want.Flows)
		}
	})
	if arrows == 0 {
		t.Skip("no trace with arrows")
	}
}
