package bin_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// TestClamped compares results with exact ones, clamped to the range of the type.
func TestClamped(t *testing.T) {
	values := []int64{math.MinInt64, math.MinInt64 + 1, -2, -1, 0, 1, 2, 3 << 31, 1 << 32, math.MaxInt64 - 1, math.MaxInt64}
	for _, a := range values {
		for _, b := range values {
			x, y := big.NewInt(a), big.NewInt(b)
			check := func(got int64, op string, exact *big.Int) {
				want := int64(math.MaxInt64)
				if exact.IsInt64() {
					want = exact.Int64()
				} else if exact.Sign() < 0 {
					want = math.MinInt64
				}
				if got != want {
					t.Errorf("%d %s %d = %d, want %d", a, op, b, got, want)
				}
			}
			check(bin.AddClamped(a, b), "+", new(big.Int).Add(x, y))
			check(bin.SubClamped(a, b), "-", new(big.Int).Sub(x, y))
			if a >= 0 && b >= 0 {
				check(bin.MulClamped(a, b), "*", new(big.Int).Mul(x, y))
			}
		}
	}
	for n, want := range map[uint64]int64{0: 0, math.MaxInt64: math.MaxInt64, 1 << 63: math.MaxInt64, math.MaxUint64: math.MaxInt64} {
		if got := bin.Clamped[int64](n); got != want {
			t.Errorf("%d becomes %d, want %d", n, got, want)
		}
	}
}
