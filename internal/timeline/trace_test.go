package timeline_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/operation"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/span"
	"github.com/ntconv/ntconv/internal/span/tracker"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/track"
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
		checkWeights(t, tl, file)
		checkSlices(t, file)
	})
}

// checkSlices compares the begins and durations of slices with those of the tracker's spans, except for spans far outside
// the recording.
func checkSlices(t *testing.T, file corpus.File) {
	t.Helper()
	src, _ := timelines.Open(t, file.Data)
	want := map[[2]int64]int{}
	tr := tracker.New(src.Info(), func(s *span.Span) {
		if s.End != 0 {
			want[[2]int64{int64(s.Start), int64(s.End - s.Start)}]++
		}
	}, &tracker.Options{
		Sources: operation.Default | operation.Runtime&^operation.Exceptions | operation.Suspensions, Unfinished: tracker.CloseUnfinished,
		NoEvents: true,
	})
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		tr.Add(e)
	}
	tr.Finish()
	tl := build(t, file.Data, &timeline.Options{Options: track.Options{Tracks: track.All | track.Suspensions}, NoSamples: true})
	n := 0
	for _, it := range collect(t, tl) {
		if it.Kind != timeline.SliceBegin {
			continue
		}
		if key := [2]int64{tl.Start().Add(time.Duration(it.Time)).UnixNano(), it.Duration}; want[key] > 0 {
			want[key]--
			n++
		}
	}
	maps.DeleteFunc(want, func(_ [2]int64, n int) bool { return n == 0 })
	if c := tl.Counts(); int64(len(want)) > c.Moved || int64(n) < c.Slices-c.Moved-c.Unfinished {
		t.Errorf("%d of %d slices are spans; no slice is %v (counts %+v)", n, c.Slices, want, c)
	}
}

// Pauses have the generation of their collection, and the attributes that describe it.
func TestPausesOfCollections(t *testing.T) {
	gc, n := operation.Named("gc"), 0
	for _, it := range collect(t, build(t, corpus.Trace(t, "alloc-verbose").Data, &timeline.Options{Args: argNames})) {
		if it.Kind != timeline.SliceBegin || it.Track.Kind != timeline.GCTrack || !strings.HasPrefix(it.Name, "GC pause gen ") {
			continue
		}
		n++
		for _, property := range []string{"generation", "reason", "number"} {
			if key := gc.Attribute(property); key == "" || !strings.Contains(string(it.Encoded), key+" ") {
				t.Errorf("%s: no arg %q in %s", it.Name, key, it.Encoded)
			}
		}
	}
	if n == 0 {
		t.Error("no pauses")
	}
}

// argNames appends the names of args.
func argNames(dst []byte, s *timeline.Source) []byte {
	for name := range s.Args(true) {
		dst = append(append(dst, name...), ' ')
	}
	return dst
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
	for _, k := range []sample.Kind{sample.Wall, sample.CPU, sample.Imported} {
		src, names := timelines.Open(t, file.Data)
		b := profile.New(src.Info(), names, &profile.Options{Kind: k})
		for e, err := range ntconv.Events(src) {
			if err != nil {
				t.Fatal(err)
			}
			b.Add(e)
		}
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
			if name == k.String()+" samples" && k != sample.Imported {
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
