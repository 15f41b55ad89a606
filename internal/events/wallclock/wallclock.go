// Package wallclock determines the wall-clock time of sources: whether numbers are dates, and which clock shows them.
package wallclock

import (
	"time"

	"github.com/ntconv/ntconv"
)

// The first seconds of the years that bound plausible dates of recordings.
var (
	year1971 = time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	year2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	year2100 = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
)

// IsDate reports whether nanoseconds of an unknown clock are the time since 1970: they are in the years 2000 to 2099. A
// clock that counts from the start of a machine or of a recording does not get there.
func IsDate(nanos int64) bool { return year2000 <= nanos && nanos < year2100 }

// isUndated reports whether a time in nanoseconds since 1970 is that of a recording without a date. Formats that cannot
// express this store the time since the start of the recording, which is in 1970.
func isUndated(nanos int64) bool { return nanos < year1971 }

// Dated returns c with the wall-clock time at c.Tick. Its Wall is the whole millisecond before, because nettrace files
// have no fractions.
func Dated(c ntconv.Clock, wall time.Time) ntconv.Clock {
	whole := wall.Truncate(time.Millisecond)
	c.Tick, c.Wall = c.TicksAt(whole.Sub(wall)), whole
	return c
}

// Unix returns the clock of a source whose ticks are nanoseconds since 1970. Its Wall is close to the time of the first
// event, because viewers count from it. It is unknown if the times are those of a trace without a date; then they count
// from tick 0.
func Unix(first int64) ntconv.Clock {
	c := ntconv.Clock{Freq: int64(time.Second)}
	if isUndated(first) {
		return c
	}
	c.Tick = ntconv.Ticks(first)
	return Dated(c, time.Unix(0, first).UTC())
}
