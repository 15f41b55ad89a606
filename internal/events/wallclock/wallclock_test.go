package wallclock_test

import (
	"testing"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/events/wallclock"
)

// A dated clock shows the given time at the tick that it had, from a whole millisecond on.
func TestDated(t *testing.T) {
	wall := time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)
	for _, freq := range []int64{1e9, 1e7} {
		before := ntconv.Clock{Freq: freq, Tick: 5_000_000}
		got := wallclock.Dated(before, wall)
		if off := wall.Sub(got.Time(before.Tick)); off < 0 || off > time.Second/time.Duration(freq) || got.Wall != wall.Truncate(time.Millisecond) {
			t.Errorf("freq %d: %+v shows %v at tick %d, want %v", freq, got, got.Time(before.Tick), before.Tick, wall)
		}
	}
}

// Ticks of a Unix clock are nanoseconds since 1970, whether the clock has a date or not.
func TestUnix(t *testing.T) {
	first := time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)
	if c := wallclock.Unix(first.UnixNano()); !c.Time(ntconv.Ticks(first.UnixNano())).Equal(first) || c.Wall.Nanosecond()%1e6 != 0 {
		t.Errorf("%+v", c)
	}
	if c := wallclock.Unix(5e9); c != (ntconv.Clock{Freq: 1e9}) {
		t.Errorf("a trace without a date has the clock %+v", c)
	}
}
