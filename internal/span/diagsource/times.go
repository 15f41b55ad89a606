package diagsource

import (
	"math"
	"time"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// unixEpoch is 1970-01-01 UTC in .NET ticks, 100 ns since 0001-01-01.
const unixEpoch = 621_355_968_000_000_000

// maxNanos limits times to those that an int64 of nanoseconds since 1970 can represent: the years 1678 to 2261.
const maxNanos = math.MaxInt64

// nanosOf converts a time in .NET ticks to nanoseconds since 1970-01-01 UTC. It returns false if the time is out of
// range.
func nanosOf(ticks int64) (int64, bool) {
	since := ticks - unixEpoch
	if ticks < 0 || since > maxNanos/100 || since < -maxNanos/100 {
		return 0, false
	}
	return since * 100, true
}

// times holds the recorded times of an Activity. Times are nanoseconds since 1970-01-01 UTC; has states which members
// are set.
type times struct {
	has      timeSet
	start    int64 // exact
	second   int64 // start without its fraction of a second
	duration int64 // nanoseconds
}

// A timeSet is a set of members of times.
type timeSet uint8

const (
	hasStart timeSet = 1 << iota
	hasSecond
	hasDuration
)

// timesOf returns the times in the values of an event.
func timesOf(v *values, text *stringCache) (t times) {
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

// setDuration sets the duration from ticks of 100 ns. It ignores 0, which means that the Activity has not stopped, and
// negative values.
func (t *times) setDuration(ticks int64) {
	if ticks > 0 {
		t.duration, t.has = min(ticks, maxNanos/100)*100, t.has|hasDuration
	}
}

// slack is the maximum difference in nanoseconds between the time of an event and the Activity's own times. The clock
// of a trace has a precision of 1 ms, and building the first event of a kind takes up to 25 ms.
const slack = int64(100 * time.Millisecond)

// within moves an estimate of the start into the recorded second, if there is one. If the estimate is not near that
// second, the program has set the start itself; within then returns the whole second.
func (t *times) within(estimate int64) int64 {
	if t.has&hasSecond == 0 {
		return estimate
	}
	last := bin.AddClamped(t.second, int64(time.Second)-100)
	if estimate < bin.AddClamped(t.second, -slack) || estimate > bin.AddClamped(last, slack) {
		return t.second
	}
	return min(max(estimate, t.second), last)
}

// parseDate parses the text of a DateTime without a fraction, which .NET writes in the invariant culture, and returns
// nanoseconds since 1970-01-01 UTC.
func parseDate(text string) (int64, bool) {
	for _, layout := range [...]string{"01/02/2006 15:04:05", "1/2/2006 3:04:05 PM", "2006-01-02 15:04:05"} {
		if when, err := time.Parse(layout, text); err == nil && when.Year() >= 1678 && when.Year() <= 2261 {
			return when.UnixNano(), true
		}
	}
	return 0, false
}
