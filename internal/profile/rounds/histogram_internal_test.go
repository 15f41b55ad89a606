package rounds

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The median is within 1.6% of the exact lower median, never outside the range of the lengths, and exact for equal
// lengths.
func TestMedianIsCloseToExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.OneOf(rapid.Uint64Range(1, 200), rapid.Uint64Range(1_000_000, 60_000_000), rapid.Uint64Range(1, math.MaxInt64)), 1, 200).Draw(t, "lengths")
		var h intervals
		for _, v := range lengths {
			h.add(v)
		}
		slices.Sort(lengths)
		exact, got := lengths[(len(lengths)-1)/2], h.median()
		diff := max(exact, got) - min(exact, got)
		if float64(diff) > float64(exact)/62 {
			t.Fatalf("median %d, exact %d", got, exact)
		}
		if got < lengths[0] || got > lengths[len(lengths)-1] {
			t.Fatalf("median %d outside %d..%d", got, lengths[0], lengths[len(lengths)-1])
		}
		if exact < 64 && got != exact {
			t.Fatalf("median %d of short lengths, exact %d", got, exact)
		}
	})
}

// Every value lies in its bucket, and buckets have the order of their values.
func TestBucketsAreOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint64().Draw(t, "a"), rapid.Uint64().Draw(t, "b")
		a, b = min(a, b), max(a, b)
		ao, as := bucket(a)
		bo, bs := bucket(b)
		if ao > bo || ao == bo && as > bs {
			t.Fatalf("bucket of %d is (%d, %d), of %d (%d, %d)", a, ao, as, b, bo, bs)
		}
		if mo, ms := bucket(middle(ao, as)); mo != ao || ms != as {
			t.Fatalf("middle of (%d, %d) lies in (%d, %d)", ao, as, mo, ms)
		}
	})
}

func TestMedianOfNothing(t *testing.T) {
	var h intervals
	if m := h.median(); m != 0 {
		t.Errorf("median of nothing is %d", m)
	}
}
