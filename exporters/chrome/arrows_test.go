package chrome_test

import (
	"errors"
	"io"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/symbol"
)

// countsOf runs a timeline over a source and returns its counts.
func countsOf(t *testing.T, src ntconv.Source) timeline.Counts {
	t.Helper()
	names := symbol.New(nil)
	tl := timeline.New(src.Info(), names, &timeline.Options{NoSamples: true})
	defer tl.Close()
	if _, err := ntconv.Copy(tl, symbol.Watch(src, names)); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // some traces are cut
		t.Fatal(err)
	}
	if err := tl.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := tl.Each(func(*timeline.Item) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return tl.Counts()
}

// TestExportedArrows: a trace that was imported from this package's output has the slices and arrows of the exported
// trace.
func TestExportedArrows(t *testing.T) {
	arrows := int64(0)
	traces(t, func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return // large: it takes long
		}
		src, err := reader.NewBytes(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := countsOf(t, src)
		text, _ := exported(t, data, chrome.Options{})
		got := countsOf(t, imported(t, string(text)))
		arrows += got.Flows
		if got.Slices != want.Slices || got.Flows != want.Flows {
			t.Errorf("%d slices and %d arrows, want %d and %d", got.Slices, got.Flows, want.Slices, want.Flows)
		}
	})
	if arrows == 0 {
		t.Skip("no trace with arrows")
	}
}
