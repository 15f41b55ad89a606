package interval_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/interval"
	"github.com/ntconv/ntconv/internal/events/operation"
)

// gcEvent returns an event of the garbage collector that begins with a 32-bit number.
func gcEvent(id uint32, version uint8, number uint32, th *ntconv.Thread, at ntconv.Ticks) *ntconv.Event {
	payload := append(binary.LittleEndian.AppendUint32(nil, number), make([]byte, 22)...)
	return &ntconv.Event{
		Time: at, Thread: th, Capture: th, Payload: payload,
		Type: &ntconv.Type{Provider: runtime, ID: id, Version: version},
	}
}

// A background collection runs while the program does: it is charged for its own pauses, and a foreground collection
// that interrupts it for the pause in which it runs.
func TestPausesOfCollections(t *testing.T) {
	th := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
	const reasonGC, reasonPrep, reasonOther = 1, 6, 0
	paused, pauses := map[uint64]time.Duration{}, map[uint64]uint64{}
	m := interval.New(&ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, interval.Options{
		Wants: func(*operation.Operation) bool { return true },
		Emit: func(v *interval.Interval) {
			switch {
			case v.Of.Name == "gc":
				paused[v.Field("Count").Uint()] = v.Paused
			case v.Of.Name == "gc_pause" && v.Collection != nil:
				pauses[v.EventField(v.Collection, "Count").Uint()]++
			case v.Collection != nil:
				t.Error("a suspension for another reason belongs to a collection")
			}
		},
	})
	for _, e := range []*ntconv.Event{
		gcEvent(gcSuspendBegin, 1, reasonPrep, th, 100), gcEvent(gcStart, 2, 7, th, 110), gcEvent(gcRestartEnd, 1, 0, th, 130),
		gcEvent(gcSuspendBegin, 1, reasonOther, th, 200), gcEvent(gcRestartEnd, 1, 0, th, 290),
		gcEvent(gcSuspendBegin, 1, reasonGC, th, 300), gcEvent(gcStart, 2, 8, th, 310), gcEvent(gcEnd, 1, 8, th, 340), gcEvent(gcRestartEnd, 1, 0, th, 350),
		gcEvent(gcSuspendBegin, 1, reasonPrep, th, 400), gcEvent(gcRestartEnd, 1, 0, th, 405),
		gcEvent(gcEnd, 1, 7, th, 500),
	} {
		m.Add(e)
	}
	m.Finish()
	if paused[7] != 35 || paused[8] != 50 || pauses[7] != 2 || pauses[8] != 1 {
		t.Errorf("paused %v, number of pauses %v", paused, pauses)
	}
}

// Beyond the limit the oldest open interval is discarded and counted.
func TestOpenLimit(t *testing.T) {
	p := &ntconv.Process{PID: 1}
	var got []ntconv.Ticks
	m := interval.New(&ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, interval.Options{
		Wants: func(*operation.Operation) bool { return true }, MaxOpen: 3,
		Emit: func(v *interval.Interval) { got = append(got, v.Begin.Time) },
	})
	const n = 10
	lock := func(id uint32, version uint8, at ntconv.Ticks) {
		th := &ntconv.Thread{TID: 1, Process: p}
		m.Add(&ntconv.Event{Time: at, Thread: th, Capture: th, Type: &ntconv.Type{Provider: runtime, ID: id, Version: version}, Payload: make([]byte, 27)})
	}
	th := &ntconv.Thread{TID: 2, Process: p}
	for i := range ntconv.Ticks(n) {
		m.Add(gcEvent(typeLoadStart, 0, uint32(i), th, i))
		lock(contentionStart, 2, i) // of a thread that never comes back
	}
	for i := range ntconv.Ticks(n) {
		m.Add(gcEvent(typeLoadStop, 0, uint32(i), th, n+i))
	}
	m.Finish()
	if len(got) != 1 || got[0] != n-1 {
		t.Errorf("loads that began at %v, want %d", got, n-1)
	}
	for _, c := range m.Counts() {
		want := int64(0)
		switch c.Pair.Name {
		case "TypeLoad":
			want = 2 * (n - 1) // begins and ends
		case "Contention":
			want = n
		}
		if c.Parts != want || want > 0 && c.Begins != n {
			t.Errorf("%s: %+v, want %d parts", c.Pair.Name, c, want)
		}
	}
}

// Events that delimit nothing cost no memory, neither while intervals are found nor while events are selected.
func TestNoAllocationPerEvent(t *testing.T) {
	th := &ntconv.Thread{TID: 1, Process: &ntconv.Process{PID: 1}}
	m := interval.New(&ntconv.Info{Clock: ntconv.Clock{Freq: 1e9}}, interval.Options{
		Wants: func(*operation.Operation) bool { return false }, Emit: func(*interval.Interval) {},
	})
	w := interval.NewWindows()
	w.Finish()
	events := []*ntconv.Event{gcEvent(gcStart, 2, 1, th, 1), gcEvent(gcEnd, 1, 1, th, 2), gcEvent(10, 4, 1, th, 3)}
	if n := testing.AllocsPerRun(100, func() {
		for _, e := range events {
			m.Add(e)
			if w.During(e) {
				t.Error("an event is during no interval")
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
