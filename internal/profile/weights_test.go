package profile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/recording"
	"github.com/ntconv/ntconv/internal/profile"
	"github.com/ntconv/ntconv/internal/profile/rounds"
	"github.com/ntconv/ntconv/ntconvtest"
	"github.com/ntconv/ntconv/reader"
	"github.com/ntconv/ntconv/sample"
	"github.com/ntconv/ntconv/writer"
)

// A predicate is a selection of samples by content. It does not select events that are not samples, but it selects
// marks.
type predicate struct {
	text string
	keep func(*ntconv.Event) bool
}

func (p predicate) selects(e *ntconv.Event) bool {
	return e.Kind != ntconv.KindEvent || e.Type.Provider == threadSample.Provider && p.keep(e)
}

func (p predicate) and(q predicate) predicate {
	return predicate{p.text + " and " + q.text, func(e *ntconv.Event) bool { return p.keep(e) && q.keep(e) }}
}

func (p predicate) not() predicate {
	return predicate{"not " + p.text, func(e *ntconv.Event) bool { return !p.keep(e) }}
}

func between(from, to ntconv.Ticks) predicate {
	return predicate{fmt.Sprintf("time in [%d, %d)", from, to), func(e *ntconv.Event) bool { return from <= e.Time && e.Time < to }}
}

var anything = predicate{"anything", func(*ntconv.Event) bool { return true }}

func predicates(last ntconv.Ticks) *rapid.Generator[predicate] {
	return rapid.Custom(func(t *rapid.T) predicate {
		n := rapid.IntRange(0, 3).Draw(t, "number")
		switch rapid.IntRange(0, 5).Draw(t, "predicate") {
		case 0:
			return predicate{"managed", func(e *ntconv.Event) bool { return e.Payload[0] == managed }}
		case 1:
			return predicate{fmt.Sprint("thread ", n), func(e *ntconv.Event) bool { return e.Thread.TID == uint64(n) }}
		case 2:
			return predicate{fmt.Sprint("stack ", n), func(e *ntconv.Event) bool { return e.Stack.PCs[0] == uint64(n) }}
		case 3:
			m := ntconv.Ticks(rapid.IntRange(2, 5).Draw(t, "modulus"))
			return predicate{fmt.Sprint("time modulo ", m), func(e *ntconv.Event) bool { return e.Time%m == 0 }}
		case 4:
			from := ntconv.Ticks(rapid.Int64Range(0, int64(last)).Draw(t, "from"))
			return between(from, from+ntconv.Ticks(rapid.Int64Range(0, int64(last)).Draw(t, "length")))
		}
		return anything
	})
}

// sampledTrace generates a trace of samples in file order: the samples of each thread are in order, those of different
// threads only across a sequence point. Threads exit, others start with their IDs, and tables are flushed.
func sampledTrace(t *rapid.T) (list []*ntconv.Event, last ntconv.Ticks) {
	flushes, threads := rapid.Bool().Draw(t, "flushes"), 0
	newThread := func(tid int) *ntconv.Thread {
		th := &ntconv.Thread{TID: uint64(tid), Name: fmt.Sprint("thread ", tid), Process: shop}
		if threads++; flushes { // after a flush, a reader creates another thread for the same name and ID
			th.Name = fmt.Sprint("thread ", tid, " number ", threads)
		}
		return th
	}
	sampler := &ntconv.Thread{TID: 100, Process: shop}
	live := []*ntconv.Thread{newThread(0), newThread(1), newThread(2), newThread(3)}
	oneRecorder := rapid.Bool().Draw(t, "one recorder")
	now := map[*ntconv.Thread]ntconv.Ticks{}
	var start ntconv.Ticks
	mark := func(m *ntconv.Mark) {
		list = append(list, &ntconv.Event{Kind: ntconv.KindMark, CPU: ntconv.CPUUnknown, Time: last, Offset: -1, Mark: m})
	}
	for range rapid.IntRange(0, 60).Draw(t, "steps") {
		i := rapid.IntRange(0, len(live)-1).Draw(t, "thread")
		th := live[i]
		switch rapid.IntRange(0, 19).Draw(t, "step") {
		case 0:
			flags := ntconv.MarkFlags(0)
			if flushes {
				flags = ntconv.MarkFlags(rapid.IntRange(0, 3).Draw(t, "flags"))
			}
			mark(&ntconv.Mark{Kind: ntconv.MarkSequencePoint, Flags: flags})
			start = last
			continue
		case 1:
			mark(&ntconv.Mark{Kind: ntconv.MarkThreadsRemoved, Threads: []ntconv.ThreadSeq{{Thread: th}}})
			live[i] = newThread(i)
			start = last // an exited thread and its successor have one ID, so only the order separates them
			continue
		}
		capture, step := th, rapid.SampledFrom([]int64{0, 1, 3, 10, 10, 1000}).Draw(t, "length")
		if oneRecorder {
			capture = sampler
		}
		now[capture] = max(now[capture], start) + ntconv.Ticks(step)
		last = max(last, now[capture])
		e := wallEvent(th, now[capture], uint32(rapid.IntRange(1, 2).Draw(t, "state")), stack(rapid.Uint64Range(0, 3).Draw(t, "pc"), 9))
		e.Capture, e.Offset = capture, -1
		if rapid.IntRange(0, 5).Draw(t, "other") == 0 {
			e.Type, e.Stack = otherType, nil
		}
		list = append(list, e)
	}
	return list, last
}

