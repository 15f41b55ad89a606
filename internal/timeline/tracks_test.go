package timeline_test

import (
	"fmt"
	"testing"

	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/track"
)

// A set shows exactly its elements. If it contains Events, the begins and ends of other slices are instants.
func TestTracks(t *testing.T) {
	const provider = "Microsoft-Windows-DotNETRuntime"
	for _, test := range []struct {
		file   string
		tracks track.Set
		want   string
	}{
		{"waits", track.Waits, "map[wait:24]"},
		{"waits", track.Contention, "map[contention:5]"},
		{"waits", track.Waits | track.Contention, "map[contention:5 wait:24]"},
		{"waits", track.Exceptions, "map[]"},
		{"exceptions", track.Exceptions, "map[exception:19]"},
		{"exceptions", track.GC, "map[]"},
	} {
		got := categories(t, test.file, test.tracks)
		if fmt.Sprint(got) != test.want {
			t.Errorf("%s with %#x: %v, want %s", test.file, test.tracks, got, test.want)
		}
		if with := categories(t, test.file, test.tracks|track.Events); with[provider] == 0 || with[timeline.CategoryWait] != got[timeline.CategoryWait] {
			t.Errorf("%s with %#x and events: %v", test.file, test.tracks, with)
		}
	}
}

// categories counts slices and instants by category.
func categories(t *testing.T, file string, tracks track.Set) map[string]int {
	t.Helper()
	src, names := timelines.Open(t, corpus.Trace(t, file).Data)
	got := map[string]int{}
	for _, it := range collect(t, buildFrom(t, src, names, &timeline.Options{Options: track.Options{Tracks: tracks}, NoSamples: true})) {
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
