package symbol

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/ntconv/ntconv"
)

// TestRangeIndex compares the index with a linear search for the lowest number.
func TestRangeIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x rangeIndex
		var all []indexedRange
		address := rapid.OneOf(rapid.Uint64Range(0, 60), rapid.Uint64Range(math.MaxUint64-5, math.MaxUint64))
		for range rapid.IntRange(0, 400).Draw(t, "ranges") {
			a, b := address.Draw(t, "first"), address.Draw(t, "last")
			r := indexedRange{min(a, b), max(a, b), rapid.Uint32Range(0, 300).Draw(t, "number")}
			all = append(all, r)
			x.add(r)
			at, want := address.Draw(t, "address"), uint32(noOutside)
			for _, r := range all {
				if r.start <= at && at <= r.last {
					want = min(want, r.number)
				}
			}
			if got := x.first(at); got != want {
				t.Fatalf("%d is in range %d, want %d", at, got, want)
			}
		}
		if n := len(x.levels); n > 8 {
			t.Errorf("%d levels of %d ranges", n, len(all))
		}
	})
}

// TestModuleHistory compares lookups with a linear search for the last module learned that is not later than the time.
func TestModuleHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := new(moduleHistory)
		times := rapid.Int64Range(0, 20)
		for range rapid.IntRange(1, 50).Draw(t, "modules") {
			h.add(module{from: ntconv.Ticks(times.Draw(t, "from"))})
			when := ntconv.Ticks(times.Draw(t, "time"))
			want := 0
			for i := range h.list {
				if h.list[i].from <= when {
					want = i
				}
			}
			if got := h.at(when); got != &h.list[want] {
				t.Fatalf("module %+v at %d, want %d of %+v", *got, when, want, h.list)
			}
		}
	})
}
