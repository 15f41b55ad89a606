package split_test

import (
	"io"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/writer"
)

// A repeated is a source of the events of a trace again and again, each time later by its period.
type repeated struct {
	info   *ntconv.Info
	events []ntconv.Event
	period ntconv.Ticks
	times  int // that remain
	next   int
	e      ntconv.Event
	shift  ntconv.Ticks
}

// repeat returns a source that lasts a number of periods.
func repeat(t *testing.T, src ntconv.Source, period time.Duration, times int) *repeated {
	t.Helper()
	r := &repeated{info: src.Info(), times: times, period: src.Info().Clock.TicksAt(period) - src.Info().Clock.Tick}
	for e, err := range ntconv.Events(src) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == ntconv.KindEvent {
			kept := *e
			kept.Payload = slices.Clone(e.Payload)
			r.events = append(r.events, kept)
		}
	}
	return r
}

func (r *repeated) Info() *ntconv.Info { return r.info }

func (r *repeated) Next() (*ntconv.Event, error) {
	if r.next == len(r.events) {
		r.next, r.times, r.shift = 0, r.times-1, r.shift+r.period
	}
	if r.times == 0 {
		return nil, io.EOF
	}
	r.e = r.events[r.next]
	r.e.Time += r.shift
	r.next++
	return &r.e, nil
}

// measuredWindow reads a window when it is complete.
type measuredWindow struct {
	builtWindow
	done func(*builtWindow)
}

func (m *measuredWindow) Close() error {
	err := m.builtWindow.Close()
	m.done(&m.builtWindow)
	return err
}

// An hour of windows has no gap, needs no more memory at its end than after some minutes, and has the samples, waits and
// compilations of the recording. The time is that of the events, so nothing waits for it.
func TestWindowsOfAnHour(t *testing.T) {
	count := 3600
	if !corpus.Nightly() {
		count = 60
	}
	const period = 970 * time.Millisecond // windows begin at different events
	kinds := []sample.Kind{sample.Contention, sample.Wait, sample.JIT}
	source := func() *repeated {
		return repeat(t, readTrace(corpus.Trace(t, "waits").Data, reader.ByTime)(t), period, int(time.Duration(count)*time.Second/period))
	}
	src := source()
	if last := src.events[len(src.events)-1].Time - src.info.Clock.Tick; last >= src.period {
		t.Fatalf("the trace lasts %d ticks", last)
	}
	whole, sums := map[string]int64{}, map[string]int64{}
	walls := map[string][2]int64{}
	var heap []uint64
	next := 0
	w := split.NewWindows(src.Info(), split.WindowOptions{Every: time.Second, Create: func(of split.Window) (ntconv.Sink, error) {
		m := &measuredWindow{builtWindow: builtWindow{Window: of}}
		var err error
		m.Sink, err = writer.New(&m.Buffer, src.Info(), &writer.Options{Renumber: true, AllowLarge: true})
		m.done = func(b *builtWindow) {
			if b.Number != next {
				t.Errorf("window %d follows window %d", b.Number, next-1)
			}
			next = b.Number + 1
			part := readTrace(b.Bytes(), reader.ByTime)
			addTotals(part(t), kinds, sums)
			for name, v := range wall(t, part(t)) {
				walls[name] = [2]int64{walls[name][0] + v[0], walls[name][1] + v[1]}
			}
			if b.Number%(count/12) == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				heap = append(heap, m.HeapAlloc)
			}
		}
		return m, err
	}})
	copyAll(t, w, src)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	addTotals(source(), kinds, whole)
	t.Logf("%d windows, heap in KiB %d, %v", next, inKiB(heap), sums)
	if next < count-1 || w.Late() > 0 {
		t.Errorf("%d windows in %d s, %d late events", next, count, w.Late())
	}
	if !maps.Equal(sums, whole) || len(whole) != 2*len(kinds) {
		t.Errorf("windows have %v, want %v", sums, whole)
	}
	if want := wall(t, source()); !maps.Equal(walls, want) {
		t.Errorf("windows have wall times %v, want %v", walls, want)
	}
	if early, late := heap[1], heap[len(heap)-1]; late > early+1<<20 { // descriptions that were replaced are freed together
		t.Errorf("the memory grows: %d KiB", inKiB(heap))
	}
}

func inKiB(bytes []uint64) (kib []uint64) {
	for _, n := range bytes {
		kib = append(kib, n>>10)
	}
	return kib
}
