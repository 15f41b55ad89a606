package ntconv_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
)

// frequencies of real clocks: ARM and Windows performance counters, 100 ns, and nanoseconds.
var frequencies = []int64{3_124_099, 10_000_000, 24_000_000, 1_000_000_000}

const century = 100 * 36525 * 24 * 36 // seconds

// scaled returns n*mul/div with rounding down, clamped to int64.
func scaled(n, mul, div *big.Int, up bool) int64 {
	q, m := new(big.Int).DivMod(new(big.Int).Mul(n, mul), div, new(big.Int)) // Euclidean: towards negative infinity
	if up && m.Sign() != 0 {
		q.Add(q, big.NewInt(1))
	}
	switch {
	case q.IsInt64():
		return q.Int64()
	case q.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

func TestClockIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		freq := rapid.SampledFrom(frequencies).Draw(t, "frequency")
		if rapid.IntRange(0, 3).Draw(t, "any frequency") == 0 {
			freq = rapid.Int64Range(1, 1e12).Draw(t, "frequency")
		}
		c := ntconv.Clock{Freq: freq}
		a, b := ntconv.Ticks(rapid.Int64().Draw(t, "a")), ntconv.Ticks(rapid.Int64().Draw(t, "b"))
		delta := new(big.Int).Sub(big.NewInt(int64(b)), big.NewInt(int64(a)))
		want := scaled(delta, big.NewInt(1e9), big.NewInt(freq), false)
		if got := int64(c.Since(a, b)); got != want {
			t.Fatalf("Since(%d, %d) at %d Hz = %d, want %d", a, b, freq, got, want)
		}
		c.Tick = a
		if got := c.Nanos(b); got != want {
			t.Fatalf("Nanos = %d, want %d", got, want)
		}
		d := rapid.Int64().Draw(t, "duration")
		ticks := new(big.Int).Add(big.NewInt(int64(a)), big.NewInt(scaled(big.NewInt(d), big.NewInt(freq), big.NewInt(1e9), true)))
		want = scaled(ticks, big.NewInt(1), big.NewInt(1), false)
		if got := int64(c.TicksAt(time.Duration(d))); got != want {
			t.Fatalf("TicksAt(%d) from %d at %d Hz = %d, want %d", d, a, freq, got, want)
		}
	})
}

// TestClockDoesNotDrift compares the sum of many steps with the time of one.
func TestClockDoesNotDrift(t *testing.T) {
	for _, freq := range frequencies {
		c := ntconv.Clock{Freq: freq, Tick: 12345}
		for _, years := range []int64{-100, -1, 0, 1, 100} {
			seconds := years * century / 100
			at := c.Tick + ntconv.Ticks(seconds*freq)
			if got := c.Nanos(at); got != seconds*1e9 {
				t.Errorf("%d Hz, %d years: %d ns off", freq, years, got-seconds*1e9)
			}
			if got := c.TicksAt(time.Duration(seconds) * time.Second); got != at {
				t.Errorf("%d Hz, %d years: %d ticks off", freq, years, got-at)
			}
		}
	}
}

func TestTicksAtInvertsNanos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		freq := rapid.SampledFrom(frequencies).Draw(t, "frequency")
		if rapid.Bool().Draw(t, "any frequency") {
			freq = rapid.Int64Range(1, 1e9).Draw(t, "frequency")
		}
		c := ntconv.Clock{Freq: freq, Tick: ntconv.Ticks(rapid.Int64Range(-1<<61, 1<<61).Draw(t, "tick"))}
		reach := min(int64(1)<<61, freq*century)
		at := c.Tick + ntconv.Ticks(rapid.Int64Range(-reach, reach).Draw(t, "ticks"))
		if ns := c.Nanos(at); ns != math.MaxInt64 && ns != math.MinInt64 {
			if got := c.TicksAt(time.Duration(ns)); got != at {
				t.Fatalf("%d Hz: TicksAt(Nanos(%d)) = %d", freq, at, got)
			}
		}
	})
}

func TestClockClamps(t *testing.T) {
	slow := ntconv.Clock{Freq: 1, Tick: math.MinInt64}
	if got := slow.Nanos(math.MaxInt64); got != math.MaxInt64 {
		t.Errorf("far future: %d", got)
	}
	if got := slow.Since(math.MaxInt64, math.MinInt64); got != math.MinInt64 {
		t.Errorf("far past: %d", got)
	}
	fast := ntconv.Clock{Freq: 1e12, Tick: math.MaxInt64 - 1}
	if got := fast.TicksAt(time.Hour); got != math.MaxInt64 {
		t.Errorf("ticks beyond the range: %d", got)
	}
	fast.Tick = math.MinInt64 + 1
	if got := fast.TicksAt(-time.Hour); got != math.MinInt64 {
		t.Errorf("ticks before the range: %d", got)
	}
}

func TestClockWall(t *testing.T) {
	c := ntconv.Clock{Freq: 10_000_000, Tick: 500, Wall: time.Date(2026, 2, 28, 23, 59, 59, 0, time.UTC)}
	if got, want := c.Time(500+10_000_000), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("a second later: %v", got)
	}
	if got, want := c.Time(499), c.Wall.Add(-100); !got.Equal(want) {
		t.Errorf("a tick earlier: %v", got)
	}
	if got := c.TicksOf(c.Wall.Add(-time.Second)); got != 500-10_000_000 {
		t.Errorf("TicksOf: %d", got)
	}
	if got := c.Duration(10); got != time.Microsecond {
		t.Errorf("Duration: %v", got)
	}
	c.Wall = time.Time{}
	if got := c.Time(500); !got.IsZero() {
		t.Errorf("without a wall clock: %v", got)
	}
}