// profileOf returns the profile of the samples that a predicate selects, and its duration.
func profileOf(src ntconv.Source, p predicate) *profile.Profile {
	b := profile.New(src.Info(), &fakeNamer{}, &profile.Options{DropLabels: []string{"process"}})
	for e := range ntconv.Events(src) {
		b.Watch(e)
		if p.selects(e) {
			b.Add(e)
		}
	}
	return b.Finish()
}

// weights returns the values of each distinct sample.
func weights(p *profile.Profile) map[string][2]int64 {
	m := map[string][2]int64{}
	for _, line := range lines(p) {
		var n, ticks int64
		values, rest, _ := strings.Cut(line, "] ")
		fmt.Sscanf(values, "[%d %d", &n, &ticks)
		m[rest] = [2]int64{m[rest][0] + n, m[rest][1] + ticks}
	}
	return m
}

func sum(parts ...map[string][2]int64) map[string][2]int64 {
	all := map[string][2]int64{}
	for _, m := range parts {
		for k, v := range m {
			all[k] = [2]int64{all[k][0] + v[0], all[k][1] + v[1]}
		}
	}
	return all
}

// A selection does not change weights: a selection and its complement add up to the whole for every thread and stack,
// and so do windows. The whole comes from a builder that knows no selections.
func TestSelectionsSumUpToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, last := sampledTrace(t)
		src := func() ntconv.Source { return ntconvtest.Poison(ntconvtest.NewSource(testInfo(), list...)) }
		whole := weights(build(testInfo(), &fakeNamer{}, &profile.Options{Kind: sample.Wall, DropLabels: []string{"process"}}, list...))
		p := predicates(last).Draw(t, "selection")
		if got := sum(weights(profileOf(src(), p)), weights(profileOf(src(), p.not()))); !maps.Equal(got, whole) {
			t.Fatalf("%s and the rest:\n%v\nwant\n%v", p.text, got, whole)
		}
		a, b := last/3, 2*last/3
		var parts []map[string][2]int64
		for _, w := range []predicate{between(0, a), between(a, b), between(b, last+1)} {
			parts = append(parts, weights(profileOf(src(), w)))
		}
		if got := sum(parts...); !maps.Equal(got, whole) {
			t.Fatalf("three windows:\n%v\nwant\n%v", got, whole)
		}
	})
}

// write returns a file of the events that a predicate selects, with their weights.
func write(t *rapid.T, src ntconv.Source, p predicate) []byte {
	var b bytes.Buffer
	w, err := writer.New(&b, src.Info(), &writer.Options{Renumber: true})
	if err != nil {
		t.Fatal(err)
	}
	var r ntconv.Report
	if _, err := ntconv.Copy(w, rounds.NewWeights(src, p.selects, &r)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r.Worst() > ntconv.SeverityInfo {
		t.Fatal(r.Entries())
	}
	return b.Bytes()
}

func read(t *rapid.T, data []byte, order reader.Order) ntconv.Source {
	src, err := reader.NewBytes(data, &reader.Options{Order: order})
	if err != nil {
		t.Fatal(err)
	}
	return ntconvtest.Poison(src)
}

// A file of a selection has the weights of the selection in the original, in either order of reading. So has a file of
// a selection from that file, and a selection made while reading it.
func TestFilesKeepWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, last := sampledTrace(t)
		src := ntconvtest.NewSource(testInfo(), list...)
		p, q := predicates(last).Draw(t, "selection"), predicates(last).Draw(t, "of the selection")
		original := func(p predicate) map[string][2]int64 {
			return weights(profileOf(ntconvtest.NewSource(testInfo(), list...), p))
		}
		file := write(t, src, p)
		check := func(what string, got *profile.Profile, p predicate) {
			t.Helper()
			if got, want := weights(got), original(p); !maps.Equal(got, want) {
				t.Fatalf("%s: %s:\n%v\nwant\n%v", what, p.text, got, want)
			}
		}
		for _, order := range []reader.Order{reader.FileOrder, reader.ByTime} {
			check("file", profileOf(read(t, file, order), anything), p)
			check("selection from a file", profileOf(read(t, file, order), q), p.and(q))
			again := write(t, read(t, file, order), q)
			check("file of a file", profileOf(read(t, again, reader.ByTime), anything), p.and(q))
		}
	})
}

