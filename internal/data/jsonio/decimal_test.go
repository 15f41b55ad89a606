package jsonio_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/ntconv/ntconv/internal/data/jsonio"
	"pgregory.net/rapid"
)

// TestScale compares Scale with arbitrary-precision rational numbers.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,12})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
		digits := rapid.IntRange(0, 12).Draw(t, "digits")
		x, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Skip()
		}
		scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))
		x.Mul(x, scale)
		half := big.NewRat(1, 2)
		if x.Sign() < 0 {
			half.Neg(half)
		}
		sum := new(big.Rat).Add(x, half)
		want := new(big.Int).Quo(sum.Num(), sum.Denom())
		v, exact, fits := jsonio.ParseDecimal([]byte(text)).Scale(digits)
		if fits != (want.IsInt64() || new(big.Int).Abs(want).Cmp(big.NewInt(1<<62)) < 0) {
			t.Fatalf("%s: fits %t, want %s", text, fits, want)
		}
		if fits && (big.NewInt(v).Cmp(want) != 0 || exact != x.IsInt()) {
			t.Fatalf("%s times 10^%d: got %d (exact %t), want %s", text, digits, v, exact, want)
		}
	})
	for text, want := range map[string]string{
		"9223372036854775807": "9223372036854775807 true", "-9223372036854775808": "out", "0.9223372036854775807": "1 false", "0.04999999999999999999": "0 false", "99999999999999999999": "out", "1e400": "out", "1e-400": "0 false", "0e99999999999": "0 true",
		"-0.5": "-1 false", "1e1048577": "out",
	} {
		v, exact, ok := jsonio.ParseDecimal([]byte(text)).Scale(0)
		got := fmt.Sprint(v, exact)
		if !ok {
			got = "out"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestFloat covers numbers at the limits of the range.
func TestFloat(t *testing.T) {
	for text, want := range map[string]float64{"-1.5": -1.5, "1e308": 1e308, "1e-400": 0, "1e400": math.Inf(1), "-1e400": math.Inf(-1)} {
		if got := jsonio.ParseDecimal([]byte(text)).Float(); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}
