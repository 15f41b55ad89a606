package bin_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/ntconv/ntconv/internal/data/bin"
)

// TestAddClamped compares sums with exact sums, clamped to the range of the type.
func TestAddClamped(t *testing.T) {
	values := []int64{math.MinInt64, math.MinInt64 + 1, -2, -1, 0, 1, 2, math.MaxInt64 - 1, math.MaxInt64}
	for _, a := range values {
		for _, b := range values {
			exact := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
			want := int64(math.MaxInt64)
			if exact.IsInt64() {
				want = exact.Int64()
			} else if exact.Sign() < 0 {
				want = math.MinInt64
			}
			if got := bin.AddClamped(a, b); got != want {
				t.Errorf("%d + %d = %d, want %d", a, b, got, want)
			}
		}
	}
}