// A stated weight replaces an interval. The time after it belongs to no sample, because the omitted samples are
// unknown.
func TestStatedWeights(t *testing.T) {
	ticks := func(name string, th *ntconv.Thread, at ntconv.Ticks, n uint64) *ntconv.Event {
		typ := &ntconv.Type{Provider: "ntconv", Name: name, Fields: []ntconv.Field{{Name: "Ticks", Type: ntconv.FieldType{Code: ntconv.TypeVarUint}}}}
		return &ntconv.Event{Type: typ, Thread: th, Capture: th, Time: at, Payload: binary.AppendUvarint(nil, n)}
	}
	list := []*ntconv.Event{
		wallEvent(till, 0, managed, stack(1)), wallEvent(idle, 0, managed, stack(2)),
		ticks("SampleWeight", idle, 5, 7), ticks("SampleWeight", idle, 5, 1000),
		wallEvent(till, 10, managed, stack(1)), wallEvent(idle, 1000, managed, stack(3)), ended(5000),
	}
	for _, c := range []struct {
		events []*ntconv.Event
		last   int // nanoseconds of the last sample of the idle thread
	}{
		{list, 1000},
		{append(slices.Clip(list), ticks("SampleWeight", idle, 5000, 50)), 5000},
		{append(slices.Clip(list), ticks("SomethingElse", idle, 5000, 50)), 1000},
	} {
		for _, through := range []func(ntconv.Source) ntconv.Source{
			func(src ntconv.Source) ntconv.Source { return src },
			func(src ntconv.Source) ntconv.Source { return rounds.NewWeights(src, anything.selects, nil) },
		} {
			want(t, profileOf(through(ntconvtest.NewSource(testInfo(), c.events...)), anything),
				"[2 2000] f1 {pid=42id thread=till tid=7id state=Managed}",
				"[1 700] f2 {pid=42id tid=8id state=Managed}",
				fmt.Sprintf("[1 %d] f3 {pid=42id tid=8id state=Managed}", c.last))
		}
	}
}

// No thread has more time than the profile's duration, regardless of the selection.
func TestNoThreadHasMoreTimeThanASelectionLasts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, last := sampledTrace(t)
		named := map[*ntconv.Thread]bool{}
		for _, e := range list {
			if th := e.Thread; th != nil && !named[th] {
				th.TID, named[th] = uint64(len(named)), true // a profile does not distinguish threads with a reused ID
			}
		}
		p := profileOf(ntconvtest.NewSource(testInfo(), list...), predicates(last).Draw(t, "selection"))
		threads := map[*ntconv.Thread]int64{}
		for s := range p.Samples() {
			threads[s.Thread] += s.Values[1]
		}
		for th, ns := range threads {
			if total := testInfo().Clock.Since(p.Start, p.End); ns > int64(total) {
				t.Fatalf("thread %d has %d ns of %d", th.TID, ns, total)
			}
		}
	})
}

// Neither watching nor stating weights allocates per event.
func TestWatchingDoesNotAllocate(t *testing.T) {
	events := hotEvents(5000, 7, 50, 30)
	b := profile.New(testInfo(), &fakeNamer{}, nil)
	i := 0
	w := rounds.NewWeights(endless(func() *ntconv.Event {
		if i++; i == len(events) {
			i = 0
		}
		e := events[i]
		e.Time += 5000 / 7 * 10000
		return e
	}), func(e *ntconv.Event) bool { return e.Payload[0] == managed }, nil)
	round := func() {
		for range events {
			e, err := w.Next()
			if err != nil {
				t.Fatal(err)
			}
			b.Watch(e)
			if e.Time%2 == 0 {
				b.Add(e)
			}
		}
	}
	round()
	round()
	if n := testing.AllocsPerRun(5, round); n != 0 || w.Added() == 0 {
		t.Errorf("%v allocations in %d events, %d added", n, len(events), w.Added())
	}
}

// endless is a source that never ends.
type endless func() *ntconv.Event

func (endless) Info() *ntconv.Info             { return testInfo() }
func (f endless) Next() (*ntconv.Event, error) { return f(), nil }

// Weights adds only the necessary events: none if nothing is omitted, otherwise at most one per sample and recorder.
func TestFilesHoldFewWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, last := sampledTrace(t)
		p := predicates(last).Draw(t, "selection")
		samples, omitted, recorders := 0, 0, map[*ntconv.Thread]bool{}
		w := rounds.NewWeights(ntconvtest.NewSource(testInfo(), list...), func(e *ntconv.Event) bool {
			if e.Kind != ntconv.KindEvent {
				return true
			}
			recorders[e.Capture] = true
			if p.selects(e) {
				samples++
				return true
			}
			omitted++
			return false
		}, nil)
		events, err := ntconvtest.Record(w)
		if err != nil {
			t.Fatal(err)
		}
		added := slices.DeleteFunc(events, func(e *ntconv.Event) bool { return e.Kind != ntconv.KindEvent || !recording.IsWeight(e.Type) })
		if int64(len(added)) != w.Added() || len(added) > samples+len(recorders) || omitted == 0 && len(added) > 0 {
			t.Fatalf("%s: %d events for %d samples, %d counted", p.text, len(added), samples, w.Added())
		}
	})
}
