package timeline_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/testing/timelines"
	"github.com/ntconv/ntconv/internal/timeline"
	"github.com/ntconv/ntconv/reader"
	"pgregory.net/rapid"
)

// For any overlapping slices, the items have all properties of a timeline, and the times of slices are unchanged.
func TestRandomSlices(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var lines []string
		type key struct {
			name     string
			at, last int64
		}
		want, at := map[key]int{}, int64(0)
		for i := range rapid.IntRange(1, 60).Draw(r, "events") {
			at += rapid.Int64Range(0, 3).Draw(r, "gap") * 1000
			head := fmt.Sprintf(`{"pid":%d,"tid":%d,"ts":%d`, rapid.IntRange(0, 1).Draw(r, "pid"), rapid.IntRange(0, 2).Draw(r, "tid"), at/1000)
			id := rapid.IntRange(1, 3).Draw(r, "id")
			switch phase := rapid.SampledFrom([]string{"X", "X", "X", "B", "E", "b", "e", "s", "t", "f", "i", "C"}).Draw(r, "phase"); phase {
			case "X":
				dur := rapid.Int64Range(0, 12).Draw(r, "dur") * 1000
				want[key{fmt.Sprint("x", i), at, dur}]++
				lines = append(lines, fmt.Sprintf(`%s,"ph":"X","name":"x%d","dur":%d}`, head, i, dur/1000))
			case "E":
				lines = append(lines, head+`,"ph":"E"}`)
			default:
				bp := rapid.SampledFrom([]string{"", `,"bp":"e"`}).Draw(r, "bp")
				lines = append(lines, fmt.Sprintf(`%s,"ph":"%s","name":"n%d","cat":"c","id":%d,"args":{"v":1}%s}`, head, phase, id, id, bp))
			}
		}
		events := chromeEvents(strings.Join(lines, "\n"))
		tl := timeline.New(info(), nil, nil)
		defer tl.Close()
		for _, e := range events {
			if err := tl.Write(e); err != nil {
				r.Fatal(err)
			}
		}
		if err := tl.Finish(); err != nil {
			r.Fatal(err)
		}
		if a, b := check(r, tl), check(r, tl); a.hash != b.hash {
			r.Error("a second Each passes other items")
		}
		start := tl.Start().Sub(wall).Nanoseconds()
		_ = tl.Each(func(it *timeline.Item) error {
			if it.Kind == timeline.SliceBegin && it.Name[0] == 'x' {
				want[key{it.Name, it.Time + start, it.Duration}]--
			}
			return nil
		})
		for k, n := range want {
			if n != 0 {
				r.Errorf("%+v: %d slices too few", k, n)
			}
		}
	})
}

