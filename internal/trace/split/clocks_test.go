package split_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/trace/split"
	"pgregory.net/rapid"
)

// A machine has a clock that started at a time, with a frequency, and a wall clock that may be wrong.
type machine struct {
	started time.Time
	freq    int64
}

// record returns the Info of a recording that starts after a time. Its header has whole milliseconds.
func (m machine) record(after, wrong time.Duration) *ntconv.Info {
	c := ntconv.Clock{Freq: m.freq}
	tick := c.TicksAt(after)
	wall := m.started.Add(after + wrong).Truncate(time.Millisecond)
	return &ntconv.Info{Clock: ntconv.Clock{Freq: m.freq, Tick: tick, Wall: wall}}
}

var boot = time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC)

// Recordings of one machine are aligned exactly, although their headers round the time; recordings of different
// machines within the stated uncertainty.
func TestAlign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var traces []split.ClockedTrace
		var of []machine
		machines := []machine{{boot, 1e9}, {boot.Add(5 * time.Minute), 1e9}, {boot.Add(-time.Hour), 1e7}}
		for range rapid.IntRange(1, 5).Draw(t, "traces") {
			m := rapid.SampledFrom(machines).Draw(t, "machine")
			after := time.Duration(rapid.Int64Range(int64(time.Minute), int64(time.Hour)).Draw(t, "after"))
			of = append(of, m)
			traces = append(traces, split.ClockedTrace{Name: "t", Info: m.record(after, 0), Recorded: true})
		}
		for i, a := range split.AlignClocks(traces, false) {
			first := split.AlignClocks(traces, false)[0]
			if (a.Machine == first.Machine) != (of[i] == of[0]) {
				t.Fatalf("trace %d: machine %d, that of the first is %d", i, a.Machine, first.Machine)
			}
			// The same moment on both clocks.
			moment := boot.Add(2 * time.Hour)
			x := a.Clock.Time(ntconv.Clock{Freq: of[i].freq}.TicksAt(moment.Sub(of[i].started)))
			y := first.Clock.Time(ntconv.Clock{Freq: of[0].freq}.TicksAt(moment.Sub(of[0].started)))
			if off := x.Sub(y).Abs(); off > a.Uncertainty+100 { // and a tick of 100 ns
				t.Fatalf("trace %d is off by %v, want at most %v", i, off, a.Uncertainty)
			}
			if of[i] == of[0] && a.Uncertainty != 0 {
				t.Fatalf("one clock with an uncertainty of %v", a.Uncertainty)
			}
		}
	})
}

// An offset shifts one trace only, also among those of one machine.
func TestOffset(t *testing.T) {
	m := machine{boot, 1e9}
	plain := []split.ClockedTrace{
		{Name: "a", Info: m.record(time.Minute, 0), Recorded: true},
		{Name: "b", Info: m.record(2*time.Minute, 0), Recorded: true},
		{Name: "c", Info: m.record(3*time.Minute, 0), Recorded: true},
	}
	want := split.AlignClocks(plain, false)
	for shifted := range plain {
		traces := append([]split.ClockedTrace{}, plain...)
		traces[shifted].Offset = 1200 * time.Microsecond
		for i, a := range split.AlignClocks(traces, false) {
			off := a.Clock.Time(1e12).Sub(want[i].Clock.Time(1e12))
			if i == shifted && off != 1200*time.Microsecond || i != shifted && off != 0 {
				t.Errorf("offset of trace %d: trace %d is shifted by %v", shifted, i, off)
			}
			if i == shifted && !strings.Contains(a.Note, "+1.2ms") {
				t.Errorf("note: %s", a.Note)
			}
		}
	}
}

// Traces whose ticks are not those of a machine, or whose date is unknown, are not mistaken for recordings of one machine.
func TestNotTheSameMachine(t *testing.T) {
	m := machine{boot, 1e9}
	a := split.ClockedTrace{Name: "a", Info: m.record(time.Minute, 0), Recorded: true}
	for name, b := range map[string]split.ClockedTrace{
		"imported":       {Name: "b", Info: m.record(time.Minute, 0)},
		"another start":  {Name: "b", Info: machine{boot.Add(3 * time.Second), 1e9}.record(time.Minute, 0), Recorded: true},
		"frequency":      {Name: "b", Info: machine{boot, 1e7}.record(time.Minute, 0), Recorded: true},
		"begins at zero": {Name: "b", Info: m.record(0, 0), Recorded: true},
		"no date":        {Name: "b", Info: &ntconv.Info{Clock: ntconv.Clock{Freq: 1e9, Tick: 6e10}}, Recorded: true},
	} {
		got := split.AlignClocks([]split.ClockedTrace{a, b}, false)
		if got[1].Machine == got[0].Machine {
			t.Errorf("%s: one machine", name)
		}
		if unknown := got[1].Uncertainty < 0; unknown != (name == "no date") {
			t.Errorf("%s: uncertainty %v", name, got[1].Uncertainty)
		}
	}
	if got := split.AlignClocks([]split.ClockedTrace{a, a}, true); got[1].Machine == got[0].Machine {
		t.Error("--separate: one machine")
	}
}
