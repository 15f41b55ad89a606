package profile_test

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/testing/corpus"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
)

// A weighing identifies the total of a sample type for a thread, stack and state.
type weighing struct {
	kind             sample.Kind
	typ, unit        string
	pid, tid         uint64
	state, stackText string
}

// A subject is what the tests pass with a sample.
type subject struct {
	key weighing
	at  ntconv.Ticks
}

func stackText(p *ntconv.Process, s *ntconv.Stack, at ntconv.Ticks) string {
	if s == nil {
		return ""
	}
	return framesText(new(ntconv.NoNames).AppendFrames(nil, p, s, at))
}

func framesText(frames []ntconv.Frame) string {
	var b bytes.Buffer
	for _, f := range frames {
		fmt.Fprintf(&b, "%x ", f.PC)
		if f.Func != nil {
			fmt.Fprintf(&b, "%s:%d ", f.Func.Name, f.Line)
		}
	}
	return b.String()
}

// builderSums returns the profile of all kinds and the number of events of each row.
func builderSums(events []*ntconv.Event, info *ntconv.Info, keep func(*ntconv.Event) bool) map[weighing]int64 {
	sums := map[weighing]int64{}
	for _, k := range []sample.Kind{sample.Wall, sample.CPU, sample.Imported} {
		b := profile.New(info, nil, &profile.Options{Kind: k})
		for _, e := range events {
			b.Watch(e)
			if keep(e) {
				b.Add(e)
			}
		}
		p := b.Finish()
		for s := range p.Samples() {
			key := weighing{kind: k, pid: s.Thread.Process.PID, tid: s.Thread.TID, stackText: framesText(s.Frames)}
			for _, l := range s.Labels {
				if l.Key == "state" {
					key.state = l.Str
				}
			}
			for i, v := range p.Types {
				if v.Type == "samples" && k != sample.Imported {
					continue
				}
				key.typ, key.unit = v.Type, v.Unit
				sums[key] += s.Values[i]
			}
		}
	}
	return sums
}

// streamSums returns the totals and the number of single samples.
func streamSums(events []*ntconv.Event, info *ntconv.Info, keep func(*ntconv.Event) bool, alwaysWatch bool) (map[weighing]int64, map[weighing]int64) {
	sums, counts := map[weighing]int64{}, map[weighing]int64{}
	s := profile.NewStream(info, func(w *profile.Weighed[subject]) {
		key := w.Subject.key
		key.kind, key.state = w.Kind, w.State()
		for i, v := range w.Types {
			key.typ, key.unit = v.Type, v.Unit
			sums[key] += w.Values[i]
			counts[key]++
		}
	}, nil)
	strings := map[*ntconv.Stack]string{}
	for _, e := range events {
		if alwaysWatch {
			s.Watch(e)
		}
		if !keep(e) {
			continue
		}
		var sub subject
		if s.IsSample(e) {
			text, ok := strings[e.Stack]
			if !ok {
				text = stackText(e.Thread.Process, e.Stack, e.Time)
				strings[e.Stack] = text
			}
			sub = subject{weighing{pid: e.Thread.Process.PID, tid: e.Thread.TID, stackText: text}, e.Time}
		}
		s.Add(e, sub)
	}
	s.Finish()
	return sums, counts
}

func kept(tb testing.TB, src ntconv.Source) (events []*ntconv.Event) {
	tb.Helper()
	for {
		e, err := src.Next()
		if err != nil {
			return events
		}
		c := *e
		c.Payload = bytes.Clone(e.Payload)
		events = append(events, &c)
	}
}

// checkSums compares the totals of a Builder with those of a Stream. They are equal if a tick is a whole number of
// nanoseconds, and otherwise differ by less than 1 ns per sample.
func checkSums(tb testing.TB, info *ntconv.Info, want, got, counts map[weighing]int64) {
	tb.Helper()
	exact := 1_000_000_000%info.Clock.Freq == 0
	for key, n := range want {
		limit := counts[key]
		if exact {
			limit = 0
		}
		if d := got[key] - n; max(d, -d) > limit || counts[key] == 0 {
			tb.Errorf("%v %s: got %d in %d samples, want %d", key.kind, key.typ, got[key], counts[key], n)
		}
	}
	if len(got) != len(want) {
		tb.Errorf("%d rows, want %d", len(got), len(want))
	}
}

