package span

import (
	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/data/bin"
)

// A Clock converts times of a trace to nanoseconds since 1970-01-01 UTC.
type Clock struct {
	ntconv.Clock
	wall int64 // wall clock at Tick, or 0 if it is unknown
}

// ClockOf returns the Clock of a trace.
func ClockOf(info *ntconv.Info) Clock {
	c := Clock{Clock: info.Clock}
	if !c.Wall.IsZero() {
		c.wall = c.Wall.UnixNano()
	}
	return c
}

// Unix returns a time, clamped to the range of int64. If the trace has no wall clock, it is the time since the clock's
// Tick.
func (c *Clock) Unix(t ntconv.Ticks) int64 { return bin.AddClamped(c.wall, c.Nanos(t)) }
