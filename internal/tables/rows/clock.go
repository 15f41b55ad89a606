package rows

import (
	"math"
	"time"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
)

// A clock converts ticks to the times of rows.
type clock struct {
	ntconv.Clock
	start int64 // nanoseconds from 1970-01-01 to Clock.Tick; 0 if the trace has no wall-clock time
	exact bool  // TicksAt is the inverse of Nanos, unless a value was clamped
}

// newClock returns a clock for a trace. Without a usable wall-clock time, rows count from 1970-01-01.
func newClock(c ntconv.Clock) clock {
	k := clock{Clock: c, exact: c.Freq <= int64(time.Second)}
	// UnixNano is undefined outside these years.
	if !c.Wall.IsZero() && c.Wall.Year() > 1678 && c.Wall.Year() < 2262 {
		k.start = c.Wall.UnixNano()
	}
	return k
}

// at returns a time since 1970-01-01 in microseconds, rounded down, and in nanoseconds. Times out of range are clamped.
func (k *clock) at(t ntconv.Ticks) (micros, nanos int64) {
	nanos = bin.AddClamped(k.start, k.Nanos(t))
	micros = nanos / 1000
	if nanos%1000 < 0 {
		micros--
	}
	return micros, nanos
}

// restores reports whether the ticks of an event can be computed from its time in nanoseconds. If not, the row needs
// the column ticks.
func (k *clock) restores(t ntconv.Ticks, nanos int64) bool {
	rel := bin.AddClamped(nanos, -k.start)
	if k.exact && !extreme(nanos) && !extreme(rel) {
		return true
	}
	return k.TicksAt(time.Duration(rel)) == t
}

// extreme reports whether a value may have been clamped.
func extreme(n int64) bool { return n == math.MaxInt64 || n == math.MinInt64 }