// Single samples add up to the profile: in every trace, for selections, in files of selections, and in both orders.
func TestStreamAddsUpToProfile(t *testing.T) {
	files := corpus.Traces(t)
	if _, err := corpus.Find("data"); err == nil && !testing.Short() {
		files = append(files, corpus.SharedTraces(t)...)
	}
	samples := 0
	for _, f := range files {
		for _, order := range []reader.Order{reader.ByTime, reader.FileOrder} {
			src, err := reader.NewBytes(f.Data, &reader.Options{Order: order})
			if err != nil {
				t.Fatal(f.Name, err)
			}
			info, events := src.Info(), kept(t, src)
			all := func(*ntconv.Event) bool { return true }
			third := func(e *ntconv.Event) bool { return e.Kind != ntconv.KindEvent || e.Time/1000%3 == 0 }
			for i, keep := range []func(*ntconv.Event) bool{all, third} {
				got, counts := streamSums(events, info, keep, i > 0)
				checkSums(t, info, builderSums(events, info, keep), got, counts)
				samples += len(got)
			}
			if t.Failed() {
				t.Fatal(f.Name)
			}
		}
	}
	if samples < 1000 {
		t.Fatalf("%d sums: the traces hold no samples", samples)
	}
}

// Single samples add up to the profile for any events, including threads that exit, and their times to those of the
// threads.
func TestStreamOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		info := testInfo()
		info.Clock.Freq = rapid.SampledFrom([]int64{freq, 3_579_545, 1_000_000_000, 24}).Draw(t, "frequency")
		threads := []*ntconv.Thread{{TID: 1, Process: shop}, {TID: 2, Process: shop}, {TID: 3, Process: shop}}
		var events []*ntconv.Event
		var now ntconv.Ticks
		for range rapid.IntRange(1, 100).Draw(t, "events") {
			now += ntconv.Ticks(rapid.SampledFrom([]int{0, 1, 7, 1000, 50000}).Draw(t, "step"))
			th := rapid.SampledFrom(threads).Draw(t, "thread")
			at := now
			if rapid.IntRange(0, 9).Draw(t, "late") == 0 {
				at = max(0, now-1500)
			}
			pcs := stack(rapid.Uint64Range(1, 3).Draw(t, "pc"))
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				mark := &ntconv.Mark{Kind: ntconv.MarkThreadsRemoved, Threads: []ntconv.ThreadSeq{{Thread: th}}}
				events = append(events, &ntconv.Event{Kind: ntconv.KindMark, Mark: mark, Time: now})
			case 1:
				events = append(events, cpuEvent(th, at, rapid.Uint64Range(0, 3).Draw(t, "value"), pcs))
			default:
				events = append(events, wallEvent(th, at, uint32(rapid.IntRange(0, 2).Draw(t, "state")), pcs))
			}
		}
		modulus := ntconv.Ticks(rapid.IntRange(1, 3).Draw(t, "modulus"))
		keep := func(e *ntconv.Event) bool { return e.Kind != ntconv.KindEvent || e.Time%modulus == 0 }
		want := builderSums(events, info, keep)
		got, counts := streamSums(events, info, keep, true)
		exact := 1_000_000_000%info.Clock.Freq == 0
		if len(got) != len(want) {
			t.Fatalf("%d rows, want %d", len(got), len(want))
		}
		for key, n := range want {
			if d := max(got[key]-n, n-got[key]); exact && d != 0 || d > counts[key] {
				t.Fatalf("%+v: got %d in %d samples, want %d", key, got[key], counts[key], n)
			}
		}
	})
}

func TestStreamDoesNotAllocate(t *testing.T) {
	events := hotEvents(5000, 7, 50, 30)
	s := profile.NewStream(testInfo(), func(*profile.Weighed[int64]) {}, nil)
	round := func() {
		for _, e := range events {
			s.Watch(e)
			s.Add(e, 1)
			e.Time += 5000 / 7 * 10000
		}
	}
	round()
	round()
	if n := testing.AllocsPerRun(5, round); n != 0 {
		t.Errorf("%v allocations in %d events", n, len(events))
	}
}
