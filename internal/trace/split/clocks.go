package split

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ntconv/ntconv"
)

// A Trace is one of the traces to relate.
type ClockedTrace struct {
	Name string
	Info *ntconv.Info
	// Offset is added to the times of the trace.
	Offset time.Duration
	// Recorded means that the ticks are those of a recorder, and not synthetic ones of an imported format.
	Recorded bool
}

// An Aligned is the result for one trace.
type AlignedTrace struct {
	Clock   ntconv.Clock // to use instead of that of the trace
	Machine int          // equal for traces of one machine, from 0
	// Uncertainty is how far times of the trace may be from those of the first trace, apart from the difference between
	// the wall clocks of two machines. It is negative if it is unknown.
	Uncertainty time.Duration
	// Note describes the alignment for users.
	Note string
}

// Resolution is that of wall-clock times in traces: recorders store milliseconds.
const Resolution = time.Millisecond

const (
	// maxDrift bounds the difference of two values for the start of one machine: the wall clock is corrected while the
	// machine runs, and ticks are not.
	maxDrift = time.Second
	// minUptime is the shortest time from the start of a machine to a recording. Clocks that begin with the trace have
	// less.
	minUptime = 2 * time.Second
)

// start returns when the clock showed tick 0, according to its wall clock.
func start(c ntconv.Clock) time.Time { return c.Time(0) }

// sameMachine reports whether two clocks are one.
func sameMachine(a, b *ClockedTrace) bool {
	x, y := a.Info.Clock, b.Info.Clock
	if !a.Recorded || !b.Recorded || x.Freq != y.Freq || x.Wall.IsZero() || y.Wall.IsZero() ||
		x.Duration(x.Tick) < minUptime || y.Duration(y.Tick) < minUptime {
		return false
	}
	return start(x).Sub(start(y)).Abs() <= maxDrift
}

// AlignClocks relates the clocks of traces to that of the first one. separate means that no two traces are of one machine.
func AlignClocks(traces []ClockedTrace, separate bool) []AlignedTrace {
	freq := commonFrequency(traces)
	out := make([]AlignedTrace, len(traces))
	machines := 0
	for i := range traces {
		t, a := &traces[i], &out[i]
		a.Clock, a.Machine = t.Info.Clock, -1
		same := slices.IndexFunc(traces[:i], func(other ClockedTrace) bool { return !separate && sameMachine(&other, t) })
		if same >= 0 {
			a.Machine = out[same].Machine
			a.Clock = shift(out[same].Clock, -traces[same].Offset) // one clock: ticks agree
		} else {
			a.Machine = machines
			machines++
		}
		a.Clock = shift(a.Clock, t.Offset)
		a.describe(t, &traces[0], out[0].Machine == a.Machine)
		if a.Uncertainty >= 0 && a.Clock.Freq != freq && freq%a.Clock.Freq != 0 {
			a.Uncertainty += time.Nanosecond // times are rounded up to the next tick of the merged clock
		}
	}
	return out
}

// shift returns a clock with a later wall clock.
func shift(c ntconv.Clock, by time.Duration) ntconv.Clock {
	if !c.Wall.IsZero() {
		c.Wall = c.Wall.Add(by)
	} else if by != 0 {
		c.Tick = c.TicksAt(-by)
	}
	return c
}

// commonFrequency returns the frequency of the merged clock, as merge.ByTime chooses it.
func commonFrequency(traces []ClockedTrace) int64 {
	freq := traces[0].Info.Clock.Freq
	for _, t := range traces {
		if t.Info.Clock.Freq != freq {
			return 1e9
		}
	}
	return freq
}

// describe sets the uncertainty and the note.
func (a *AlignedTrace) describe(t, first *ClockedTrace, same bool) {
	var how string
	switch {
	case t == first:
		how = "its clock is the reference"
	case same:
		how = "same machine as " + first.Name + ", aligned by ticks"
	case a.Clock.Wall.IsZero() || first.Info.Clock.Wall.IsZero():
		a.Uncertainty = -1
		how = "aligned by start, because a trace does not state its date"
	default:
		a.Uncertainty = Resolution
		how = fmt.Sprintf("aligned by UTC within %v, apart from the difference between the clocks of the machines", Resolution)
	}
	if t.Offset != 0 {
		how += fmt.Sprintf(", shifted by %s", signed(t.Offset))
	}
	a.Note = t.Name + ": " + how
}

// signed spells a duration with its sign.
func signed(d time.Duration) string {
	text := d.String()
	if !strings.HasPrefix(text, "-") {
		text = "+" + text
	}
	return text
}

// DescribeClock returns info with the clock of an alignment, and with the attributes of the trace.
func DescribeClock(info *ntconv.Info, a *AlignedTrace) *ntconv.Info {
	c := *info
	c.Clock = a.Clock
	return &c
}
