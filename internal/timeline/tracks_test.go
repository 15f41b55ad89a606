package timeline_test

import (
	"fmt"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/timeline"
)

// A set shows exactly its elements. If it contains Events, the begins and ends of other slices are instants.
func TestTracks(t *testing.T) {
	const provider = "Microsoft-Windows-DotNETRuntime"
	for _, test := range []struct {
		file   string
		tracks timeline.Tracks
		want   string
	}{
		{"waits", timeline.Waits, "map[wait:24]"},
		{"waits", timeline.Contention, "map[contention:5]"},
		{"waits", timeline.Waits | timeline.Contention, "map[contention:5 wait:24]"},
		{"waits", timeline.Exceptions, "map[]"},
		{"exceptions", timeline.Exceptions, "map[exception:19]"},
		{"exceptions", timeline.GC, "map[]"},
	} {
		o := &timeline.Options{NoSamples: true}
		o.Show(test.tracks)
		got := categories(t, test.file, o)
		if fmt.Sprint(got) != test.want {
			t.Errorf("%s with %#x: %v, want %s", test.file, test.tracks, got, test.want)
		}
		o.Show(test.tracks | timeline.Events)
		if with := categories(t, test.file, o); with[provider] == 0 || with[timeline.CategoryWait] != got[timeline.CategoryWait] {
			t.Errorf("%s with %#x and events: %v", test.file, test.tracks, with)
		}
	}
}

// categories counts slices and instants by category.
func categories(t *testing.T, file string, o *timeline.Options) map[string]int {
	t.Helper()
	src, names := open(t, corpus.SharedTrace(t, "own/"+file).Data)
	got := map[string]int{}
	for _, it := range collect(t, buildFrom(t, src, names, o)) {
		if it.Kind == timeline.SliceBegin || it.Kind == timeline.Instant {
			got[it.Category]++
		}
	}
	return got
}

// A timeline without events has no start.
func TestEmpty(t *testing.T) {
	tl := timeline.New(info(), nil, nil)
	defer tl.Close()
	if err := tl.Finish(); err != nil {
		t.Fatal(err)
	}
	if got := tl.Start(); !got.IsZero() || tl.End() != 0 {
		t.Errorf("starts at %v and ends at %d", got, tl.End())
	}
}