// A selection changes neither the weights nor the times of the selected samples.
func TestSelection(t *testing.T) {
	file := corpus.Trace(t, "cpu-env")
	weights := func(keep func(*ntconv.Event) bool) map[string]bool {
		src, names := timelines.Open(t, file.Data)
		tl := timeline.New(src.Info(), names, nil)
		defer tl.Close()
		for e, err := range ntconv.Events(src) {
			if tl.Watch(e); err == nil && (e.Kind != ntconv.KindEvent || keep(e)) {
				err = tl.Write(e)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := tl.Finish(); err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		_ = tl.Each(func(it *timeline.Item) error {
			if it.Kind == timeline.Sample {
				found[fmt.Sprint(it.Thread.Thread.TID, tl.Start().UnixNano()+it.Time, it.Weight.Values)] = true
			}
			return nil
		})
		return found
	}
	all := weights(func(*ntconv.Event) bool { return true })
	n := 0
	some := weights(func(*ntconv.Event) bool { n++; return n%3 == 0 })
	if len(some) < 50 || len(some) >= len(all) {
		t.Fatalf("%d of %d samples", len(some), len(all))
	}
	for s := range some {
		if !all[s] {
			t.Errorf("sample %s is not in the whole trace", s)
		}
	}
}

var errStop = errors.New("stop")

// Each ends with the first error of emit, regardless of the item, and can be called again.
func TestErrorOfEmit(t *testing.T) {
	tl := build(t, corpus.Trace(t, "activities").Data, nil)
	total := 0
	if err := tl.Each(func(*timeline.Item) error { total++; return nil }); err != nil {
		t.Fatal(err)
	}
	for stop := range total {
		n := 0
		if err := tl.Each(func(*timeline.Item) error {
			if n++; n == stop+1 {
				return errStop
			}
			return nil
		}); err != errStop || n != stop+1 {
			t.Fatalf("after %d of %d items the error is %v", n, total, err)
		}
	}
}

// Instants and samples cause no allocation, neither in Write nor in Each.
func TestAllocationsPerEvent(t *testing.T) {
	s := newScript(t)
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, "%d 1.%d event Tick stack=0x%x,0x1\n%d 1.%d sample stack=0x%x,0x1\n", 2*i, i%3, i%50+16, 2*i+1, i%3, i%70+16)
	}
	events := s.events(text.String())
	var tl *timeline.Timeline
	run := func(n int) float64 {
		return testing.AllocsPerRun(3, func() {
			tl = timeline.New(info(), nil, &timeline.Options{Args: func(dst []byte, s *timeline.Source) []byte { return append(dst, 'x') }})
			defer tl.Close()
			for i := range n {
				e := events[i%len(events)]
				e.Time = ntconv.Ticks(i)
				if err := tl.Write(e); err != nil {
					t.Fatal(err)
				}
			}
			if err := tl.Finish(); err != nil {
				t.Fatal(err)
			}
			if err := tl.Each(func(*timeline.Item) error { return nil }); err != nil {
				t.Fatal(err)
			}
		})
	}
	if testing.Short() {
		t.Skip("short mode: the race detector, under which the short tests run, allocates")
	}
	few, many := run(len(events)), run(10*len(events))
	if more := (many - few) / float64(9*len(events)); more > 0.01 {
		t.Errorf("%.3f allocations per event (%v for %d events, %v for ten times as many)", more, few, len(events), many)
	}
}

// Memory does not grow with the number of events or slices.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it writes 1.5 million events")
	}
	s := newScript(t)
	events := s.events(`
		1 1.1 start A 1
		2 1.1 event Tick stack=0x10
		3 1.2 start B 2
		4 1.1 sample stack=0x10
		5 1.1 stop A 1
		6 1.3 stop B 2
	`)
	held := func(n int) uint64 {
		tl := timeline.New(info(), nil, &timeline.Options{Args: func(dst []byte, s *timeline.Source) []byte { return append(dst, "some args of a usual length"...) }})
		defer tl.Close()
		for i := range n {
			e := events[i%len(events)]
			e.Time = ntconv.Ticks(i)
			if err := tl.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := tl.Finish(); err != nil {
			t.Fatal(err)
		}
		peak, items := uint64(0), 0
		if err := tl.Each(func(*timeline.Item) error {
			if items++; items%(n/2) == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return peak
	}
	few, many := held(300_000), held(1_200_000)
	if many > few+4<<20 {
		t.Errorf("%d MiB after the first events, %d MiB after four times as many", few>>20, many>>20)
	}
	t.Logf("%d MiB, %d MiB", few>>20, many>>20)
}

// FuzzTimeline asserts that no trace makes a timeline panic or violate its properties.
func FuzzTimeline(f *testing.F) {
	for _, name := range []string{"activities", "counters", "cpu-v6", "spans-stop"} {
		f.Add(corpus.Trace(f, name).Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		src, err := reader.NewBytes(data, nil)
		if err != nil {
			return
		}
		tl := timeline.New(src.Info(), nil, nil)
		defer tl.Close()
		for {
			e, err := src.Next()
			if err != nil {
				break
			}
			if err := tl.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := tl.Finish(); err != nil {
			t.Fatal(err)
		}
		check(t, tl)
		if n, want := tl.Accounted(), tl.Counts().Events; n != want {
			t.Errorf("%d of %d events are accounted for", n, want)
		}
	})
}
