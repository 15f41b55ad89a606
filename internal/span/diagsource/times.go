package diagsource

import (
	"math"
	"time"

	"github.com/ntconv/ntconv"
)

// unixEpoch is 1970-01-01 UTC in ticks of .NET, 100 ns since 0001-01-01.
const unixEpoch = 621_355_968_000_000_000

// maxNanos limits times to those that a signed number of nanoseconds holds: the years 1678 to 2261.
const maxNanos = math.MaxInt64

// nanosOf returns a time in ticks of .NET as nanoseconds since 1970, and false if it is out of range.
func nanosOf(ticks int64) (int64, bool) {
	since := ticks - unixEpoch
	if ticks < 0 || since > maxNanos/100 || since < -maxNanos/100 {
		return 0, false
	}
	return since * 100, true
}

// clock converts times of events to nanoseconds since 1970.
type clock struct {
	ntconv.Clock
	wall int64
}

func newClock(info *ntconv.Info) clock {
	c := clock{Clock: info.Clock}
	if !c.Wall.IsZero() {
		c.wall = c.Wall.UnixNano()
	}
	return c
}

// nanos returns the time of an event. It is 1970 plus the time since the trace's clock was set if the trace has no wall
// clock.
func (c *clock) nanos(t ntconv.Ticks) int64 { return addNanos(c.wall, c.Nanos(t)) }

// addNanos returns a+b, or the nearest value that can be represented.
func addNanos(a, b int64) int64 {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}

// times is what the events of an Activity say about when it ran. All times are nanoseconds since 1970.
type times struct {
	has      timeSet
	start    int64 // exact
	second   int64 // start without its fraction of a second
	duration int64 // nanoseconds
}

type timeSet uint8

const (
	hasStart timeSet = 1 << iota
	hasSecond
	hasDuration
)

// timesOf returns the times in an event's values.
func timesOf(v *values, text *texts) (t times) {
	if v.has.contains(propStartTicks) {
		if n, ok := nanosOf(v.startTicks); ok {
			t.start, t.has = n, t.has|hasStart
		}
	}
	if raw := v.of(propStart); raw != nil && t.has&hasStart == 0 {
		if when, ok := parseDate(text.of(raw)); ok {
			t.second, t.has = when, t.has|hasSecond
		}
	}
	switch {
	case v.has.contains(propDurationTicks):
		t.setDuration(v.durationTicks)
	case v.of(propDuration) != nil:
		if n, ok := parseTimeSpan(text.of(v.raw[propDuration])); ok {
			t.setDuration(n)
		}
	case v.of(propMillis) != nil:
		if n, ok := parseMillis(text.of(v.raw[propMillis])); ok {
			t.setDuration(n)
		}
	}
	return t
}

// setDuration takes a number of ticks. An Activity has no negative duration; 0 means that it has not stopped.
func (t *times) setDuration(ticks int64) {
	if ticks > 0 {
		t.duration, t.has = min(ticks, maxNanos/100)*100, t.has|hasDuration
	}
}

// slack is how far the time of an event may lie from the Activity's own times: the clock of a trace is set to the
// millisecond, and building the first event of a kind takes up to 25 ms.
const slack = int64(100 * time.Millisecond)

// within returns an estimate of the start, corrected by the second in which it lies, if this is known. A start that the
// program set itself is not near the event: then the second is all that is known.
func (t *times) within(estimate int64) int64 {
	if t.has&hasSecond == 0 {
		return estimate
	}
	last := addNanos(t.second, int64(time.Second)-100)
	if estimate < addNanos(t.second, -slack) || estimate > addNanos(last, slack) {
		return t.second
	}
	return min(max(estimate, t.second), last)
}

// parseDate returns the text of a DateTime without a fraction as nanoseconds since 1970. .NET writes it in the
// invariant culture.
func parseDate(text string) (int64, bool) {
	for _, layout := range [...]string{"01/02/2006 15:04:05", "1/2/2006 3:04:05 PM", "2006-01-02 15:04:05"} {
		if when, err := time.Parse(layout, text); err == nil && when.Year() >= 1678 && when.Year() <= 2261 {
			return when.UnixNano(), true
		}
	}
	return 0, false
}
