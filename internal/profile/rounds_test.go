package profile_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/ntconvtest"
)

// A profiler simulates rounds of the sample profiler: a round sees a thread that has a managed frame.
type profiler struct {
	threads []*ntconv.Thread
	sees    [][]bool         // by round and thread
	at      [][]ntconv.Ticks // times of the samples, taken or not
	events  []*ntconv.Event
}

var recorder = &ntconv.Thread{TID: 99, Name: "recorder", Process: shop}

// drawRounds generates a recording. The first thread of the list is in every round, like the main thread of a program.
func drawRounds(t *rapid.T) *profiler {
	p := &profiler{}
	for i := range rapid.IntRange(1, 5).Draw(t, "threads") {
		p.threads = append(p.threads, &ntconv.Thread{TID: uint64(i), Name: fmt.Sprint("thread ", i), Process: shop})
	}
	main := rapid.IntRange(0, len(p.threads)-1).Draw(t, "main")
	stay := rapid.SampledFrom([]int{1, 3, 10}).Draw(t, "length of stays")
	managedNow := make([]bool, len(p.threads))
	now := ntconv.Ticks(1000)
	for range rapid.IntRange(1, 30).Draw(t, "rounds") {
		now += ntconv.Ticks(rapid.SampledFrom([]int{10_000, 11_000, 12_000, 200_000}).Draw(t, "pause"))
		var at []ntconv.Ticks
		for i, th := range p.threads {
			now += 10
			at = append(at, now)
			if rapid.IntRange(0, stay-1).Draw(t, "changes") == 0 {
				managedNow[i] = rapid.Bool().Draw(t, "managed")
			}
			managedNow[i] = managedNow[i] || i == main
			if managedNow[i] {
				e := wallEvent(th, now, managed, stack(uint64(i), uint64(rapid.IntRange(0, 2).Draw(t, "pc"))))
				e.Capture = recorder
				p.events = append(p.events, e)
			}
		}
		p.sees, p.at = append(p.sees, slices.Clone(managedNow)), append(p.at, at)
	}
	return p
}

// weigh returns the weight of each sample by thread and time, in ticks.
func weigh(events []*ntconv.Event) map[string]ntconv.Ticks {
	got := map[string]ntconv.Ticks{}
	s := profile.NewStream(testInfo(), func(w *profile.Weighed[string]) { got[w.Subject] = ntconv.Ticks(w.Values[0] / (1e9 / freq)) }, nil)
	for _, e := range events {
		s.Add(e, fmt.Sprint(e.Thread.Name, " at ", e.Time))
	}
	s.Finish()
	return got
}

// A sample lasts until the next one of its thread if the next round saw the thread. If the thread was away for two
// rounds or more, the sample lasts until the beginning of the first round that did not see it. An absence of one round
// is not always detectable, because a file does not contain the beginnings of rounds.
func TestRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRounds(t)
		got := weigh(p.events)
		for k := range p.sees {
			for i, th := range p.threads {
				if !p.sees[k][i] {
					continue
				}
				next := k + 1
				for next < len(p.sees) && !p.sees[next][i] {
					next++
				}
				at := p.at[k][i]
				w, away := got[fmt.Sprint(th.Name, " at ", at)], next-k-1
				if next == len(p.sees) && away < 2 {
					continue // the last sample of a thread
				}
				var until ntconv.Ticks // the next sample of any thread after this round
				if away > 0 {
					until = p.at[k+1][slices.Index(p.sees[k+1], true)] - at
				}
				switch {
				case away == 0 && w != p.at[next][i]-at:
					t.Fatalf("%s in round %d: %d ticks, want %d", th.Name, k, w, p.at[next][i]-at)
				case away == 1 && w != until && w != p.at[next][i]-at:
					t.Fatalf("%s in round %d, away once: %d ticks, want %d or %d", th.Name, k, w, until, p.at[next][i]-at)
				case away > 1 && w != until:
					t.Fatalf("%s in round %d, away %d times: %d ticks, want %d", th.Name, k, away, w, until)
				}
			}
		}
	})
}

