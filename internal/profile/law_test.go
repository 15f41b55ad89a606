package profile_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/sample"
)

// naive keeps every event and adds up samples in the most obvious way.
type naive struct {
	namer   *fakeNamer
	hides   bool // as a hidingNamer
	samples []naiveSample
}

type naiveSample struct {
	thread *ntconv.Thread
	text   string // frames and labels
	at     ntconv.Ticks
	late   bool
}

func (n *naive) add(e *ntconv.Event, state, label string) {
	var names []string
	if e.Stack != nil {
		for _, pc := range e.Stack.PCs {
			names = append(names, n.namer.name(pc, e.Time))
		}
	}
	if n.hides && len(names) > 0 {
		if names = slices.DeleteFunc(names, isHidden); len(names) == 0 {
			names = []string{"hidden"}
		}
	}
	labels := fmt.Sprintf("tid=%did state=%s%s", e.Thread.TID, state, label)
	if name := e.Thread.Name; name != "" {
		labels = "thread=" + name + " " + labels
	}
	n.samples = append(n.samples, naiveSample{e.Thread, fmt.Sprintf("%s {%s}", strings.Join(names, "<"), labels), e.Time, false})
}

// lines gives each sample the time to the next one of its thread in time order. The last sample gets the exact median
// with the rounding of intervals, which has its own test, but no time after the end of the recording.
func (n *naive) lines(round func(exact uint64, all []uint64) uint64) []string {
	sums := map[string]*[2]int64{}
	var end ntconv.Ticks // of the recording, which ends with a sample here
	byThread := map[*ntconv.Thread][]naiveSample{}
	var threads []*ntconv.Thread
	var every []uint64
	for _, s := range n.samples {
		end = max(end, s.at)
		list := byThread[s.thread]
		if len(list) == 0 {
			threads = append(threads, s.thread)
		}
		for _, before := range list {
			s.late = s.late || before.at > s.at
		}
		byThread[s.thread] = append(list, s)
		if sums[s.text] == nil {
			sums[s.text] = new([2]int64)
		}
		sums[s.text][0]++
	}
	var last []naiveSample
	var gaps [][]uint64
	for _, t := range threads {
		list := slices.DeleteFunc(byThread[t], func(s naiveSample) bool { return s.late })
		var own []uint64
		for i := range len(list) - 1 {
			gap := list[i+1].at - list[i].at
			sums[list[i].text][1] += int64(gap)
			if gap > 0 {
				own = append(own, uint64(gap))
			}
		}
		every = append(every, own...)
		last, gaps = append(last, list[len(list)-1]), append(gaps, own)
	}
	for i, s := range last {
		g := gaps[i]
		if len(g) == 0 {
			g = every
		}
		weight := uint64(freq / 1000)
		if len(g) > 0 {
			g = slices.Sorted(slices.Values(g))
			weight = round(g[(len(g)-1)/2], g)
		}
		sums[s.text][1] += int64(min(weight, uint64(end-s.at)))
	}
	var out []string
	for text, v := range sums {
		out = append(out, fmt.Sprintf("[%d %d] %s", v[0], v[1]*(1e9/freq), text))
	}
	slices.Sort(out)
	return out
}

// The result equals adding up events one by one, for any events: equal stacks with different pointers, addresses whose
// names change and change back, samples that are late or simultaneous, threads with one sample.
func TestSameAsNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkNaive(t, false) })
}

// The same holds if the Namer hides frames, so that different stacks have equal frames: they are added up.
func TestSameAsNaiveGrouped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkNaive(t, true) })
}

func isHidden(name string) bool { return strings.HasPrefix(name, "g") || name == "f1" }

// A hidingNamer is an ntconv.FrameGrouper that hides some functions.
type hidingNamer struct {
	*fakeNamer
	events int64 // of all stacks that were shown
}

func (n *hidingNamer) Recorded() ntconv.Namer { return n.fakeNamer }

func (n *hidingNamer) AppendGrouped(dst []ntconv.Frame, _ *ntconv.Process, recorded []ntconv.Frame, events int64) []ntconv.Frame {
	n.events += events
	from := len(dst)
	for _, f := range recorded {
		if !isHidden(f.Func.Name) {
			dst = append(dst, f)
		}
	}
	if len(dst) == from && len(recorded) > 0 {
		dst = append(dst, ntconv.Frame{Func: &ntconv.Function{Name: "hidden"}})
	}
	return dst
}

// A hidden frame without a symbol is reported as unresolved, because the report is about the recording.
func TestUnresolvedOfGrouped(t *testing.T) {
	var got [2]sample.Summary
	fake := &fakeNamer{}
	for _, pc := range []uint64{0xdead0000, 0xdead0001} {
		fake.define(pc, 0, "g")
	}
	for i, namer := range []ntconv.Namer{fake, &hidingNamer{fakeNamer: fake}} {
		b := profile.New(testInfo(), namer, &profile.Options{Kind: sample.CPU})
		th := &ntconv.Thread{TID: 1, Process: shop}
		for at, s := range []*ntconv.Stack{stack(0xdead0000, 2), stack(0xdead0001, 2), stack(3, 2), stack(2, 0xdead0000), nil} {
			for range 3 {
				b.Add(cpuEvent(th, ntconv.Ticks(at), 1, s))
			}
		}
		p := b.Finish()
		for range p.Samples() {
		}
		got[i] = *p.Summary()
	}
	if !reflect.DeepEqual(got[0], got[1]) || got[0].Unresolved.Frames != 9 || got[0].Frames != 24 {
		t.Errorf("%+v, with hidden frames %+v", got[0], got[1])
	}
}

