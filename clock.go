package ntconv

import (
	"math"
	"math/bits"
	"time"
)

// Ticks is a raw value of a trace's clock. Its unit and its start are those of the trace's Clock.
type Ticks int64

// Clock converts Ticks. All conversions are exact up to rounding towards the past by less than a nanosecond: no drift
// at any frequency over any distance. Results beyond the range of their type are clamped.
type Clock struct {
	Freq int64     // ticks a second; must be positive
	Tick Ticks     // the tick at which the wall clock showed Wall
	Wall time.Time // UTC; the zero Time if unknown
}

const second = uint64(time.Second)

// Since returns the time from a to b, negative if b is earlier.
func (c Clock) Since(a, b Ticks) time.Duration {
	if b >= a {
		return time.Duration(clampInt64(mulDiv(uint64(b)-uint64(a), second, uint64(c.Freq), false), false))
	}
	return time.Duration(clampInt64(mulDiv(uint64(a)-uint64(b), second, uint64(c.Freq), true), true))
}

// Nanos returns the nanoseconds from the clock's Tick to t, negative before it.
func (c Clock) Nanos(t Ticks) int64 { return int64(c.Since(c.Tick, t)) }

// Time returns the wall clock at t in UTC, and the zero Time if the trace does not say what Wall was.
func (c Clock) Time(t Ticks) time.Time {
	if c.Wall.IsZero() {
		return time.Time{}
	}
	return c.Wall.Add(c.Since(c.Tick, t))
}

// Duration returns the length of n ticks.
func (c Clock) Duration(n Ticks) time.Duration { return c.Since(0, n) }

// TicksAt returns the earliest tick at or after d behind the clock's Tick. It is the inverse of Nanos for every
// frequency of at most 1 GHz.
func (c Clock) TicksAt(d time.Duration) Ticks {
	if d >= 0 {
		return c.add(clampInt64(mulDiv(uint64(d), uint64(c.Freq), second, true), false))
	}
	return c.add(clampInt64(mulDiv(-uint64(d), uint64(c.Freq), second, false), true))
}

// TicksOf returns the earliest tick at or after the wall clock time t. The clock must know its Wall.
func (c Clock) TicksOf(t time.Time) Ticks { return c.TicksAt(t.Sub(c.Wall)) }

// add returns Tick+n without overflow.
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

// mulDiv returns a*b/c over 128 bits, rounded up if up is set, and the largest value if the result has more than 64
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

// clampInt64 returns the magnitude m with a sign.
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