// Rounds do not change the weights of selections and of files of selections.
func TestSelectionsOfRoundsSumUpToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawRounds(t).events
		last := list[len(list)-1].Time
		if rapid.Bool().Draw(t, "with a loss") {
			at := rapid.IntRange(0, len(list)-1).Draw(t, "loss at")
			lost := &ntconv.Event{Kind: ntconv.KindLost, Capture: recorder, Lost: 3, Time: list[at].Time, Offset: -1, CPU: ntconv.CPUUnknown}
			list = slices.Insert(list, at, lost)
		}
		src := func() ntconv.Source { return ntconvtest.Poison(ntconvtest.NewSource(testInfo(), list...)) }
		whole := weights(build(testInfo(), &fakeNamer{}, &profile.Options{DropLabels: []string{"process"}}, list...))
		p, q := predicates(last).Draw(t, "selection"), predicates(last).Draw(t, "of the selection")
		part := weights(profileOf(src(), p))
		if got := sum(part, weights(profileOf(src(), p.not()))); !maps.Equal(got, whole) {
			t.Fatalf("%s and the rest:\n%v\nwant\n%v", p.text, got, whole)
		}
		once := rounds.NewWeights(src(), p.selects, nil)
		if got := weights(profileOf(once, anything)); !maps.Equal(got, part) {
			t.Fatalf("%s as a stream:\n%v\nwant\n%v", p.text, got, part)
		}
		twice := rounds.NewWeights(rounds.NewWeights(src(), p.selects, nil), q.selects, nil)
		if got, want := weights(profileOf(twice, anything)), weights(profileOf(src(), p.and(q))); !maps.Equal(got, want) {
			t.Fatalf("%s and %s as a stream:\n%v\nwant\n%v", p.text, q.text, got, want)
		}
	})
}

// A loss of the recorder resets the rounds, so a gap in the samples of a thread is not an absence.
func TestLossProvesNoAbsence(t *testing.T) {
	sample := func(th *ntconv.Thread, at ntconv.Ticks) *ntconv.Event {
		e := wallEvent(th, at, managed, stack(th.TID))
		e.Capture = recorder
		return e
	}
	lost := &ntconv.Event{Kind: ntconv.KindLost, Capture: recorder, Lost: 1, Time: 15}
	whole := []*ntconv.Event{
		sample(till, 0), sample(idle, 1), sample(till, 10_000), sample(till, 20_000), sample(till, 30_000), sample(till, 40_000),
		sample(idle, 40_001), ended(40_001),
	}
	for _, c := range []struct {
		events []*ntconv.Event
		weight int64
		unseen rounds.Unseen
	}{
		{whole, 9999, rounds.Unseen{Gaps: 1, Ticks: 30_001}},
		{slices.Insert(slices.Clone(whole), 3, lost), 40_000, rounds.Unseen{}},
	} {
		b := profile.New(testInfo(), &fakeNamer{}, nil)
		for _, e := range c.events {
			b.Add(e)
		}
		p := b.Finish()
		for s := range p.Samples() {
			if s.Thread == idle && s.Values[1] != c.weight*100 {
				t.Errorf("%d ns, want %d", s.Values[1], c.weight*100)
			}
		}
		if p.Unseen != c.unseen {
			t.Errorf("unseen %+v, want %+v", p.Unseen, c.unseen)
		}
	}
}

// The time of samples before gaps in which no thread was sampled is noted, in profiles and by streams alike.
func TestLongSamplesAreNoted(t *testing.T) {
	const period = 10_000 // ticks of testInfo in a millisecond
	list := func(gap ntconv.Ticks) (list []*ntconv.Event) {
		for i := range ntconv.Ticks(50) {
			list = append(list, wallEvent(till, i*period, managed, stack(1)))
		}
		last := 49*period + gap
		return append(list, wallEvent(till, last, managed, stack(1)), ended(last+period))
	}
	for _, c := range []struct {
		gap  ntconv.Ticks
		want string
	}{
		{100 * period, ""},
		{101 * period, "long-sample: 1 " + ntconv.CodeLongSample.TextFor(1) + ": 101ms of 151ms (66.9%) count for the stack before the gap"},
	} {
		var notes [2]string
		note := func(r *ntconv.Report) (text string) {
			for _, e := range r.Entries() {
				if e.Code == ntconv.CodeLongSample {
					text = e.String()
				}
			}
			return text
		}
		var built, streamed ntconv.Report
		b := profile.New(testInfo(), &fakeNamer{}, &profile.Options{Report: &built})
		s := profile.NewStream(testInfo(), func(*profile.Weighed[int]) {}, &profile.StreamOptions{Report: &streamed})
		for _, e := range list(c.gap) {
			b.Add(e)
			s.Add(e, 0)
		}
		b.Finish()
		s.Finish()
		notes[0], notes[1] = note(&built), note(&streamed)
		if notes != [2]string{c.want, c.want} {
			t.Errorf("gap of %d ticks:\n%q\nwant\n%q", c.gap, notes, c.want)
		}
	}
}