func checkNaive(t *rapid.T, hides bool) {
	threads := []*ntconv.Thread{{TID: 1, Name: "one", Process: shop}, {TID: 2, Process: shop}, {TID: 3, Name: "three", Process: shop}}
	namer := &fakeNamer{}
	hiding := &hidingNamer{fakeNamer: namer}
	used := ntconv.Namer(namer)
	if hides {
		used = hiding
	}
	b := profile.New(testInfo(), used, &profile.Options{Kind: sample.Wall, DropLabels: []string{"pid", "process"}})
	n := &naive{namer: namer, hides: hides}
	var now, floor ntconv.Ticks
	latest := map[*ntconv.Thread]ntconv.Ticks{}
	for range rapid.IntRange(1, 120).Draw(t, "events") {
		now += ntconv.Ticks(rapid.SampledFrom([]int{0, 1, 7, 1000, 1000, 50000}).Draw(t, "step"))
		if rapid.IntRange(0, 9).Draw(t, "redefine") == 0 {
			now++
			floor = now
			pc := rapid.Uint64Range(1, 3).Draw(t, "pc")
			namer.define(pc, now, fmt.Sprint(rapid.SampledFrom([]string{"f", "g"}).Draw(t, "name"), pc))
		}
		th := rapid.SampledFrom(threads).Draw(t, "thread")
		at := now
		if rapid.IntRange(0, 9).Draw(t, "late") == 0 {
			at = max(floor, now-1500)
		}
		var s *ntconv.Stack
		if depth := rapid.IntRange(0, 3).Draw(t, "depth"); depth > 0 {
			s = &ntconv.Stack{PCs: rapid.SliceOfN(rapid.Uint64Range(1, 3), depth, depth).Draw(t, "pcs")}
		}
		state := rapid.IntRange(0, 2).Draw(t, "state")
		e := wallEvent(th, at, uint32(state), s)
		label := ""
		if rapid.Bool().Draw(t, "labeled") {
			e.Labels = ntconv.NewLabels([]ntconv.Label{{Kind: ntconv.LabelString, Key: "k", Str: "v"}})
			label = " k=v"
		}
		n.add(e, []string{"Error", "External", "Managed"}[state], label)
		b.Add(e)
		latest[th] = max(latest[th], at)
	}
	got := lines(b.Finish())
	slices.Sort(got)
	want := n.lines(roundMedian)
	if !slices.Equal(got, want) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if hides && hiding.events != int64(len(n.samples)) {
		t.Fatalf("the namer received %d events, want %d", hiding.events, len(n.samples))
	}
}

// roundMedian rounds the exact median of sorted lengths to the middle of one of 32 steps per power of two.
func roundMedian(exact uint64, lengths []uint64) uint64 {
	if exact >= 64 {
		step := uint64(1) << (bits.Len64(exact) - 6)
		exact = exact/step*step + step/2
	}
	return min(max(exact, lengths[0]), lengths[len(lengths)-1])
}

// hotEvents returns events as a sample profiler writes them: threads alternate and mostly repeat their stack.
func hotEvents(n, threads, stacks, depth int) []*ntconv.Event {
	rng := rand.New(rand.NewPCG(1, 2))
	var list []*ntconv.Stack
	for range stacks {
		s := &ntconv.Stack{}
		for range depth {
			s.PCs = append(s.PCs, 0x7f0000000000+uint64(rng.IntN(5000))*64)
		}
		list = append(list, s)
	}
	var who []*ntconv.Thread
	for i := range threads {
		who = append(who, &ntconv.Thread{TID: uint64(100 + i), Process: shop})
	}
	var events []*ntconv.Event
	for i := range n {
		s := list[rng.IntN(len(list))]
		if i >= threads && rng.IntN(3) > 0 {
			s = events[i-threads].Stack
		}
		events = append(events, wallEvent(who[i%threads], ntconv.Ticks(i/threads*10000+i%threads*11), uint32(1+rng.IntN(2)), s))
	}
	return events
}

func TestAddDoesNotAllocate(t *testing.T) {
	for _, k := range []sample.Kind{sample.Auto, sample.CPU} {
		events := hotEvents(5000, 7, 50, 30)
		if k == sample.CPU {
			for _, e := range events {
				*e = *cpuEvent(e.Thread, e.Time, 1, e.Stack)
			}
		}
		b := profile.New(testInfo(), &fakeNamer{}, &profile.Options{Kind: k})
		round := func() {
			for _, e := range events {
				b.Add(e)
				e.Time += 5000 / 7 * 10000
			}
		}
		round()
		round()
		if n := testing.AllocsPerRun(5, round); n != 0 {
			t.Errorf("%v: %v allocations in %d events", k, n, len(events))
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, c := range []struct{ threads, stacks, depth int }{{4, 100, 30}, {50, 1000, 30}, {50, 1000, 100}} {
		b.Run(fmt.Sprintf("threads=%d/stacks=%d/depth=%d", c.threads, c.stacks, c.depth), func(b *testing.B) {
			events := hotEvents(500000, c.threads, c.stacks, c.depth)
			p := profile.New(testInfo(), nil, nil)
			for b.Loop() {
				for _, e := range events {
					p.Add(e)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(events)), "ns/event")
		})
	}
}
