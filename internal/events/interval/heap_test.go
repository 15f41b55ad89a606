package interval

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ntconv/ntconv"
	"pgregory.net/rapid"
)

// A heapStep is an event of the garbage collector, a loss, or the exit of a thread.
type heapStep struct {
	what   HeapEvent // NoHeapEvent is a loss, or an exit if removed is set
	thread *ntconv.Thread
	at     ntconv.Ticks
	field  uint64
	gone   bool
}

// heapLog records what a Heaps reports, and checks that it reports everything once. Data is the number of a step.
type heapLog struct {
	t     *rapid.T
	m     *Heaps[int]
	step  int
	state map[string]string
	// pauses are the durations of pauses by the number of the step that began each.
	pauses                map[int]int64
	charged, unowned, cut int64
	collected             []int // numbers of the steps that began collections
	overflow              bool
}

func (l *heapLog) put(name, state string, from ...string) {
	if !slices.Contains(from, l.state[name]) {
		l.t.Fatalf("step %d: %s is %q after %q", l.step, name, state, l.state[name])
	}
	l.state[name] = state
}

func suspensionName(s *Suspension[int]) string { return fmt.Sprint("suspension ", s.Data) }
func collectionName(c *Collection[int]) string { return fmt.Sprint("collection ", c.Data) }

func (l *heapLog) Suspending(s *Suspension[int]) {
	s.Data = l.step
	l.put(suspensionName(s), "begun", "")
}

func (l *heapLog) Collecting(c *Collection[int]) {
	c.Data = l.step
	l.put(collectionName(c), "begun", "")
}

func (l *heapLog) Ending(c *Collection[int]) { l.put(collectionName(c), "ended", "begun") }

func (l *heapLog) Resumed(s *Suspension[int], of []*Collection[int]) {
	l.put(suspensionName(s), "resumed", "begun")
	if !s.IsPause() {
		if len(of) > 0 || s.Owner != nil {
			l.t.Fatalf("step %d: a suspension for reason %d belongs to a collection", l.step, s.Reason)
		}
		return
	}
	l.pauses[s.Data] = int64(s.End - s.Begin)
	l.unowned += l.m.Unowned(s)
}

func (l *heapLog) Collected(c *Collection[int]) {
	l.put(collectionName(c), "collected", "ended")
	l.charged += c.Paused
	l.collected = append(l.collected, c.Data)
}

func (l *heapLog) CutSuspension(s *Suspension[int], _ Cut) { l.put(suspensionName(s), "cut", "begun") }

func (l *heapLog) CutCollection(c *Collection[int], reason Cut) {
	l.overflow = l.overflow || reason == CutLimit
	l.put(collectionName(c), "cut", "begun", "ended")
	l.cut += c.Paused
}

func (l *heapLog) Unmatched() {}

// pausesOf returns the pauses of steps without restarts on another thread: for each thread, from the latest begin of a
// suspension to the next end of a restart, if the begin is for a collection and the thread has no loss between.
func pausesOf(steps []heapStep) map[int]int64 {
	all := map[int]int64{}
	for i, b := range steps {
		if b.what != SuspendBegin || b.field != 1 && b.field != 6 {
			continue
		}
		for _, e := range steps[i+1:] {
			if e.thread != b.thread {
				continue
			}
			if e.what == RestartEnd {
				all[i] = int64(e.at - b.at)
			}
			if e.what == RestartEnd || e.what == SuspendBegin || e.what == NoHeapEvent {
				break
			}
		}
	}
	return all
}

// collectionsOf returns the collections of steps: each end belongs to the latest begin with its number.
func collectionsOf(steps []heapStep) (all []int) {
	for i, e := range steps {
		if e.what != CollectionEnd {
			continue
		}
		for j := i - 1; j >= 0; j-- {
			b := steps[j]
			if b.what == CollectionBegin && b.field == e.field && b.thread.Process == e.thread.Process && !slices.Contains(all, j) {
				all = append(all, j)
				break
			}
		}
	}
	return all
}

// Every pause is that of its thread, and belongs to collections or to none: no time is lost, and none is in two.
func TestHeaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		process := &ntconv.Process{PID: 1}
		threads := []*ntconv.Thread{{TID: 1, Process: process}, {TID: 2, Process: process}, {TID: 3, Process: &ntconv.Process{PID: 2}}}
		takeovers := rapid.Bool().Draw(t, "takeovers")
		var steps []heapStep
		at := ntconv.Ticks(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			at += ntconv.Ticks(rapid.IntRange(0, 3).Draw(t, "later"))
			s := heapStep{
				what: HeapEvent(rapid.IntRange(0, int(RestartEnd)).Draw(t, "what")), thread: rapid.SampledFrom(threads).Draw(t, "thread"), at: at,
			}
			switch s.what {
			case NoHeapEvent:
				if s.gone = rapid.Bool().Draw(t, "gone"); rapid.IntRange(0, 3).Draw(t, "rare") > 0 {
					continue
				}
			case SuspendBegin:
				s.field = rapid.SampledFrom([]uint64{0, 1, 1, 6}).Draw(t, "reason")
			case CollectionBegin, CollectionEnd:
				s.field = uint64(rapid.IntRange(1, 3).Draw(t, "number"))
			case RestartBegin:
				if !takeovers {
					continue
				}
			}
			steps = append(steps, s)
		}
		l := &heapLog{t: t, state: map[string]string{}, pauses: map[int]int64{}}
		l.m = NewHeaps(ntconv.Clock{Freq: 1e9}, HeapUser[int](l))
		for i, s := range steps {
			l.step = i
			switch {
			case s.gone:
				l.m.Removed([]ntconv.ThreadSeq{{Thread: s.thread}})
			case s.what == NoHeapEvent:
				l.m.Lost(s.thread)
			default:
				l.m.Add(s.what, &ntconv.Event{Thread: s.thread, Time: s.at}, ntconv.UintValue(s.field))
			}
		}
		l.m.Finish()
		for name, state := range l.state {
			if state == "begun" || state == "ended" {
				t.Fatalf("%s is %s at the end", name, state)
			}
		}
		var total int64
		for _, d := range l.pauses {
			total += d
		}
		if got := l.charged + l.unowned + l.cut; got != total {
			t.Fatalf("pauses of %d ns: %d charged, %d unowned, %d to collections that were cut", total, l.charged, l.unowned, l.cut)
		}
		slices.Sort(l.collected)
		want := collectionsOf(steps)
		if slices.Sort(want); !l.overflow && !slices.Equal(l.collected, want) {
			t.Fatalf("collections %v, want %v", l.collected, want)
		}
		if want := pausesOf(steps); !takeovers && fmt.Sprint(l.pauses) != fmt.Sprint(want) {
			t.Fatalf("pauses %v, want %v", l.pauses, want)
		}
	})
}
