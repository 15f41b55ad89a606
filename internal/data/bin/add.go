package bin

import (
	"math"
	"math/bits"
)

// AddClamped returns a+b, clamped to the range of int64.
func AddClamped[T ~int64](a, b T) T {
	s := a + b
	switch {
	case b > 0 && s < a:
		return math.MaxInt64
	case b < 0 && s > a:
		return math.MinInt64
	}
	return s
}

// SubClamped returns a-b, clamped to the range of int64.
func SubClamped[T ~int64](a, b T) T {
	d := a - b
	switch {
	case b < 0 && d < a:
		return math.MaxInt64
	case b > 0 && d > a:
		return math.MinInt64
	}
	return d
}

// Clamped returns n, or the largest value of T if n is larger.
func Clamped[T ~int64](n uint64) T { return T(min(n, math.MaxInt64)) }

// MulClamped returns a*b for numbers that are not negative, clamped to the range of int64.
func MulClamped(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi > 0 {
		return math.MaxInt64
	}
	return Clamped[int64](lo)
}
