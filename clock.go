package ntconv

import (
	"math"
	"math/bits"
	"time"
)

// Ticks is a raw value of a trace's clock. The trace's Clock has its unit and origin.
type Ticks int64

// Clock converts Ticks to times and back. Conversions to time round down to a nanosecond, conversions to Ticks round up
// to a tick. They are exact apart from that, without drift at any frequency or distance. Results outside the range of
// the type are clamped.
type Clock struct {
	Freq int64     // ticks per second; must be positive
	Tick Ticks     // the tick at which the wall clock showed Wall
	Wall time.Time // UTC; the zero Time if unknown
}

const second = uint64(time.Second)

// Since returns the time from a to b. It is negative if b is earlier.
func (c Clock) Since(a, b Ticks) time.Duration {
	if b >= a {
		return time.Duration(clampInt64(mulDiv(uint64(b)-uint64(a), second, uint64(c.Freq), false), false))
	}
	return time.Duration(clampInt64(mulDiv(uint64(a)-uint64(b), second, uint64(c.Freq), true), true))
}

// Nanos returns the nanoseconds from c.Tick to t. They are negative if t is earlier.
func (c Clock) Nanos(t Ticks) int64 { return int64(c.Since(c.Tick, t)) }

// Time returns the wall-clock time at t in UTC, or the zero Time if c.Wall is zero.
func (c Clock) Time(t Ticks) time.Time {
	if c.Wall.IsZero() {
		return time.Time{}
	}
	return c.Wall.Add(c.Since(c.Tick, t))
}

// Duration returns the time that n ticks take.
func (c Clock) Duration(n Ticks) time.Duration { return c.Since(0, n) }

// TicksAt returns the first tick at or after c.Tick + d; d may be negative. For Freq up to 1 GHz,
// TicksAt(time.Duration(c.Nanos(t))) == t.
func (c Clock) TicksAt(d time.Duration) Ticks {
	if d >= 0 {
		return c.add(clampInt64(mulDiv(uint64(d), uint64(c.Freq), second, true), false))
	}
	return c.add(clampInt64(mulDiv(-uint64(d), uint64(c.Freq), second, false), true))
}

// TicksOf returns the first tick at or after the wall-clock time t. c.Wall must be set.
func (c Clock) TicksOf(t time.Time) Ticks { return c.TicksAt(t.Sub(c.Wall)) }

// add returns c.Tick + n, clamped to the range of Ticks.
func (c Clock) add(n int64) Ticks {
	s := int64(c.Tick) + n
	switch {
	case n > 0 && s < int64(c.Tick):
		return math.MaxInt64
	case n < 0 && s > int64(c.Tick):
		return math.MinInt64
	}
	return Ticks(s)
}

// mulDiv returns a*b/c with a 128-bit product, rounded up if up is set, or math.MaxUint64 if the result exceeds 64
// bits.
func mulDiv(a, b, c uint64, up bool) uint64 {
	hi, lo := bits.Mul64(a, b)
	if up {
		var carry uint64
		lo, carry = bits.Add64(lo, c-1, 0)
		hi += carry
	}
	if hi >= c {
		return math.MaxUint64
	}
	q, _ := bits.Div64(hi, lo, c)
	return q
}

// clampInt64 returns m, or -m if negative is set, clamped to the range of int64.
func clampInt64(m uint64, negative bool) int64 {
	switch {
	case negative && m >= 1<<63:
		return math.MinInt64
	case negative:
		return -int64(m)
	case m > math.MaxInt64:
		return math.MaxInt64
	}
	return int64(m)
}
