package perfetto

import (
	"bytes"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/exporters/chrome"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/track"
)

// convert writes a trace.
func convert(tb testing.TB, data []byte, o *Options) ([]byte, Summary) {
	tb.Helper()
	src, names := timelines.Open(tb, data)
	var out bytes.Buffer
	sink := New(&out, src.Info(), names, o)
	timelines.Write(tb, src, sink)
	return out.Bytes(), sink.Summary()
}

// TestTraces converts every real trace and compares what an independent reader finds with the items of its timeline.
func TestTraces(t *testing.T) {
	timelines.Traces(t, func(t *testing.T, file corpus.File) {
		src, names := timelines.Open(t, file.Data)
		tl := timeline.New(src.Info(), names, nil)
		defer tl.Close()
		if _, err := ntconv.Copy(tl, src); err != nil {
			t.Fatal(err)
		}
		if err := tl.Finish(); err != nil {
			t.Fatal(err)
		}
		for _, form := range []Samples{StreamingSamples, StackSamples} {
			out, done := convert(t, file.Data, &Options{Samples: form})
			r := read(t, out)
			checkNesting(t, r)
			checkCounts(t, r, done)
			compare(t, r, tl, form, nil)
			if done.Start != tl.Start() || done.Duration != time.Duration(tl.End()) {
				t.Errorf("Summary has %v and %v, want %v and %v", done.Start, done.Duration, tl.Start(), time.Duration(tl.End()))
			}
		}
	})
}

// TestSize: the output has at most a fifth of the bytes of Chrome's JSON for the same trace. Small traces consist of
// names.
func TestSize(t *testing.T) {
	const small = 100_000
	timelines.SmallTraces(t, func(t *testing.T, file corpus.File) {
		src, names := timelines.Open(t, file.Data)
		var json counter
		timelines.Write(t, src, chrome.New(&json, src.Info(), names, nil))
		out, _ := convert(t, file.Data, nil)
		if json > small && len(out) > int(json)/5 {
			t.Errorf("%d bytes, more than a fifth of %d", len(out), json)
		}
	})
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// checkNesting fails if a slice ends that has not begun, or does not end. A reader matches ends by track only.
func checkNesting(t *testing.T, r *readTrace) {
	open := map[uint64]int{}
	last := uint64(0)
	for i, e := range r.events {
		if e.time < last {
			t.Fatalf("event %d: time %d after %d", i, e.time, last)
		}
		last = e.time
		switch e.kind {
		case 1:
			open[e.track]++
		case 2:
			if open[e.track]--; open[e.track] < 0 {
				t.Fatalf("event %d: track %d has no open slice", i, e.track)
			}
		}
		if isCounter := r.tracks[e.track].kind == "counter"; isCounter != (e.kind == 4) {
			t.Fatalf("event %d: %+v on track %+v", i, e, r.tracks[e.track])
		}
	}
	for track, n := range open {
		if n != 0 {
			t.Fatalf("track %d: %d slices do not end", track, n)
		}
	}
}

func checkCounts(t *testing.T, r *readTrace, s Summary) {
	var got track.Counts
	arrows := int64(0)
	for _, e := range r.events {
		switch {
		case e.kind == 1:
			got.Slices++
		case e.kind == 4:
			got.Counters++
		case e.kind == 3 && e.category == timeline.CategoryFlow:
			arrows++
		case e.kind == 3 && r.tracks[e.track].name == "Lost events":
			got.Losses++
		case e.kind == 3:
			got.Instants++
		}
		got.Flows += int64(len(e.ends))
	}
	got.Samples = int64(len(r.samples))
	want := s.Counts
	if got.Slices != want.Slices || got.Counters != want.Counters || got.Instants != want.Instants || got.Losses != want.Losses ||
		got.Samples != want.Samples || got.Flows != want.Flows || arrows != s.FlowInstants {
		t.Errorf("read %+v and %d instants of flows, Summary has %+v", got, arrows, s)
	}
}
