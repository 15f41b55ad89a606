package live_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/convert"
	"github.com/ntconv/ntconv/internal/show/live"
	"github.com/ntconv/ntconv/internal/show/web"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
)

// fill returns a window with the samples of a trace, which may be incomplete, and calls each after each event.
func fill(tb testing.TB, data []byte, o *live.WindowOptions, each func(*live.Window, *ntconv.Event)) (*live.Window, *ntconv.Info) {
	tb.Helper()
	src, err := reader.NewBytes(data, &reader.Options{Order: reader.ByTime})
	if err != nil {
		tb.Fatal(err)
	}
	names := symbol.New(nil)
	w := live.NewWindow(src.Info(), names, o)
	for e, err := range ntconv.Events(symbol.Watch(ntconvtest.Poison(src), names)) {
		if err != nil {
			break
		}
		w.Add(e)
		if each != nil {
			each(w, e)
		}
	}
	return w, src.Info()
}

// The samples of a window that has the whole trace are those of ntconv top, function by function.
func TestWindowIsTop(t *testing.T) {
	compared := 0
	for _, f := range corpus.Traces(t) {
		w, _ := fill(t, f.Data, &live.WindowOptions{Kinds: kinds()}, nil)
		w.Finish()
		for _, k := range kinds() {
			got := w.Rank(k, false)
			p, err := convert.Profile(t.Context(), &convert.Options{Settings: map[string]string{"kind": k.String(), "native": "full"}}, f.Path)
			if errors.As(err, new(*convert.IncompleteError)) {
				err = nil
			}
			if err != nil {
				if got.Samples > 0 {
					t.Errorf("%s, %v: %d samples, but %v", f.Name, k, got.Samples, err)
				}
				continue
			}
			want, _, err := web.Rank(p, &web.TopOptions{SampleType: got.Type.Type})
			if err != nil {
				t.Fatalf("%s, %v: %v", f.Name, k, err)
			}
			compared++
			compare(t, f.Name+", "+k.String(), got, want)
		}
	}
	if compared < 25 {
		t.Errorf("%d profiles compared", compared)
	}
}

// kinds returns the kinds that screens can show.
func kinds() []sample.Kind {
	return []sample.Kind{
		sample.Wall, sample.CPU, sample.Alloc, sample.Exceptions, sample.Contention, sample.Wait, sample.GC, sample.JIT, sample.TypeLoad,
	}
}

// compare compares rankings. A profile rounds a total, and a window each sample.
func compare(t *testing.T, name string, got *live.Ranking, want *web.Ranking) {
	t.Helper()
	slack := int64(got.Samples) + 1
	near := func(a, b int64) bool { return a-b <= slack && b-a <= slack }
	rows := map[string]web.Row{}
	for _, r := range got.Rows {
		rows[r.Function] = web.Row(r)
	}
	wanted := map[string]web.Row{}
	for _, r := range want.Rows {
		wanted[r.Function] = r
	}
	equal := func(a, b web.Row) bool { return near(a.Flat, b.Flat) && near(a.Cum, b.Cum) }
	if !near(got.Total, want.Total) || !maps.EqualFunc(rows, wanted, equal) {
		n := 0
		for _, function := range slices.Sorted(maps.Keys(wanted)) {
			if !equal(rows[function], wanted[function]) && n < 3 {
				n++
				t.Logf("%s: got %+v, want %+v", function, rows[function], wanted[function])
			}
		}
		t.Errorf("%s: total %d of %d functions, want %d of %d", name, got.Total, len(rows), want.Total, len(wanted))
	}
}

// At each time, a window has what ended in its length, and in the end nothing.
func TestWindowSlides(t *testing.T) {
	const length = 100 * time.Millisecond
	f := corpus.Trace(t, "cpu-env")
	n, most := 0, int64(0)
	var last ntconv.Ticks
	w, info := fill(t, f.Data, &live.WindowOptions{Kinds: kinds(), Length: length}, func(w *live.Window, e *ntconv.Event) {
		if e.Kind != ntconv.KindEvent || e.Time <= last {
			return
		}
		last = e.Time
		w.Advance(e.Time)
		if n++; n%50 == 0 {
			r := w.Rank(sample.Wall, false)
			most = max(most, r.Total)
		}
	})
	// The program had at most 6 threads.
	if limit := 6 * int64(length+length/25); most > limit || most < int64(length) {
		t.Errorf("%v of wall time in a window of %v", time.Duration(most), length)
	}
	w.Advance(last + info.Clock.TicksAt(time.Second) - info.Clock.TicksAt(0))
	for _, k := range kinds() {
		if r := w.Rank(k, false); r.Total != 0 || r.Samples != 0 || len(r.Rows) != 0 {
			t.Errorf("%v: %d samples after the end", k, r.Samples)
		}
	}
}

// Threads in native code are a part of all samples.
func TestRunning(t *testing.T) {
	w, _ := fill(t, corpus.Trace(t, "cpu-env").Data, &live.WindowOptions{Kinds: kinds()}, nil)
	w.Finish()
	all, running := w.Rank(sample.Wall, false), w.Rank(sample.Wall, true)
	if running.Total <= 0 || running.Total >= all.Total {
		t.Errorf("%d of %d", running.Total, all.Total)
	}
	running.Sort(false)
	if top := running.Rows[0]; !strings.HasPrefix(top.Function, "Shop.") || top.Cum < top.Flat {
		t.Errorf("%+v", top)
	}
	all.Sort(true)
	if !slices.IsSortedFunc(all.Rows, func(a, b live.Row) int { return int(b.Cum - a.Cum) }) {
		t.Error("the rows are not sorted by cumulative values")
	}
}
