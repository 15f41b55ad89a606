package eventmetrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A time series has a point wherever it grows, the point before, and the last one; every second of a recording without long pauses,
// and a bounded number whatever the times are.
func TestSeconds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		scale := int64(math.Pow(10, 1+9*rng.Float64()))
		c := &counted{gains: map[int64]float64{}}
		last := int64(0)
		for range 1 + rng.IntN(8) {
			second := rng.Int64N(scale)
			c.gains[second], last = 1, max(last, second)
		}
		last += rng.Int64N(scale)
		list := slices.Collect(c.seconds(last))
		has := func(second int64) bool { _, ok := slices.BinarySearch(list, second); return ok }
		for second := range c.gains {
			if !has(second) || second > 0 && !has(second-1) {
				t.Fatalf("%v: no point of %d or before", c.gains, second)
			}
		}
		if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) || list[0] < 0 || list[len(list)-1] != last {
			t.Fatalf("%v: seconds %v, last %d", c.gains, list, last)
		}
		if n := (maxBetween + 2) * (len(c.gains) + 1); len(list) > n {
			t.Fatalf("%v: %d points, want at most %d", c.gains, len(list), n)
		}
		if last < maxBetween && int64(len(list)) != last+1 {
			t.Fatalf("%v: %d points, last %d", c.gains, len(list), last)
		}
	}
}
