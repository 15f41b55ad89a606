package split_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/internal/trace/split"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/symbol"
	"github.com/ntconv/ntconv/writer"
)

// A builtWindow is a window as a trace, complete if closed is set.
type builtWindow struct {
	split.Window
	bytes.Buffer
	ntconv.Sink
	closed bool
}

func (b *builtWindow) Write(e *ntconv.Event) error { return b.Sink.Write(e) }

func (b *builtWindow) Close() error {
	if b.closed {
		return errors.New("closed twice")
	}
	b.closed = true
	return b.Sink.Close()
}

// windows divides a trace in one reading. learned are events of another recording of the process.
func windows(t *testing.T, src, learned ntconv.Source, every time.Duration) (built []*builtWindow) {
	t.Helper()
	w := split.NewWindows(src.Info(), split.WindowOptions{Every: every, Create: func(of split.Window) (ntconv.Sink, error) {
		b := &builtWindow{Window: of}
		var err error
		b.Sink, err = writer.New(&b.Buffer, src.Info(), &writer.Options{Renumber: true, AllowLarge: true})
		built = append(built, b)
		return b, err
	}})
	if learned != nil {
		for e, err := range ntconv.Events(learned) {
			if err != nil {
				break
			}
			w.Learn(e)
		}
	}
	copyAll(t, w, src)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return built
}

// traceLength returns the time from the start of a trace to its last event.
func traceLength(src ntconv.Source) time.Duration {
	last := src.Info().Clock.Tick
	for e, err := range ntconv.Events(src) {
		if err != nil {
			break
		}
		if e.Kind == ntconv.KindEvent {
			last = max(last, e.Time)
		}
	}
	return src.Info().Clock.Since(src.Info().Clock.Tick, last)
}

// own counts the events of a trace by provider and ID, without those that a window adds.
func own(src ntconv.Source, into map[string]int) {
	for e, err := range ntconv.Events(src) {
		if err != nil {
			break
		}
		if e.Kind == ntconv.KindEvent && !recording.IsCopy(e) && e.Type.Provider != recording.Provider {
			into[fmt.Sprint(e.Type.Provider, "/", e.Type.ID, "/", e.Version())]++
		}
	}
}

// hot adds the samples of kind wall by the name of the innermost frame.
func hot(t *testing.T, data []byte, into map[string]int64) {
	t.Helper()
	names := symbol.New(nil)
	_ = names.Scan(readTrace(data, reader.ByTime)(t)) // some traces are cut
	src := readTrace(data, reader.ByTime)(t)
	p := profile.New(src.Info(), names, &profile.Options{Kind: sample.Wall})
	for e, err := range ntconv.Events(src) {
		if err != nil {
			break
		}
		p.Add(e)
	}
	for s := range p.Finish().Samples() {
		if len(s.Frames) > 0 {
			into[s.Frames[0].Func.Name] += s.Values[0]
		}
	}
}

// The windows of a trace have its events, once each; samples and wall times of threads add up to those of the trace, and so do
// the samples of methods by name, if the descriptions at the end of the trace are known before.
func TestWindowsAddUp(t *testing.T) {
	sampled := 0
	for _, tr := range corpus.Traces(t) {
		for _, order := range []reader.Order{reader.ByTime, reader.FileOrder} {
			open := readTrace(tr.Data, order)
			length := traceLength(open(t))
			if length < time.Millisecond {
				continue
			}
			t.Run(fmt.Sprint(tr.Name, "/", order), func(t *testing.T) {
				built := windows(t, open(t), open(t), max(time.Millisecond, length/7))
				counts, wholeCounts := map[string]int{}, map[string]int{}
				sums, names, wholeNames := map[string][2]int64{}, map[string]int64{}, map[string]int64{}
				own(open(t), wholeCounts)
				hot(t, tr.Data, wholeNames)
				for _, b := range built {
					if !b.closed {
						t.Fatalf("window %d is open", b.Number)
					}
					part := readTrace(b.Bytes(), reader.ByTime)
					own(part(t), counts)
					hot(t, b.Bytes(), names)
					for name, v := range wall(t, part(t)) {
						sums[name] = [2]int64{sums[name][0] + v[0], sums[name][1] + v[1]}
					}
				}
				if !maps.Equal(counts, wholeCounts) {
					t.Errorf("%d windows: events %v, want %v", len(built), counts, wholeCounts)
				}
				whole := wall(t, readTrace(tr.Data, reader.ByTime)(t))
				if sampled += len(whole); !maps.Equal(sums, whole) {
					t.Errorf("%d windows: wall times %v, want %v", len(built), sums, whole)
				}
				for name, n := range wholeNames {
					if names[name] != n {
						t.Errorf("%d windows: %d samples of %s, want %d", len(built), names[name], name, n)
					}
				}
			})
		}
	}
	if sampled == 0 {
		t.Error("no trace has samples")
	}
}

// A countingSink counts the events of a window.
type countingSink struct {
	counts *[]int
	n      int
}

func (c countingSink) Write(*ntconv.Event) error { (*c.counts)[c.n]++; return nil }
func (c countingSink) Close() error              { return nil }

// A window is complete when time has passed, also without an event, and events that come later are not lost.
func TestWindowsAdvance(t *testing.T) {
	info := &ntconv.Info{Clock: ntconv.Clock{Freq: 1000, Tick: 5000}}
	var built []split.Window
	var counts []int
	w := split.NewWindows(info, split.WindowOptions{Every: 2 * time.Second, Create: func(of split.Window) (ntconv.Sink, error) {
		built, counts = append(built, of), append(counts, 0)
		n := len(built) - 1
		return countingSink{&counts, n}, nil
	}})
	thread := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
	write := func(at ntconv.Ticks) {
		t.Helper()
		e := &ntconv.Event{Time: at, Type: &ntconv.Type{Provider: "A", ID: 1}, Thread: thread, Capture: thread}
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	write(5000)
	write(6999)
	write(11000) // the window from 9000 on is empty
	write(7500)  // of a window that was not open yet
	write(6500)  // of a window that is complete: in the oldest that is open
	if err := w.Advance(13999); err != nil || w.Late() != 1 {
		t.Errorf("%v, %d late", err, w.Late())
	}
	write(12999)
	if err := w.Advance(14000); err != nil {
		t.Fatal(err)
	}
	write(12000) // no window is open
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(built, counts, w.Late())
	if want := "[{0 5000 7000} {3 11000 13000} {1 7000 9000} {4 13000 15000}] [2 2 2 1] 2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
