package speedscope

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/track"
)

func write(t testing.TB, f *timelines.Fake, o track.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := (&Sink{w: &out, o: Options{o}}).write(f); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var update = flag.Bool("update", false, "write golden files")

// TestItems shows a whole file.
func TestItems(t *testing.T) {
	report := &ntconv.Report{}
	timelines.Golden(t, *update, "items.json", write(t, timelines.Items(nil), track.Options{Name: "trace", Version: "1.2", Report: report}))
	if n := report.Count(ntconv.CodeNotCarried); n != 2 {
		t.Errorf("%d losses were reported, want a negative value and a name", n)
	}
}

// newThreads returns a timeline with n threads and these frames.
func newThreads(n int, names ...string) (f *timelines.Fake, threads []*timeline.Track) {
	f = timelines.New(timelines.Frames(names...)...)
	p := f.Process(42, "shop")
	for i := range n {
		threads = append(threads, f.Track(p, timeline.ThreadTrack, uint32(i+100), "", ""))
	}
	return f, threads
}

// TestOrder checks that profiles have the order of tracks regardless of the order of the samples, and that the thread
// with the most work is active.
func TestOrder(t *testing.T) {
	f, threads := newThreads(50, "Main")
	for i := range 1000 {
		it := timelines.Sample(threads[i*7%50], int64(i), 1, sample.CPU, timelines.CPU, 1)
		if i%50 != 30 {
			it.Weight.State = "External"
		}
		f.Add(it)
	}
	got := write(t, f, track.Options{})
	at := 0
	for i := range 50 {
		next := strings.Index(got, fmt.Sprintf(`"shop (42) thread %d: cpu"`, i+100))
		if next <= at {
			t.Fatalf("thread %d is at %d, the one before at %d", i, next, at)
		}
		at = next
	}
	if want := fmt.Sprintf(`"activeProfileIndex":%d,`, 1+30*7%50); !strings.Contains(got, want) {
		t.Errorf("no %s in %.300s", want, got)
	}
}

// Without samples, the track with the most time in slices is active. Waits count only if all tracks wait, and the time of
// inner slices counts once.
func TestActiveSlices(t *testing.T) {
	type slice struct {
		at, duration int64
		category     string
	}
	for _, test := range []struct {
		slices [3][]slice
		want   int
	}{
		{[3][]slice{{{0, 10, "gc"}}, {{0, 20, "gc"}}, {{0, 15, "gc"}}}, 1},
		{[3][]slice{{{0, 10, "wait"}}, {{0, 90, "contention"}}, {{0, 5, "span"}}}, 2},
		{[3][]slice{{{0, 10, "wait"}}, {{0, 90, "contention"}}, {{0, 5, "wait"}}}, 1},
		{[3][]slice{{{0, 10, "span"}, {1, 9, "span"}, {2, 8, "span"}}, {{0, 15, "span"}}, {{0, 1, "span"}}}, 1},
		{[3][]slice{{{0, 5, "span"}}, {{0, 5, "span"}}, nil}, 0},
	} {
		f, threads := newThreads(3)
		id := uint64(0)
		for i, list := range test.slices {
			var ends []timeline.Item
			for _, s := range list {
				id++
				begin, end := timelines.Slice(threads[i], id, s.at, s.duration, "x", s.category)
				f.Add(begin)
				ends = append([]timeline.Item{end}, ends...)
			}
			f.Add(ends...)
		}
		got := write(t, f, track.Options{})
		if want := fmt.Sprintf(`"activeProfileIndex":%d,`, test.want); !strings.Contains(got, want) {
			t.Errorf("%+v: no %s in %.200s", test.slices, want, got)
		}
	}
}

func TestWriteError(t *testing.T) {
	full := errors.New("disk full")
	if err := (&Sink{w: timelines.Full{Err: full}}).write(timelines.Items(nil)); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}

func TestAllocations(t *testing.T) {
	f := timelines.Items(nil)
	f.CheckAllocations(t, newEncoder(f, nil, nil, &timeline.Measures{}).item)
}
